internal import CCommandLine
internal import LibC
internal import Lua
internal import Observables

/// The first line of a recording of a run, as far as a replay needs it.
struct RecordingHeader {
  typealias Command = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  let seed: UInt64
  let values: RunRecordingOptions.Values
  /// The arguments of the recorded run.
  private let arguments: [LuaString]
  /// Whether the standard input was a terminal.
  let inputIsTerminal: Bool
  private let program: String
  private let script: String?

  /// Reads the header of a recording.
  ///
  /// - Throws: `LuaError` if the file is no recording; `Replay.Failure` if it has no inputs.
  init(of path: String) throws {
    let fields = try RecordingTool.run(["header", path])
    let strings = fields.map { field -> LuaString? in
      if case .string(let text) = field { text } else { nil }
    }
    let texts = strings.map { $0?.description }
    guard texts.count > 5, let seed = texts[0].flatMap({ UInt64($0) }) else {
      throw Replay.Failure(
        description: "'\(path)' cannot be replayed: it has no inputs (they are recorded by "
          + "--record, without --record-last and --no-inputs)")
    }
    self.seed = seed
    program = texts[1] ?? ""
    values = RunRecordingOptions.Values(rawValue: texts[2] ?? "") ?? .short
    script = texts[3]
    inputIsTerminal = texts[4] == "true"
    arguments = strings.dropFirst(5).compactMap { $0 }
  }

  var commandCount: Int { arguments.count }

  /// Makes the arguments of the recorded run, which live as long as the process.
  func makeCommand() -> Command {
    let command = Command.allocate(capacity: arguments.count + 1)
    for (index, argument) in arguments.enumerated() {
      command[index] = (argument.bytes + [0]).withUnsafeBytes {
        strdup($0.assumingMemoryBound(to: CChar.self).baseAddress!)
      }
    }
    command[arguments.count] = nil
    return command
  }

  /// Checks that this program made the recording, and that `operands` name its script, if anything.
  ///
  /// - Throws: `Replay.Failure`.
  func check(_ path: String, _ operands: [String]) throws {
    guard program == Program.build else {
      throw Replay.Failure(
        description: "'\(path)' was recorded by \(program), and this is \(Program.build)")
    }
    guard operands.isEmpty || operands.first == script else {
      throw Replay.Failure(
        description: "'\(path)' is a recording of '\(script ?? "-")', not of '\(operands[0])'; "
          + "leave out the name to replay it")
    }
  }

  /// The fields of the header for a run with a seed, as JSON.
  static func fields(
    seed: UInt64, _ arguments: Arguments
  ) -> [(name: String, json: String)] {
    let command = (0..<arguments.count).map { index in
      let text = arguments.values[index]!
      guard let valid = String(validatingCString: text) else {
        let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
        return "[\(bytes.map { "\($0)" }.joined(separator: ","))]"
      }
      return jsonText(valid)
    }
    return [
      ("seed", "\"\(seed)\""), ("build", jsonText(Program.build)),
      ("terminal", "\(arguments.inputIsTerminal)"),
      ("command", "[\(command.joined(separator: ","))]"),
    ]
  }
}
