internal import CLua
public import Lua
internal import Observables

/// Scripts of a host with separate globals, time and quotas: a plugin.
///
/// A sandbox with a memory limit has a share of the host's memory; the other sandboxes use the rest
/// together. All use the same libraries, which are read-only. A callback runs on the account of the
/// sandbox that registered it. Confined to the thread of the host. Made by
/// ``LuaHost/sandbox(named:limits:)``; it ends with ``close()``, or with the host.
public final class LuaSandbox {
  // All state that a sandbox does not share with others has a field here.

  /// The sandbox's name in reports.
  public let name: String
  /// Called with errors in callbacks of the sandbox's scripts; if nil, the host's `onError` is
  /// called.
  ///
  /// This also gets errors that the scripts' `obs.on_error` handles, as reports that
  /// ``LuaReport/isHandled``.
  public var onError: ((LuaReport) -> Void)?
  /// True as soon as ``close()`` has begun.
  @exclusivity(unchecked) public private(set) var isClosed = false

  /// Stops running scripts, from any thread, including scripts of the host's other sandboxes.
  public let interrupter: LuaInterrupter
  /// The quotas of its scripts, and their current use.
  let quotas: ScriptQuotas
  /// The time that its scripts take.
  let account: UnsafeMutablePointer<clua_account>
  /// The time that its scripts take in calls that others cause (S5).
  ///
  /// After such calls have taken a quarter of the turn's time, the next ones wait. Each single call
  /// may take as long as any other call.
  let allowance: UnsafeMutablePointer<clua_account>
  /// The number that its watchers store.
  let number: UInt32
  /// The script's callback for errors.
  @exclusivity(unchecked) var errorHook: LuaFunction?
  /// The module that has set `errorHook`.
  @exclusivity(unchecked) var errorHookModule: UInt32 = 0
  /// Takes back turns in which its scripts met a limit.
  @exclusivity(unchecked) var stoppedTurns: StoppedTurns?
  /// The modules that its scripts have required.
  @exclusivity(unchecked) var modules: [String: LuaValue] = [:]
  /// What the prelude keeps for its scripts: see `ReloadFunctions.pushData`.
  @exclusivity(unchecked) var scriptData: LuaTable?
  /// Its globals; nil to use the state's globals.
  @exclusivity(unchecked) private(set) var environment: LuaTable?
  /// The host owns it, and outlives it unless it was closed.
  private(set) weak var host: LuaHost?
  /// Its watchers; nil for the main sandbox: in most programs it owns all watchers, so a list would
  /// only repeat the engine's.
  @exclusivity(unchecked) var watchers: WatcherList?
  /// The paused watchers and waiting callbacks; nil unless paused.
  @exclusivity(unchecked) private var waiting: Waiting?

  /// The watchers and callbacks that wait while a sandbox is paused.
  private struct Waiting {
    /// The watchers that this pause has paused.
    var watchers: [WatcherID]
    /// The due callbacks, by timer: a repeating timer calls its callback once.
    var callbacks: [(id: Int, body: () -> Void)] = []
  }

  init(
    _ name: String, number: UInt32, limits: ScriptLimits, _ interrupter: LuaInterrupter,
    host: LuaHost?
  ) {
    (self.name, self.number, self.interrupter, self.host) = (name, number, interrupter, host)
    quotas = ScriptQuotas(limits)
    watchers = number == 0 ? nil : WatcherList()
    account = .allocate(capacity: 2)
    account.initialize(repeating: clua_account(), count: 2)
    allowance = account + 1
    allowance.pointee.ofothers = true
    for account in [account, allowance] { account.pointee.sandbox = number }
    limitTime(limits)
    limitCalls(limits)
  }

  deinit {
    for account in [account, allowance] { interrupter.forget(account) }
    account.deallocate()
  }

  /// Makes this the sandbox of a host's scripts that have no other sandbox.
  func start(in host: LuaHost) { self.host = host }

  func start(in environment: LuaTable) { self.environment = environment }

  /// Sets the limits that `load` and calls check.
  func limitCalls(_ limits: ScriptLimits) {
    for account in [account, allowance] {
      account.pointee.chunksize = max(0, limits.chunkSize ?? 0)
      account.pointee.calldepth = CInt(clamping: limits.callDepth ?? 0)
    }
  }

