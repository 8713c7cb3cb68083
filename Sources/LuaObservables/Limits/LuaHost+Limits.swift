package import Lua
internal import Observables

extension LuaHost {
  /// Sets what scripts may use; called when a host is made.
  package func limit(to limits: ScriptLimits) throws(LuaError) {
    state.memoryLimit = limits.memory
    try state.limitTime(to: limits.turnTime, in: UnsafePointer(engine.turnNumber))
  }

  /// Stops the scripts that run now, by an error of the code `interrupted`.
  ///
  /// Other threads use ``LuaState/interrupter``.
  public func interrupt() { state.interrupter.interrupt() }
}
