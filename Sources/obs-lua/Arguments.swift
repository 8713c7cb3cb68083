internal import LibC

/// A command line, parsed before any Lua code runs.
///
/// The texts that it points to belong to the process, and live as long as it.
struct Arguments {
  typealias Text = UnsafePointer<CChar>

  /// A step that runs before the script, in the given order.
  enum Step {
    case chunk(Text)
    case library(global: [CChar], module: Text)
    case warnings
  }

  private(set) var steps: [Step] = []
  private(set) var asksForVersion = false
  private(set) var isInteractive = false
  private(set) var ignoresEnvironment = false
  private(set) var runsChunks = false
  private(set) var options = Options()

  let values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private(set) var count: Int
  /// Whether the standard input of a recorded run was a terminal; nil for a run of its own.
  private let recordedTerminal: Bool?
  /// The index of the script; `count` without a script.
  private(set) var script: Int

  /// Parses the arguments.
  ///
  /// - Throws: `Misuse` about the first argument that is wrong.
  init(
    _ values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, count: Int,
    inputWasTerminal: Bool? = nil
  ) throws(Misuse) {
    self.values = values
    recordedTerminal = inputWasTerminal
    self.count = count
    script = count
    var index = 1
    while index < self.count, let value = values[index], value[0] == .dash {
      if value[1] == 0 { break }
      if value[1] == .dash, value[2] == 0 {
        index += 1
        break
      }
      index = try take(value, at: index)
    }
    script = min(index, self.count)
    try checkRecording()
    try checkReplay()
    try checkInspecting()
    try checkTesting()
  }

  /// Checks that options of recordings fit together, and are not used with tests or `--watch`.
  ///
  /// - Throws: `Misuse`.
  private func checkRecording() throws(Misuse) {
    if let tool = options.recordingTool {
      guard operands.count == 1 else { throw .needsRecording(tool.name) }
      if options.recordFile != nil { throw .excluded("--record", by: tool.name) }
      if options.testing.isOn { throw .excluded("--test", by: tool.name) }
      if let other = options.given.first(where: { ![tool.name, .watch].contains($0) }) {
        throw .excluded(other.rawValue, by: tool.name)
      }
      if !steps.isEmpty || isInteractive { throw .excluded("-e, -l, -i or -W", by: tool.name) }
    }
    guard options.recordFile != nil else {
      if options.recordedTurns != nil { throw .needsOption(.recordLast, .record) }
      if !options.recordsInputs { throw .needsOption(.noInputs, .record) }
      return
    }
    if options.testing.isOn { throw .excluded("--record", by: .test) }
    if options.watches { throw .excluded("--record", by: .watch) }
  }

  /// Checks that a replay has no other options: it takes those of the recorded run.
  ///
  /// - Throws: `Misuse`.
  private func checkReplay() throws(Misuse) {
    guard options.replayFile != nil else {
      if options.lastTurn != nil { throw .needsOption(.until, .replay) }
      if options.bisection != nil { throw .needsOption(.bisect, .replay) }
      if options.trusts { throw .needsOption(.trust, .replay) }
      return
    }
    let others = options.given.filter { ![.replay, .until, .bisect, .trust].contains($0) }
    if let other = others.first {
      throw .excluded(other.rawValue, by: .replay)
    }
    if options.lastTurn != nil, options.bisection != nil { throw .excluded("--until", by: .bisect) }
    if !steps.isEmpty || isInteractive || asksForVersion || ignoresEnvironment {
      throw .excluded("-e, -l, -i, -v, -E or -W", by: .replay)
    }
  }

  /// Whether the run is recorded so that it can be replayed.
  var recordsInputs: Bool {
    options.recordFile != nil && options.recordsInputs && options.recordedTurns == nil
  }

  /// Checks that a program is run that can be inspected.
  ///
  /// - Throws: `Misuse`.
  private func checkInspecting() throws(Misuse) {
    guard options.inspectorPort != nil else { return }
    if let tool = options.recordingTool { throw .excluded("--inspect", by: tool.name) }
    if options.testing.isOn { throw .excluded("--inspect", by: .test) }
    if options.watches { throw .excluded("--inspect", by: .watch) }
  }

