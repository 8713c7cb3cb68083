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
  /// The `package.cpath` of this machine; nil if the user does not trust the recording.
  private let modules: String?

  /// Opens the recording that a command line names.
  ///
  /// - Throws: `LuaError`, `RunRecordingError` or `Failure`.
  init(_ arguments: Arguments, name: UnsafePointer<CChar>) throws {
    let path = arguments.options.replayFile ?? ""
    self.name = name
    modules = arguments.options.trusts ? try RecordingTool.text(["modules"])?.description : nil
    run = try RunReplay(path: path)
    header = try RecordingHeader(of: path)
    try header.check(path, arguments.operands)
    goal =
      arguments.options.lastTurn.map(Goal.turn)
      ?? arguments.options.bisection.map(Goal.falsehood) ?? .wholeRun
    if let script = arguments.operands.first { try checkScript(script, in: path) }
    run.onStop = { [self] in end($0) }
  }

  /// Checks that the script is still the recorded one; it does not have to exist.
  ///
  /// - Throws: `Failure` with the first line that has changed; an error of `RecordingTool`.
  private func checkScript(_ path: String, in recording: String) throws {
    let limit = 1 << 24
    let file = ccl_readtext(path, limit)
    defer { free(file.bytes) }
    guard file.failed == nil, file.count <= limit,
      let recorded = try RecordingTool.text(["script", recording, path])?.bytes
    else { return }
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
    var reason = ""
    do throws(Misuse) {
      let recorded = try Arguments(
        header.makeCommand(), count: header.commandCount, inputWasTerminal: header.inputIsTerminal)
      Outside.use(run, readsInput: !recorded.hasPrompt)
      guard let other = recorded.options.given.first(where: { !$0.isRecorded }) else {
        loadForLock()
        return recorded
      }
      reason = "it has '\(other.rawValue)'"
    } catch {
      reason = error.message
    }
    throw Failure(
      description: "the command line in the first line of the recording is damaged: \(reason)")
  }

  /// Loads the locales and C modules of the program, because a locked process cannot load them.
  private func loadForLock() {
    for locale in run.all("setlocale") {
      if let name = locale.bytes { ccl_loadlocale(String(decoding: name, as: UTF8.self)) }
    }
    guard let modules else { return ccl_refusebytecode() }
    let templates = modules.split(separator: ";").map(String.init)
    // In the recorded order, which decides where Lua sees their static addresses.
    for module in run.all("dlopen") where module.result != 0 {
      if let path = module.about, templates.contains(where: { Self.isModule(path, of: $0) }) {
        ccl_loadmodule(path)
      }
    }
  }

  /// Whether some module has this path by `template`, an absolute one of `package.cpath`.
  private static func isModule(_ path: String, of template: String) -> Bool {
    guard template.first == "/" else { return false }
    let marks = template.utf8.count { $0 == UInt8(ascii: "?") }
    guard marks > 0 else { return path == template }
    let length = (path.utf8.count - template.utf8.count) / marks + 1
    let beginning = template.utf8.prefix { $0 != UInt8(ascii: "?") }.count
    let name = String(
      decoding: path.utf8.dropFirst(beginning).prefix(max(0, length)), as: UTF8.self)
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    return !parts.contains { ["", ".", ".."].contains($0) }
      && template.split(separator: "?", omittingEmptySubsequences: false).joined(separator: name)
        == path
  }

  /// The seconds after which the program is stopped, if the recorded run was interrupted, perhaps
  /// in an endless loop.
  ///
  /// Other limits do not apply, because a replay runs at another speed.
  var timeLimit: Double? {
    let (isFound, seconds) = run.find(refused: Outside.interruption)
    return isFound ? 2 * seconds + 1 : nil
  }

  /// Whether the recording is the user's own.
  var isTrusted: Bool { modules != nil }

  /// Whether the process makes copies of itself, to evaluate an expression.
  var makesCopies: Bool { if case .falsehood = goal { true } else { false } }

  /// Whether the replay may end at a prompt, where the user can ask for `why` and `whynot`.
  var mayPrompt: Bool { if case .turn = goal { true } else { false } }

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
  private func say(_ text: String) {
    write("\(String(cString: name)): \(text.printable)\n", to: errors)
  }

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
