internal import CCommandLine
internal import Glibc
internal import Lua
internal import Observables

/// Repeats a recorded run (`--replay`, `--until`, `--bisect`).
final class Replay {
  /// The error of a recording that cannot be replayed.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let header: RecordingHeader
  private weak var loop: Loop?
  private let run: RunReplay
  private let lastTurn: Int?
  private let bisection: String?
  /// Ends the program's turns; set by its host.
  var stop: () -> Void = {}
  /// Evaluates an expression in the globals of the program; nil after an error, which is written.
  var evaluate: (String) -> Bool? = { _ in nil }
  /// Whether the program was stopped after the turn that the user asked for.
  private(set) var isAtLastTurn = false
  /// The recorder of the replay, which lives as long as it.
  private var recorder: RunRecorder?

  private nonisolated(unsafe) static var name: UnsafePointer<CChar>?

  /// Opens the recording that a command line names.
  ///
  /// - Throws: `LuaError` or `Failure`.
  init(_ arguments: Arguments, name: UnsafePointer<CChar>) throws {
    let path = arguments.options.replayFile ?? ""
    Self.name = name
    header = try RecordingHeader(of: path)
    try header.check(path, arguments.operands)
    lastTurn = arguments.options.lastTurn
    bisection = arguments.options.bisection
    run = try RunReplay(path: path) { Replay.end($0) }
    if let script = arguments.operands.first { try checkScript(script) }
  }

  /// Checks that the script is still the recorded one; it does not have to exist.
  ///
  /// - Throws: `Failure` with the first line that has changed.
  private func checkScript(_ path: String) throws(Failure) {
    let limit = 1 << 24
    let file = ccl_readtext(path, limit)
    defer { free(file.bytes) }
    guard file.failed == nil, file.count <= limit, let recorded = run.contents(of: path) else {
      return
    }
    let now = UnsafeRawBufferPointer(start: file.bytes, count: file.count)
    if now.elementsEqual(recorded) { return }
    let (old, new) = (Self.lines(recorded), Self.lines(Array(now)))
    let line = zip(old, new).prefix { $0 == $1 }.count
    func text(_ lines: [String]) -> String { line < lines.count ? lines[line] : "no line" }
    throw Failure(
      description: "\(path):\(line + 1) has changed since the recording: it was '\(text(old))', "
        + "and is '\(text(new))' (without the script's name, the recorded one is replayed)")
  }

  private static func lines(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: 10, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// Prepares the process; call it before a state is made.
  ///
  /// - Returns: the command line of the recorded run.
  func begin() throws(Misuse) -> Arguments {
    Program.repeatRun(header.seed)
    Outside.use(run, readsInput: true)
    return try Arguments(header.command, count: header.commandCount)
  }

  /// Whether the user can ask for `why` and `whynot`.
  var needsHistory: Bool { lastTurn != nil }

  /// Begins to compare the turns of a loop with the recording.
  func compare(_ loop: Loop) {
    self.loop = loop
    recorder = loop.begin(run, header.values)
    run.onTurnEnd = { [unowned self] in turnEnded($0) }
    if bisection != nil { hideOutput() }
  }

  private static func end(_ stop: RunReplay.Stop) -> Never {
    fflush(nil)
    switch stop {
    case .ended(let turn):
      ccl_writeerror(name, "the recording ends here, in \(turn)")
      _exit(0)
    case .differs(let text):
      ccl_writeerror(name, "the replay differs from the recording: \(text)")
    case .refused(let what):
      ccl_writeerror(name, "the rest cannot be replayed: \(what)")
    }
    _exit(1)
  }

  /// Called where the recorder of the recorded run wrote its last line.
  func recordingWillEnd() {
    loop?.endRecording(to: run)
    loop = nil
  }

  // MARK: Turns

  private func turnEnded(_ turn: Int) {
    if bisection != nil { bisect() }
    guard let lastTurn, turn >= lastTurn else { return }
    isAtLastTurn = true
    run.finish()
    stop()
  }

  /// Prepares the prompt after the last turn.
  func promptWillBegin() {
    ccl_restoreinput()
    ccl_writeerror(nil, "after \(run.turnTitle)")
  }

  /// Ends the process; the rest of the program is not run.
  func promptDidEnd() -> Never {
    fflush(nil)
    _exit(0)
  }

  /// Called when the program has ended by itself.
  ///
  /// - Returns: false if the turn of `--until` or `--bisect` was not found.
  func programDidEnd() -> Bool {
    if let lastTurn, !isAtLastTurn {
      ccl_writeerror(Self.name, "the run ends before turn \(lastTurn), after \(run.turnTitle)")
      return false
    }
    guard let bisection else { return true }
    report("'\(bisection)' is true after each turn, up to \(run.turnTitle)")
    return false
  }

  // MARK: Bisection

  /// The output of the bisection; the program's own is not shown.
  private var output: CInt = STDOUT_FILENO

  private func hideOutput() {
    fflush(nil)
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
    let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
    dup2(nowhere, STDOUT_FILENO)
    _ = close(nowhere)
  }

  private func report(_ text: String) {
    fflush(nil)
    var line = text + "\n"
    _ = line.withUTF8 { write(output, $0.baseAddress, $0.count) }
  }

  /// Evaluates the expression in a copy of the process, so that the replay is not affected.
  private func bisect() {
    let body: @convention(c) (UnsafeMutableRawPointer?) -> CInt = { context in
      let replay = Unmanaged<Replay>.fromOpaque(context!).takeUnretainedValue()
      replay.run.finish()
      guard let isTrue = replay.evaluate(replay.bisection ?? "") else { return 2 }
      return isTrue ? 0 : 1
    }
    switch ccl_runincopy(body, Unmanaged.passUnretained(self).toOpaque()) {
    case 0: return
    case 1:
      report("'\(bisection ?? "")' is false after \(run.turnTitle)")
      _exit(0)
    default:
      ccl_writeerror(Self.name, "the expression cannot be evaluated after \(run.turnTitle)")
      _exit(1)
    }
  }
}
