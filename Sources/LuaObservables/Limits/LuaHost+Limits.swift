internal import CLua
package import Lua
internal import Observables

extension LuaHost {
  /// Sets the limits of scripts; called when a host is made.
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

  /// Makes watchers pay for their links from now on, if a limit applies.
  func chargeLinks(_ limits: ScriptLimits) {
    guard limits.memory != nil || limits.turnTime != nil else { return }
    receiver.chargesLinks = true
    lazies.chargesLinks = true
  }

  /// Makes everything that sandboxes share read-only; called when a host is made.
  package func shareLibraries() throws(LuaError) {
    try state.prepareStops()
    try state.withStack { L throws(LuaError) in try module.share(L) }
  }

  /// Stops the running scripts with an error of the code `interrupted`.
  ///
  /// Other threads use the `interrupter` of its state.
  public func interrupt() { state.interrupter.interrupt() }
}

extension LuaHost {
  /// Whether the scripts' watchers and timers wait for ``resume()``.
  ///
  /// They wait if scripts were stopped and ``ScriptLimits/whenStopped`` is `pause`. Each sandbox
  /// has a separate state.
  public var isPaused: Bool { sandboxes.main.isPaused }

  /// Resumes watchers and timers, with one call each for the changes and times they missed.
  public func resume() {
    requireThread("resumed")
    sandboxes.main.resume()
  }
}
