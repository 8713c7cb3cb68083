internal import CCommandLine
internal import LibC
internal import Lua
internal import Observables

/// Repeats a recorded run (`--replay`, `--until`, `--bisect`).
final class Replay {
  /// The error of a recording that cannot be replayed.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private enum Goal {
    case wholeRun
    /// A prompt after this turn.
    case turn(Int)
    /// The first turn after which the expression is false.
    case falsehood(of: String)
  }

  private enum Phase {
    case running
    /// The turn has ended that the user asked for.
    case atGoal
    case atPrompt
    /// This is the copy of the process that evaluates an expression.
    case copy
  }

  private let header: RecordingHeader
  private var loop: Loop?
  private let run: RunReplay
  private let goal: Goal
  private var phase = Phase.running
  /// Whether an expression is true in the globals of the program; set by its host.
  var evaluate: (String) throws(LuaError) -> Bool = { _ in false }
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
    goal =
      arguments.options.lastTurn.map(Goal.turn)
      ?? arguments.options.bisection.map(Goal.falsehood) ?? .wholeRun
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
        header.makeCommand(), count: header.commandCount, inputWasTerminal: header.inputIsTerminal)
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
  var needsUnlockedProcess: Bool { if case .wholeRun = goal { false } else { true } }

  /// Whether the user can ask for `why` and `whynot`.
  var needsHistory: Bool { if case .turn = goal { true } else { false } }

  /// Whether the program was stopped for a prompt.
  var needsPrompt: Bool { phase == .atGoal }

  /// Begins to compare the turns of a loop with the recording.
  func compare(_ loop: Loop) {
    self.loop = loop
    loop.begin(run, header.values)
    run.onTurnEnd = { [unowned self] in turnEnded($0) }
    if case .falsehood = goal { hideOutput() }
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

  private func reportTruth(of expression: String) {
    write("'\(expression)' is true after each turn, up to \(run.turnTitle)\n", to: output)
  }

  private func end(_ stop: RunReplay.Stop) -> Never {
    if case .falsehood(let expression) = goal, phase != .copy { reportTruth(of: expression) }
    switch stop {
    case .ended(let turn):
      say("the recording ends here, in \(turn)")
      if case .wholeRun = goal { exit(0) }
    case .differs(let text):
      say("the replay differs from the recording: \(text)")
    case .refused(let what):
      say("the rest cannot be replayed: \(what)")
    }
    exit(1)
  }

  /// Called where the recorder of the recorded run wrote its last line, also by `os.exit`.
  func recordingWillEnd() {
    // Code of the user ends the process.
    if phase == .atPrompt { exit(0) }
    if phase == .copy { exit(Verdict.failed.rawValue) }
    guard let loop else { return }
    self.loop = nil
    // This may end the turn that the user asked for.
    loop.endRecording(to: run)
    switch goal {
    case .wholeRun: return
    case .turn where phase == .atGoal:
      say("the program has ended with \(run.turnTitle): there is no prompt after it")
    case .turn(let turn): say("the run ends before turn \(turn), after \(run.turnTitle)")
    case .falsehood(let expression):
      evaluateInCopy(expression)
      reportTruth(of: expression)
    }
    exit(1)
  }

  // MARK: Turns

  private func turnEnded(_ turn: Int) {
    switch goal {
    case .turn(let last) where turn >= last:
      phase = .atGoal
      run.finish()
      loop?.stop()
    case .falsehood(let expression): evaluateInCopy(expression)
    case .turn, .wholeRun: break
    }
  }

  /// Prepares the prompt after the last turn.
  func promptWillBegin() {
    phase = .atPrompt
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

  /// Ends the process unless the expression is true.
  ///
  /// A copy of the process evaluates it, so that the replay is not affected.
  private func evaluateInCopy(_ expression: String) {
    let body: @convention(c) (UnsafeMutableRawPointer?) -> CInt = { context in
      let replay = Unmanaged<Replay>.fromOpaque(context!).takeUnretainedValue()
      return replay.verdict().rawValue
    }
    let status = ccl_runincopy(body, Unmanaged.passUnretained(self).toOpaque())
    switch Verdict(rawValue: status) {
    case .isTrue: return
    case .isFalse:
      write("'\(expression)' is false after \(run.turnTitle)\n", to: output)
      exit(0)
    case .failed, nil:
      say("the expression cannot be evaluated after \(run.turnTitle)")
      exit(2)
    }
  }

  private func verdict() -> Verdict {
    phase = .copy
    run.finish()
    guard case .falsehood(let expression) = goal else { return .failed }
    do throws(LuaError) {
      return try evaluate(expression) ? .isTrue : .isFalse
    } catch {
      say(error.message)
      return .failed
    }
  }
}
