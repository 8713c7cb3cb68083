internal import CCommandLine
internal import LibC
internal import Lua
internal import LuaInspector
internal import LuaObservables
internal import Observables

/// The host in which a command line runs, and the work at the end of its turns.
///
/// The interpreter calls these functions on the main thread, in the order of their declaration.
/// They report errors and let none out.
final class ScriptHost {
  private let host: LuaHost
  private let options: Options
  /// Whether an error in a callback ends the program: the default, unless the script or the command
  /// line says otherwise.
  private var stopsOnError: Bool
  private var hasFailed = false
  /// The recording that the command line asks for.
  private var runRecording: RunRecording?
  /// The inspector that the command line asks for.
  private var inspector: Inspector?
  private let arguments: Arguments
  /// The seed of a run whose inputs are recorded.
  private let seed: UInt64?
  private let replay: Replay?
  private let reloads: ScriptReloads?
  /// The host whose recordings `os.exit` finishes.
  // Safe: only the thread of the interpreter uses it.
  nonisolated(unsafe) private static var current: ScriptHost?

  /// Makes a host.
  ///
  /// - Throws: `memory` if there is not enough for a state.
  init(
    _ arguments: Arguments, name: UnsafePointer<CChar>, seed: UInt64?, _ replay: Replay?,
    _ reloads: ScriptReloads?
  ) throws(LuaError) {
    // The libraries are opened later: `-E` determines which variables they read.
    let state = try LuaState(libraries: [])
    let clock: LoopClock = arguments.options.usesVirtualTime ? .virtual : .system
    host = LuaHost(state: state, loop: Loop(unchecked: clock))
    // With `-i` the script already runs at the prompt.
    stopsOnError = arguments.options.errorAction == .stop && !arguments.isInteractive
    options = arguments.options
    self.arguments = arguments
    (self.seed, self.replay, self.reloads) = (seed, replay, reloads)
    host.loop.outside = Outside.inputs
    host.programName = String(cString: name)
    host.onError = { [unowned self] report in
      Outside.noteInterruption(isStop: report.error.isStop)
      if report.isHandled { return }
      ccl_writeerror(name, report.description)
      // An end by a signal is not a failure of the script, and nothing runs after it.
      if ccl_exitrequest() != 0 {
        host.endAfterTurn()
      } else if stopsOnError {
        fail()
      }
    }
    host.moduleDidLoad = { [unowned host] in
      ccl_beginorder()
      host.interruption = (ccl_wakedescriptor(), { ccl_isasked() })
      host.restoreSignals = { ccl_restoresignals() }
    }
    host.loop.onError = { [unowned self] error in
      host.report(error)
    }
    Inspector.install(in: host)
  }

  var state: LuaState { host.state }

  private func fail() {
    hasFailed = true
    host.loop.stop()
  }

  /// Installs the module; called when the libraries are open and `arg` is set, before any Lua code
  /// runs.
  ///
  /// - Throws: `memory`; an error if the system refuses something that the loop needs.
  func librariesDidOpen() throws(LuaError) {
    try host.install()
    if !options.isSandboxed {
      // Untrusted scripts load no C modules.
      showTablesToModules(host)
    }
    // The time of scripts starts only when they do.
    if options.isSandboxed { try host.shareLibraries() }
    var limits = options.isSandboxed ? ScriptLimits.untrusted : ScriptLimits()
    if let memory = options.memoryLimit { limits.memory = memory }
    if let time = options.turnTime { limits.turnTime = time }
    // A replay runs at another speed.
    if replay != nil, limits.turnTime != nil { limits.turnTime = .seconds(1e9) }
    try host.limit(to: limits)
    if let file = options.recordFile { try record(to: file) }
    if let replay { begin(replay) }
    if let port = options.inspectorPort { try inspect(port) }
    host.loop.outerOrigin = .mainChunk
    if let reloads {
      do { try reloads.begin(in: host) } catch { throw LuaError("\(error)") }
    }
    guard runRecording != nil || inspector != nil || replay != nil else { return }
    Self.current = self
    // `os.exit` ends the process without a return to the interpreter.
    ccl_callbeforeexit { ScriptHost.current?.finishRecordings() }
  }

  /// Runs the main script, which may be loaded again later.
  func runMain(_ body: () -> CInt) -> CInt {
    guard reloads != nil, let path = arguments.scriptName else { return body() }
    return host.runMain(String(cString: path), Array(arguments.operands.dropFirst()), body)
  }

  private func finishRecordings() {
    runRecording?.stop()
    inspector?.stop()
    replay?.recordingWillEnd()
  }

  /// Replays the recorded run, with the record for `why` if the user can ask for it.
  private func begin(_ replay: Replay) {
    replay.compare(host.loop)
    replay.evaluate = { [unowned self] expression throws(LuaError) in
      let function = try state.load("return " + expression, name: "=bisect")
      let value = try function.callPlainly(arguments: []).first ?? .nil
      return value != .nil && value != .boolean(false)
    }
    if replay.mayPrompt { host.record(true) }
  }

  /// Starts the inspector, which only reads, and writes its address.
  ///
  /// - Throws: an error if the port is in use.
  private func inspect(_ port: Int) throws(LuaError) {
    do {
      let inspector = try Inspector(of: host, port: port, origin: origin)
      self.inspector = inspector
      ccl_writeerror(nil, "inspect: \(inspector.url)")
    } catch {
      throw LuaError("\(error)")
    }
  }

