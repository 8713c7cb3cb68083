internal import CCommandLine
internal import Lua
internal import LuaObservables
internal import Observables

/// What a command line runs in: the host of the scripts, and what goes on at the ends of its turns.
///
/// The interpreter calls these on the main thread, in the order in which they stand here. None lets
/// an error out: errors are reported.
final class ScriptHost {
  private let host: LuaHost
  /// An error in a callback ends the program, unless the script or the command line says otherwise.
  private var stopsOnError: Bool
  private var hasFailed = false

  /// - Throws: `memory` if there is none for a state.
  init(_ arguments: Arguments, name: UnsafePointer<CChar>) throws(LuaError) {
    // Without libraries: `-E` decides what they read.
    let state = try LuaState(libraries: [])
    let clock: LoopClock = arguments.options.usesVirtualTime ? .virtual : .system
    host = LuaHost(state: state, loop: Loop(clock: clock))
    // With `-i` the script runs at the prompt already.
    stopsOnError = arguments.options.errorAction == .stop && !arguments.isInteractive
    host.programName = String(cString: name)
    host.onError = { [unowned self] report in
      ccl_writeerror(name, report.description)
      // What a signal ended is not the script's failure, and nothing goes on after it.
      if ccl_exitrequest() != 0 {
        host.endAfterTurn()
      } else if stopsOnError {
        fail()
      }
    }
    host.moduleDidLoad = { ccl_beginorder() }
    host.loop.onError = { [unowned self] error in
      host.report(error)
    }
  }

  var state: LuaState { host.state }

  private func fail() {
    hasFailed = true
    host.loop.stop()
  }

  /// The libraries are open and `arg` is set; no Lua code has run.
  ///
  /// - Throws: `memory`.
  func librariesDidOpen() throws(LuaError) { try host.install() }

  /// Ends a turn: the main chunk with all that ran before it, or a line at the prompt.
  ///
  /// Returns whether to go on: false after an error that stops the program.
  func endTurn() -> Bool {
    host.endTurn()
    return !hasFailed
  }

  /// Lines are asked for from now on: timers run while the next one is awaited.
  func promptWillBegin() {
    ccl_beginprompt()
    // An error is told, and the next line is asked for.
    stopsOnError = false
    // Who types asks `why` (W4).
    host.record(true)
    ccl_setidle(
      { Unmanaged<ScriptHost>.fromOpaque($0!).takeUnretainedValue().host.stepWhileIdle() },
      Unmanaged.passUnretained(self).toOpaque())
  }

  /// The prompt waits for no more lines: the loop is left alone again.
  func promptDidEnd() {
    ccl_setidle(nil, nil)
    ccl_endprompt()
  }

  /// Runs turns until nothing is left that could wake the loop, or the process is asked to end, and
  /// returns the status to exit with.
  ///
  /// Signals and the time limit ask for that; `ccl_exitrequest` tells the status then, which wins
  /// over this one.
  func runLoop() -> CInt {
    host.runLoop(wakingFor: ccl_wakedescriptor()) { ccl_settle() }
    return hasFailed ? 1 : 0
  }

  /// Runs what the script wants to be run at exit.
  func runExitHooks() { host.runExitHooks() }

  /// Closes the state; false where an error since the last turn stops the program.
  func close() -> Bool {
    host.close()
    return !hasFailed
  }
}