  /// Checks that options for tests are used together with `--test`, and others without it.
  ///
  /// - Throws: `Misuse`.
  private func checkTesting() throws(Misuse) {
    guard options.testing.isOn else {
      if let option = options.testOption { throw .needsOption(option, .test) }
      guard options.watches else { return }
      if script == count || scriptName == nil { throw .needsScript(.watch) }
      if isInteractive { throw .excluded("-i", by: .watch) }
      // A locked process cannot read the files again.
      if options.reloads, options.isSandboxed { throw .excluded("--watch=reload", by: .sandbox) }
      return
    }
    if options.isSandboxed { throw .excluded("--sandbox", by: .test) }
    if options.reloads { throw .excluded("--watch=reload", by: .test) }
    let testing = options.testing
    if options.watches, testing.resultFile != nil { throw .excluded("--junit", by: .watch) }
    if testing.lists {
      if options.watches { throw .excluded("--watch", by: .list) }
      if testing.resultFile != nil { throw .excluded("--junit", by: .list) }
      if testing.coverageFile != nil { throw .excluded("--coverage", by: .list) }
    }
    if testing.coverageFile != nil {
      if options.watches { throw .excluded("--coverage", by: .watch) }
      // Both need the hook of the library.
      if options.turnTime != nil { throw .excluded("--coverage", by: .turnTime) }
    }
    if !steps.isEmpty || isInteractive || asksForVersion {
      throw .excluded("-e, -l, -i, -v or -W", by: .test)
    }
  }

  /// The arguments after the options.
  var operands: [String] { (script..<count).compactMap { values[$0].map { String(cString: $0) } } }

  /// Whether no argument specifies any code to run.
  var isEmpty: Bool { script == count && !runsChunks && !asksForVersion }

  var inputIsTerminal: Bool { recordedTerminal ?? (isatty(STDIN_FILENO) != 0) }

  /// Whether lines are read from a prompt.
  var hasPrompt: Bool { isInteractive || isEmpty && inputIsTerminal }

  /// Finds the environment variable whose code runs first, and its file if it names one.
  func environment() -> (name: String, text: Text, file: Text?)? {
    guard !ignoresEnvironment else { return nil }
    for name in ["LUA_INIT_5_4", "LUA_INIT"] {
      guard let text = Outside.variable(name) else { continue }
      return (name, text, text[0] == CChar(ascii: "@") ? text + 1 : nil)
    }
    return nil
  }

  /// The name of the script, or nil for the standard input.
  var scriptName: Text? {
    guard let name = values[script] else { return nil }
    guard String(cString: name) == "-" else { return Text(name) }
    let previous = script > 0 ? values[script - 1].map { String(cString: $0) } : nil
    return previous == "--" ? Text(name) : nil
  }

  /// Removes an option that scripts must not find in `arg`: it would make a recorded run differ
  /// from others (D1, V3).
  private mutating func remove(at index: Int) {
    for place in index..<count { values[place] = values[place + 1] }
    count -= 1
  }

  /// Parses one option with its argument, and returns the index of the next one.
  private mutating func take(
    _ option: UnsafeMutablePointer<CChar>, at index: Int
  ) throws(Misuse) -> Int {
    switch option[1] {
    case .dash:
      guard try options.take(option).isSeenByScripts else {
        remove(at: index)
        return index
      }
      return index + 1
    case CChar(ascii: "e"), CChar(ascii: "l"):
      let isJoined = option[2] != 0
      let last = isJoined ? index : index + 1
      guard let value = isJoined ? option + 2 : values[last], isJoined || value[0] != .dash else {
        throw .needsArgument(String(cString: option))
      }
      if option[1] == CChar(ascii: "e") {
        runsChunks = true
        steps.append(.chunk(value))
      } else {
        steps.append(Self.library(value))
      }
      return last + 1
    case _ where option[2] != 0:
      throw .unknownLetter(String(cString: option))
    case CChar(ascii: "E"):
      ignoresEnvironment = true
    case CChar(ascii: "W"):
      steps.append(.warnings)
    case CChar(ascii: "i"):
      isInteractive = true
      asksForVersion = true
    case CChar(ascii: "v"):
      asksForVersion = true
    default:
      throw .unknownLetter(String(cString: option))
    }
    return index + 1
  }

  /// Parses the argument of `-l`: a module, or a global, `=` and a module.
  private static func library(_ text: Text) -> Step {
    let length = Int(strlen(text))
    let split = (0..<length).first { text[$0] == CChar(ascii: "=") } ?? length
    var global = [CChar](UnsafeBufferPointer(start: text, count: split))
    global.append(0)
    return .library(global: global, module: split < length ? text + split + 1 : text)
  }
}

extension CChar {
  static let dash = CChar(ascii: "-")

  init(ascii scalar: Unicode.Scalar) { self = CChar(UInt8(ascii: scalar)) }
}