  /// The fields of a recording's first line that name the program and the script, as JSON.
  ///
  /// Computed on demand: finding Lua's release takes a third of the time of the program's start.
  private var origin: [(name: String, json: String)] {
    [
      ("program", jsonText(Program.title)),
      ("script", arguments.scriptName.map { jsonText(String(cString: $0)) } ?? "null"),
      ("arguments", "[\(arguments.operands.dropFirst().map(jsonText).joined(separator: ","))]"),
    ] + (seed.map { RecordingHeader.fields(seed: $0, arguments) } ?? [])
  }

  /// Records the run to a file.
  ///
  /// - Throws: an error if the file cannot be opened.
  private func record(to file: String) throws(LuaError) {
    var recording = RunRecordingOptions()
    recording.last = options.recordedTurns
    recording.origin = origin
    do {
      runRecording =
        if let inputs = Outside.inputs as? RecordedInputs {
          try host.loop.startRecording(to: file, recording, inputs: inputs)
        } else {
          try host.loop.startRecording(to: file, recording)
        }
    } catch {
      throw LuaError("\(error)")
    }
  }

  /// Notes the error on top of the stack, which ends a chunk, in the recording of the run.
  func noteError(_ L: LuaStack) {
    guard runRecording != nil || inspector != nil || replay != nil, L.isString(at: -1) else {
      return
    }
    host.loop.noteError(state.text(at: -1, of: L))
  }

  /// Reads the modules of a sandbox.
  ///
  /// - Throws: `file` if they cannot be read.
  func readModules() throws(LuaError) {
    guard let folder = options.moduleFolder else { return }
    Outside.inputs?.refuse("modules of a sandbox, which are read at the start")
    for path in try host.readModules(inFolder: folder) { ccl_noteload(path) }
  }

  /// The descriptor of the inspector, which accepts connections; -1 without an inspector.
  var inspectorDescriptor: CInt { inspector?.descriptor ?? -1 }

  /// Opens everything that the first wait would otherwise open.
  func prepareToWait() {
    host.loop.prepareToWait()
    _ = ccl_wakedescriptor()
  }

  /// Ends a turn: the main chunk with everything that ran before it, or a line at the prompt.
  ///
  /// Returns whether to continue: false after an error that stops the program.
  func endTurn() -> Bool {
    host.endTurn()
    return !hasFailed
  }

  /// Prepares the prompt: timers run while it waits for lines.
  func promptWillBegin() {
    ccl_beginprompt()
    // After a replay, the inputs are over, and the prompt is allowed.
    Outside.inputs?.refuse("a prompt")
    host.loop.outerOrigin = .prompt
    // At the prompt an error is reported, and the next line is read.
    stopsOnError = false
    // Users at the prompt call `why` (W4).
    host.record(true)
    // After a replay, time stands still.
    if replay != nil { return }
    ccl_setidle(
      { Unmanaged<ScriptHost>.fromOpaque($0!).takeUnretainedValue().host.mayStep },
      { Unmanaged<ScriptHost>.fromOpaque($0!).takeUnretainedValue().host.stepWhileIdle() },
      Unmanaged.passUnretained(self).toOpaque())
  }

  /// Starts the prompt's additional features on a terminal.
  ///
  /// - Throws: `memory`.
  func startSession(hasScript: Bool) throws(LuaError) -> TerminalSession {
    try TerminalSession(host, hasScript: hasScript)
  }

  /// Called when the prompt reads no more lines: timers no longer run during the wait.
  func promptDidEnd() {
    ccl_setidle(nil, nil, nil)
    ccl_endprompt()
  }

  /// Runs turns until nothing remains that could wake the loop, or the process is asked to end.
  ///
  /// Signals and the time limit ask for the end; `ccl_exitrequest` then returns the status. After a
  /// prompt on a terminal, a message names the awaited events, and another end of the input ends
  /// the loop.
  func runLoop(afterPrompt isPrompt: Bool) {
    // From here on a signal wakes the loop.
    let wake = ccl_wakedescriptor()
    let isAttended = isPrompt && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0
    // Do everything that needs no wait first.
    if isAttended, ccl_exitrequest() == 0 { host.stepWhileIdle() }
    if isAttended, ccl_exitrequest() == 0, let events = host.awaitedEvents {
      ccl_writeoutput("waiting for \(events); Ctrl-D or Ctrl-C ends it\n")
      host.stopsLoop(atEndOf: STDIN_FILENO)
    }
    if !Outside.settles() { host.runLoop(wakingFor: wake) { Outside.settles() } }
  }

  /// Calls the functions that the script registered for its end.
  func runExitHooks() { host.runExitHooks() }

  /// Closes the state; false if an error stops the program, in a turn or since the last one.
  func close() -> Bool {
    finishRecordings()
    ccl_callbeforeexit(nil)
    Self.current = nil
    host.close()
    return !hasFailed
  }
}

/// Shows observed tables to C modules, if the system's linker lets the program do so.
func showTablesToModules(_ host: LuaHost) {
  guard ccl_showtables() else { return }
  host.showTablesToModules { name, isShown in ccl_setnative(name, isShown) }
}
