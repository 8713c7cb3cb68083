internal import CLua
internal import Lua
internal import Observables

/// The sandboxes of a host, and the running sandbox.
///
/// Scripts without another sandbox are in `main`.
final class Sandboxes {
  let main: LuaSandbox
  let modules = ScriptModules()
  /// The sandbox on whose account scripts run now.
  @exclusivity(unchecked) private(set) var current: LuaSandbox
  /// Whether others caused the running call, so that the allowance for such calls pays for it.
  @exclusivity(unchecked) private(set) var isCaused = false
  @exclusivity(unchecked) private var others: [UInt32: LuaSandbox] = [:]
  @exclusivity(unchecked) private var lastNumber: UInt32 = 0
  /// The memory shares of sandboxes, also of closed ones, as others may hold their objects.
  @exclusivity(unchecked) private var shares: [UInt32: LuaState.Share] = [:]
  private let state: LuaState

  private let engine: Engine
  /// The location of the current turn's number.
  private let turn: UnsafePointer<UInt64>

  init(_ state: LuaState, _ engine: Engine) {
    (self.state, self.engine, turn) = (state, engine, UnsafePointer(engine.delivery.turnNumber))
    main = LuaSandbox(
      "main", number: 0, limits: ScriptLimits(), state.interrupter, host: nil)
    current = main
    state.interrupter.begin(main.account)
    state.interrupter.count(in: turn)
  }

  /// Adds a sandbox; it has a memory share if `share` gives the share's size.
  func add(
    _ name: String, _ limits: ScriptLimits, share: Int?, _ host: LuaHost
  ) throws(LuaError) -> LuaSandbox {
    let sandbox = LuaSandbox(
      name, number: lastNumber + 1, limits: limits, state.interrupter, host: host)
    shares = shares.filter { others[$0.key] != nil || $0.value.used > 0 }
    if let share {
      shares[sandbox.number] = try state.openShare(limit: share, for: sandbox.account)
    }
    lastNumber += 1
    others[lastNumber] = sandbox
    return sandbox
  }

  func remove(_ sandbox: LuaSandbox) {
    others[sandbox.number] = nil
    modules.forget(sandbox.number)
    if let share = shares[sandbox.number] { state.close(share) }
  }

  /// The memory share that pays for a sandbox.
  func share(of number: UInt32) -> LuaState.Share {
    number == 0 || shares.isEmpty ? state.mainShare : shares[number] ?? state.mainShare
  }

  /// Replaces the object that takes back turns of scripts, also for sandboxes that use the host's.
  func replaceStoppedTurns(by fresh: StoppedTurns?) {
    let former = main.stoppedTurns
    for sandbox in others.values where sandbox.stoppedTurns === former {
      sandbox.stoppedTurns = fresh
    }
    main.stoppedTurns = fresh
    former?.end()
  }

  /// Stops taking back turns, as the host closes.
  func endStoppedTurns() {
    replaceStoppedTurns(by: nil)
    // A sandbox no longer finds a host that is being destroyed.
    for sandbox in others.values {
      sandbox.stoppedTurns?.end()
      sandbox.stoppedTurns = nil
    }
  }

  /// Closes all sandboxes, as the host closes.
  func closeAll() {
    for sandbox in others.values { sandbox.close() }
    main.noteClosing()
    main.errorHook = nil
    (main.modules, main.scriptData) = ([:], nil)
    modules.end()
  }

  /// The owner of a new registration.
  ///
  /// - Throws: an error for code that a reload has replaced.
  func registering() throws(LuaError) -> ScriptOwner {
    if !modules.retired.isEmpty, modules.retired.contains(modules.running) {
      throw LuaError("this code was replaced as its module was loaded again: it registers nothing")
    }
    return owner
  }

  /// The code that is running.
  var owner: ScriptOwner { ScriptOwner(sandbox: current.number, module: modules.running) }

  /// The sandbox whose scripts were stopped last; nil if it is closed.
  var stopped: LuaSandbox? {
    let account = state.interrupter.stoppedAccount
    func isStopped(_ sandbox: LuaSandbox) -> Bool {
      sandbox.account == account || sandbox.allowance == account
    }
    return isStopped(main) ? main : others.values.first(where: isStopped)
  }

  /// Whether some scripts do not belong to the host.
  var hasSeveral: Bool { !others.isEmpty }

  /// Whether callbacks of a sandbox may still be called.
  func isOpen(_ number: UInt32) -> Bool { number == 0 || others[number] != nil }

  subscript(number: UInt32) -> LuaSandbox {
    number == 0 ? main : others[number] ?? main
  }

