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
    main.limitTime(limits)
    main.limitCalls(limits)
    if limits.turnTime != nil { try state.prepareStops() }
    chargeLinks(limits)
  }

  /// Watchers that are registered from now on pay for their links, if there is a limit for that.
  func chargeLinks(_ limits: ScriptLimits) {
    guard limits.memory != nil || limits.turnTime != nil else { return }
    receiver.chargesLinks = true
    lazies.chargesLinks = true
  }

  /// Makes what sandboxes share read-only; called when a host is made.
  package func shareLibraries() throws(LuaError) {
    try state.prepareStops()
    try state.withStack { L throws(LuaError) in try module.share(L) }
  }

  /// Stops the scripts that run now, by an error of the code `interrupted`.
  ///
  /// Other threads use the `interrupter` of its state.
  public func interrupt() { state.interrupter.interrupt() }
}

extension LuaHost {
  /// Whether the watchers and timers of its scripts wait for ``resume()``.
  ///
  /// They do if the scripts were stopped and ``ScriptLimits/whenStopped`` says so. Sandboxes have a
  /// state of their own.
  public var isPaused: Bool { sandboxes.main.isPaused }

  /// Watchers and timers go on, with one call each for what they missed.
  public func resume() {
    requireThread("resumed")
    sandboxes.main.resume()
  }
}
