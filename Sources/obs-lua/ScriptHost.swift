internal import Lua

/// What a command line runs in: the Lua state, and what goes on at the ends of its turns.
///
/// The interpreter calls these on the main thread, in the order in which they stand here. None lets
/// an error out: they report errors themselves.
protocol ScriptHost: AnyObject {
  /// The state; it has no libraries yet, because `-E` decides what they read.
  var state: LuaState { get }

  /// The libraries are open and `arg` is set; no Lua code has run.
  func librariesDidOpen()

  /// Ends a turn: the main chunk with all that ran before it, or a line at the prompt.
  ///
  /// Returns whether to go on: false after an error that stops the program.
  func endTurn() -> Bool

  /// Runs turns until nothing is left that could wake the loop, or the process is asked to end, and
  /// returns the status to exit with.
  ///
  /// SIGINT, SIGTERM and the time limit ask for that: `wakeup` becomes readable (it is -1 where there
  /// are no descriptors left), and `clua_exitrequest` tells the status, which wins over this one.
  func runLoop(wakeup: CInt) -> CInt

  /// Runs what the script wants to be run at exit, and closes the state.
  func close()
}

/// Plain Lua: a turn's end does nothing, and no loop follows the script.
final class PlainHost: ScriptHost {
  let state: LuaState

  /// - Throws: `memory` if there is none for a state.
  init() throws(LuaError) {
    state = try LuaState(libraries: [])
  }

  func librariesDidOpen() {}
  func endTurn() -> Bool { true }
  func runLoop(wakeup: CInt) -> CInt { 0 }

  func close() { state.close() }
}
