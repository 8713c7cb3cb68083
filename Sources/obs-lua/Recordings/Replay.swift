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
  private var loop: Loop?
  private let run: RunReplay
  private let lastTurn: Int?
  private let bisection: String?
  /// Whether an expression is true in the globals of the program; set by its host.
  var evaluate: (String) throws(LuaError) -> Bool = { _ in false }
  /// Whether the program was stopped after the turn that the user asked for.
  private(set) var isAtLastTurn = false
  private var isAtPrompt = false
  /// Whether this is the copy of the process that evaluates an expression.
  private var isCopy = false

  private let name: UnsafePointer<CChar>

  /// Opens the recording that a command line names.
  ///
  /// - Throws: `LuaError`, `RunRecordingError` or `Failure`.
  init(_ arguments: Arguments, name: UnsafePointer<CChar>) throws {
    let path = arguments.options.replayFile ?? ""
    self.name = name
    run = try RunReplay(path: path)
    header = try RecordingHeader(of: path)
    try header.check(path, arguments.operands)
    lastTurn = arguments.options.lastTurn
    bisection = arguments.options.bisection
    if let script = arguments.operands.first { try checkScript(script) }
    run.onStop = { [self] in end($0) }
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
  /// - Throws: `Failure` if it would do more than run a script.
  func begin() throws(Failure) -> Arguments {
    Program.repeatRun(header.seed)
    do throws(Misuse) {
      let recorded = try Arguments(
        header.makeCommand(), count: header.commandCount, inputIsTerminal: header.inputIsTerminal)
      Outside.use(run, readsInput: !recorded.hasPrompt)
      let isRun = recorded.options.given.allSatisfy(\.isRecorded)
      if isRun { return recorded }
    } catch {}
    throw Failure(description: "the command line in the first line of the recording is damaged")
  }

  /// The seconds after which the program is stopped, if the recorded run was interrupted, perhaps
  /// in an endless loop.
  ///
  /// Other limits do not apply, because a replay runs at another speed.
  var timeLimit: Double? {
    let (isFound, seconds) = run.find(refused: Outside.interruption)
    return isFound ? 2 * seconds + 1 : nil
  }

  /// Whether the process makes copies or a prompt that a locked process could not make.
  var needsUnlockedProcess: Bool { lastTurn != nil || bisection != nil }

  /// Whether the user can ask for `why` and `whynot`.
  var needsHistory: Bool { lastTurn != nil }

  /// Begins to compare the turns of a loop with the recording.
  func compare(_ loop: Loop) {
    self.loop = loop
    loop.begin(run, header.values)
    run.onTurnEnd = { [unowned self] in turnEnded($0) }
    if bisection != nil { hideOutput() }
  }

  // MARK: The end

  /// Ends the process at once; files that the script has open are not written.
  private func exit(_ status: CInt) -> Never {
    ccl_flushoutput()
    _exit(status)
  }

  /// Writes a message of the replay itself.
  private func say(_ text: String) { write("\(String(cString: name)): \(text)\n", to: errors) }

  private func write(_ text: String, to descriptor: CInt) {
    ccl_flushoutput()
    var text = text
    _ = text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
  }

  /// Says how far the expression is true, for a bisection.
  private func reportBisection() {
    guard let bisection else { return }
    write("'\(bisection)' is true after each turn, up to \(run.turnTitle)\n", to: output)
  }

  private func end(_ stop: RunReplay.Stop) -> Never {
    if !isCopy { reportBisection() }
    switch stop {
    case .ended(let turn):
      say("the recording ends here, in \(turn)")
      exit(bisection == nil && lastTurn == nil ? 0 : 1)
    case .differs(let text):
      say("the replay differs from the recording: \(text)")
    case .refused(let what):
      say("the rest cannot be replayed: \(what)")
    }
    exit(1)
  }

  /// Called where the recorder of the recorded run wrote its last line, also by `os.exit`.
  func recordingWillEnd() {
    if isCopy { exit(Verdict.failed.rawValue) }
    guard let loop else { return }
    self.loop = nil
    loop.endRecording(to: run)
    if isAtLastTurn {
      // A script at the prompt, or the turn that ends the program.
      if isAtPrompt { exit(0) }
      say("the program has ended with \(run.turnTitle): there is no prompt after it")
      exit(1)
    }
    if let lastTurn {
      say("the run ends before turn \(lastTurn), after \(run.turnTitle)")
      exit(1)
    }
    guard bisection != nil else { return }
    bisect()
    reportBisection()
    exit(1)
  }

  // MARK: Turns

  private func turnEnded(_ turn: Int) {
    if bisection != nil { bisect() }
    guard let lastTurn, turn >= lastTurn else { return }
    isAtLastTurn = true
    run.finish()
    loop?.stop()
  }

  /// Prepares the prompt after the last turn.
  func promptWillBegin() {
    isAtPrompt = true
    ccl_restoreinput()
    ccl_writeerror(nil, "after \(run.turnTitle)")
  }

  /// Ends the process; the rest of the program is not run.
  func promptDidEnd() -> Never { exit(0) }

  // MARK: Bisection

  /// The output and errors of the replay itself; those of the program are not shown by a bisection.
  private var output = STDOUT_FILENO, errors = STDERR_FILENO

  private func hideOutput() {
    let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
    errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
    dup2(nowhere, STDOUT_FILENO)
    dup2(nowhere, STDERR_FILENO)
    _ = close(nowhere)
  }

  /// The statuses of a copy of the process; others come from a script that ends it.
  private enum Verdict: CInt {
    case isTrue = 70
    case isFalse, failed
  }

  /// Evaluates the expression in a copy of the process, so that the replay is not affected.
  private func bisect() {
    let body: @convention(c) (UnsafeMutableRawPointer?) -> CInt = { context in
      let replay = Unmanaged<Replay>.fromOpaque(context!).takeUnretainedValue()
      return replay.verdict().rawValue
    }
    let status = ccl_runincopy(body, Unmanaged.passUnretained(self).toOpaque())
    switch Verdict(rawValue: status) {
    case .isTrue: return
    case .isFalse:
      write("'\(bisection ?? "")' is false after \(run.turnTitle)\n", to: output)
      exit(0)
    case .failed, nil:
      say("the expression cannot be evaluated after \(run.turnTitle)")
      exit(2)
    }
  }

  private func verdict() -> Verdict {
    isCopy = true
    run.finish()
    do throws(LuaError) {
      return try evaluate(bisection ?? "") ? .isTrue : .isFalse
    } catch {
      say(error.message)
      return .failed
    }
  }
}