  /// Whether the running scripts may stop and explain registrations of a sandbox: its own scripts
  /// may, and scripts of the host (S5).
  func mayManage(_ owner: UInt32) -> Bool { current === main || current.number == owner }

  /// The number of the sandbox whose code is writing; 0 for a Swift watcher, even if scripts caused
  /// its call.
  func writer(_ scripts: ScriptReceiver) -> UInt32 {
    guard let callee = engine.delivery.callee,
      callee != Unmanaged.passUnretained(scripts).toOpaque()
    else {
      return current.number
    }
    return 0
  }

  /// Whether a call of a sandbox has to wait, because other code causes it and the sandbox's
  /// allowance is spent.
  func isOverdrawn(_ number: UInt32) -> Bool {
    isCausedByOthers(number) && hasSpentAllowance(number)
  }

  /// Whether a call of a sandbox, caused by the running code, counts as caused by others.
  func isCausedByOthers(_ number: UInt32) -> Bool { isCaused || number != current.number }

  func hasSpentAllowance(_ number: UInt32) -> Bool {
    self[number].hasSpentAllowance(inTurn: turn.pointee)
  }

  /// The number of the turn under way.
  var turnNumber: UInt64 { turn.pointee }

  // MARK: Accounts

  /// The time that pays for a call.
  enum Payment {
    /// The sandbox's time.
    case own
    /// The allowance for calls that others cause; the sandbox's time if its own scripts are
    /// running.
    case allowance
    /// The allowance, whichever code is running.
    case allowanceAlways
  }

  /// Runs `body` as code of an owner, on the account of its sandbox.
  @inline(__always)
  func entered<Result, Failure: Error>(
    _ owner: ScriptOwner, _ payment: Payment = .own, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try entered(owner.sandbox, payment) { () throws(Failure) in
      let outer = modules.running
      modules.running = owner.module
      defer { modules.running = outer }
      return try body()
    }
  }

  /// Runs `body` on the account of a sandbox.
  @inline(__always)
  func entered<Result, Failure: Error>(
    _ number: UInt32, _ payment: Payment = .own, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if number == current.number, payment != .allowanceAlways, !state.interrupter.isExempt {
      return try body()
    }
    return try switched(to: self[number], payment, body)
  }

  @inline(never)
  private func switched<Result, Failure: Error>(
    to sandbox: LuaSandbox, _ payment: Payment, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try state.interrupter.withLimitedMemory { () throws(Failure) in
      if sandbox === current, payment != .allowanceAlways || isCaused { return try body() }
      let outer = enter(sandbox, payment)
      defer { leave(to: outer) }
      return try body()
    }
  }

  /// The state before another account was entered.
  struct Outer {
    fileprivate let sandbox: LuaSandbox
    fileprivate let isCaused: Bool
    fileprivate let module: UInt32
    fileprivate let lent: LuaInterrupter.LentThread
    fileprivate let callee: UnsafeMutableRawPointer?
    fileprivate let caller: LuaInterrupter.Caller
  }

  /// Begins to run on the account of a sandbox; returns the previous state for `leave`.
  private func enter(_ sandbox: LuaSandbox, _ payment: Payment) -> Outer {
    let interrupter = state.interrupter
    let outer = Outer(
      sandbox: current, isCaused: isCaused, module: modules.running,
      lent: interrupter.lend(interrupter.runningThread), callee: engine.delivery.callee,
      caller: interrupter.suspend())
    engine.delivery.callee = nil
    // Otherwise the module of the calling script would own the registrations of this sandbox.
    modules.running = 0
    change(to: sandbox, isCaused: payment != .own)
    return outer
  }

  private func leave(to outer: Outer) {
    _ = state.interrupter.lend(outer.lent)
    state.interrupter.goOn(outer.caller, state.stack)
    (current, isCaused, engine.delivery.callee) = (outer.sandbox, outer.isCaused, outer.callee)
    modules.running = outer.module
    stopIfClosed()
  }

  /// Stops the running code if its sandbox or the host was closed while it waited for a call.
  private func stopIfClosed() {
    if current.isClosed || main.isClosed { state.interrupter.stopClosed() }
  }

  /// Switches to the account of another sandbox; for callers that switch back themselves.
  ///
  /// Stops the code that continues if its sandbox, or the host, was closed meanwhile.
  func change(to number: UInt32) {
    let sandbox = self[number]
    state.interrupter.leave(to: sandbox.account, state.stack)
    change(to: sandbox, isCaused: false)
    if !isOpen(number) || main.isClosed { state.interrupter.stopClosed() }
  }

  private func change(to sandbox: LuaSandbox, isCaused: Bool) {
    (current, self.isCaused) = (sandbox, isCaused)
    state.interrupter.enter(isCaused ? sandbox.allowance : sandbox.account)
  }
}
