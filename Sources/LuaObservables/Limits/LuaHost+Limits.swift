internal import CLua
package import Lua
internal import Observables

extension LuaHost {
  /// Sets what scripts may use; called when a host is made.
  package func limit(to limits: ScriptLimits) throws(LuaError) {
    precondition(
      limits.turnTime == nil || LuaInterrupter.canLimitTime,
      "The time of scripts cannot be limited on this system")
    state.memoryLimit = limits.memory
    let main = sandboxes.main
    main.quotas.set(limits)
    main.account.pointee.limit = limits.turnTime.map(LuaInterrupter.nanoseconds) ?? 0
    state.interrupter.chunkSize = limits.chunkSize ?? 0
    if limits.turnTime != nil { try state.prepareStops() }
  }

  /// Makes what sandboxes share read-only; called when a host is made.
  package func shareLibraries() throws(LuaError) {
    try state.prepareStops()
    try state.withStack { L throws(LuaError) in try module.share(L) }
  }

  /// Stops the scripts that run now, by an error of the code `interrupted`.
  ///
  /// Other threads use ``LuaState/interrupter``.
  public func interrupt() { state.interrupter.interrupt() }
}
