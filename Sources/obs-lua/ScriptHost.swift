internal import CCommandLine
internal import Glibc
internal import Lua
internal import LuaObservables
internal import Observables

/// The host in which a command line runs, and the work at the ends of its turns.
///
/// The interpreter calls these on the main thread, in the order of their declaration. None lets an
/// error out: errors are reported.
final class ScriptHost {
  private let host: LuaHost
  private let options: Options
  /// Whether an error in a callback ends the program, as it does unless the script or the command
  /// line says otherwise.
  private var stopsOnError: Bool
  private var hasFailed = false

  /// - Throws: `memory` if there is none for a state.
  init(_ arguments: Arguments, name: UnsafePointer<CChar>) throws(LuaError) {
    // The libraries are opened later: `-E` decides which variables they read.
    let state = try LuaState(libraries: [])
    let clock: LoopClock = arguments.options.usesVirtualTime ? .virtual : .system
    host = LuaHost(state: state, loop: Loop(unchecked: clock))
    // With `-i` the script runs at the prompt already.
    stopsOnError = arguments.options.errorAction == .stop && !arguments.isInteractive
    options = arguments.options
    host.programName = String(cString: name)
    host.onError = { [unowned self] report in
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
  }

  var state: LuaState { host.state }

  private func fail() {
    hasFailed = true
    host.loop.stop()
  }

  /// Installs the module; called when the libraries are open and `arg` is set, and no Lua code has
  /// run.
  ///
  /// - Throws: `memory`; an error where the system refuses what the loop needs.
  func librariesDidOpen() throws(LuaError) {
    try host.install()
    if !options.isSandboxed {
      // Scripts of strangers load no C modules.
      ccl_showtables()
      host.showTablesToModules { name, isShown in ccl_setnative(name, isShown) }
    }
    // The time of scripts does not begin before they do.
    if options.isSandboxed { try host.shareLibraries() }
    var limits = options.isSandboxed ? ScriptLimits.untrusted : ScriptLimits()
    if let memory = options.memoryLimit { limits.memory = memory }
    if let time = options.turnTime { limits.turnTime = time }
    try host.limit(to: limits)
  }

  /// Reads the modules of a sandbox.
  ///
  /// - Throws: `file` where they cannot be read.
  func readModules() throws(LuaError) {
    guard let folder = options.moduleFolder else { return }
    for path in try host.readModules(inFolder: folder) { ccl_noteload(path) }
  }

  /// Opens what is otherwise opened at the first wait.
  func prepareToWait() {
    host.loop.prepareToWait()
    _ = ccl_wakedescriptor()
  }

  /// Ends a turn: the main chunk with all that ran before it, or a line at the prompt.
  ///
  /// Returns whether to go on: false after an error that stops the program.
  func endTurn() -> Bool {
    host.endTurn()
    return !hasFailed
  }

  /// The prompt begins to ask for lines: timers run while the next one is awaited.
  func promptWillBegin() {
    ccl_beginprompt()
    // An error is reported, and the next line is asked for.
    stopsOnError = false
    // Users at the prompt call `why` (W4).
    host.record(true)
    ccl_setidle(
      { Unmanaged<ScriptHost>.fromOpaque($0!).takeUnretainedValue().host.mayStep },
      { Unmanaged<ScriptHost>.fromOpaque($0!).takeUnretainedValue().host.stepWhileIdle() },
      Unmanaged.passUnretained(self).toOpaque())
  }

  /// Begins what the prompt does more on a terminal.
  ///
  /// - Throws: `memory`.
  func startSession(hasScript: Bool) throws(LuaError) -> TerminalSession {
    try TerminalSession(host, hasScript: hasScript)
  }

  /// The prompt waits for no more lines: no timers run for it any longer.
  func promptDidEnd() {
    ccl_setidle(nil, nil, nil)
    ccl_endprompt()
  }

  /// Runs turns until nothing is left that could wake the loop, or the process is asked to end.
  ///
  /// Signals and the time limit ask for that; `ccl_exitrequest` returns the status then. After a
  /// prompt on a terminal the user is told what is waited for, and another end of the input ends
  /// it.
  func runLoop(afterPrompt isPrompt: Bool) {
    // A signal that comes from now on wakes the loop.
    let wake = ccl_wakedescriptor()
    let isAttended = isPrompt && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0
    // What can be done at once is not waited for.
    if isAttended, ccl_exitrequest() == 0 { host.stepWhileIdle() }
    if isAttended, ccl_exitrequest() == 0, let events = host.awaitedEvents {
      ccl_writeoutput("waiting for \(events); Ctrl-D or Ctrl-C ends it\n")
      host.stopsLoop(atEndOf: STDIN_FILENO)
    }
    if !ccl_settle() { host.runLoop(wakingFor: wake) { ccl_settle() } }
  }

  /// Calls the functions that the script registered for its end.
  func runExitHooks() { host.runExitHooks() }

  /// Closes the state; false where an error stops the program, in a turn or since the last one.
  func close() -> Bool {
    host.close()
    return !hasFailed
  }
}