  func limitTime(_ limits: ScriptLimits) {
    let time = limits.turnTime.map(LuaInterrupter.nanoseconds) ?? 0
    account.pointee.limit = time
    let (sum, overflows) = time.addingReportingOverflow(time / Self.part)
    allowance.pointee.limit = overflows ? .max : sum
  }

  /// The divisor of the turn's time for calls that others cause.
  private static let part: UInt64 = 4

  /// Whether calls that others cause have used up their part of a turn's time.
  func hasSpentAllowance(inTurn turn: UInt64) -> Bool {
    let spent = allowance.pointee
    return spent.limit > 0 && spent.window == turn && spent.used >= spent.limit / (Self.part + 1)
  }

  // MARK: Memory

  /// The bytes that its scripts use of its memory share; nil without a share.
  ///
  /// This counts memory of its scripts, and of the engine's records for them, garbage included. An
  /// object's memory still counts here if another sandbox holds the object.
  public var memoryInUse: Int? {
    guard !isClosed, let host, !host.isClosed, account.pointee.share != nil else { return nil }
    return host.sandboxes.share(of: number).used
  }

  // MARK: Pausing

  /// Whether its watchers and timers wait for ``resume()``.
  public var isPaused: Bool { waiting != nil }

  /// Makes its watchers and timers wait.
  ///
  /// Changes during the pause are delivered after ``resume()``. If the limits say so
  /// (`StopPolicy.pause`), this also happens after scripts were stopped.
  public func pause() {
    guard waiting == nil, let host, !host.isClosed else { return }
    waiting = Waiting(watchers: host.receiver.pauseWatchers(of: self))
  }

  /// Resumes watchers and timers, with one call each for the changes and times they missed.
  public func resume() {
    guard let waiting else { return }
    self.waiting = nil
    guard let host, !host.isClosed else { return }
    host.receiver.resumeWatchers(waiting.watchers)
    for callback in waiting.callbacks { host.loop.nextTurn(callback.body) }
  }

  /// Keeps the callback of a timer until `resume()`; returns false if it can be called now.
  func holds(_ id: Int, _ body: @escaping () -> Void) -> Bool {
    guard waiting != nil else { return false }
    if waiting?.callbacks.contains(where: { $0.id == id }) == false {
      waiting?.callbacks.append((id, body))
    }
    return true
  }

  /// Applies the limits' policy after its scripts were stopped.
  func scriptsWereStopped() {
    switch quotas.limits.whenStopped {
    case .endTurn: break
    case .pause: pause()
    case .close:
      // The turn may have to be undone first (S8). Stopped scripts do nothing more in it anyway.
      let close = { [weak self] in
        guard let self else { return }
        if number == 0 { host?.close() } else { self.close() }
      }
      guard let host, host.loop.isInTurn || host.engine.delivery.isFlushing else { return close() }
      host.loop.whenTurnEnds(close)
    }
  }

  /// Stops taking back turns for its scripts.
  func endStoppedTurns() {
    // The main sandbox's object serves others, too.
    if let host, stoppedTurns !== host.sandboxes.main.stoppedTurns { stoppedTurns?.end() }
    stoppedTurns = nil
  }

  /// Marks it as closed; stops its scripts if they are running.
  func noteClosing() {
    isClosed = true
    if host?.sandboxes.current === self { interrupter.stopClosed() }
  }

  /// Ends its watchers and timers, without calling `on_end` or functions registered with `on_exit`.
  ///
  /// After that, no code of its scripts runs, and functions that they gave to Swift throw `closed`.
  /// If a Swift function that its script calls closes it, the script is stopped as soon as this
  /// function returns. Does nothing if it is closed.
  public func close() {
    guard !isClosed else { return }
    noteClosing()
    host?.end(self)
    endStoppedTurns()
    errorHook = nil
    modules = [:]
    scriptData = nil
    environment = nil
  }
}

extension LuaSandbox: ScriptEnvironment {
  /// The scope of its scripts.
  @_documentation(visibility: internal)
  public func scriptScope() throws(LuaError) -> ScriptScope {
    guard !isClosed, let host, !host.isClosed else { throw .closed }
    return ScriptScope(host: host, sandbox: self)
  }
}
