internal import CLua
public import Lua
internal import Observables

/// Scripts of a host that have globals, time and quotas of their own: a plugin.
///
/// A sandbox with a limit of memory has a share of the host's memory; the others use the rest
/// together. All use the same libraries, which are read-only. A callback runs on the account of the
/// sandbox that registered it. Confined to the thread of the host, whose
/// ``LuaHost/sandbox(named:limits:)`` makes it; it ends with ``close()``, or with the host.
public final class LuaSandbox {
  // It has a field for everything that a script may have of its own: what is not here is shared.

  /// The name by which reports call it.
  public let name: String
  /// Called with errors in callbacks of its scripts; without it the host's is.
  ///
  /// Errors that `obs.on_error` of its scripts takes are seen here, too, as reports that
  /// ``LuaReport/isHandled``.
  public var onError: ((LuaReport) -> Void)?
  /// True as soon as ``close()`` has begun.
  @exclusivity(unchecked) public private(set) var isClosed = false

  /// Stops what its scripts run, from any thread; what scripts of other sandboxes of the host run,
  /// too.
  public let interrupter: LuaInterrupter
  /// What its scripts may have, and have.
  let quotas: ScriptQuotas
  /// The time that its scripts take.
  let account: UnsafeMutablePointer<clua_account>
  /// The time that its scripts take in calls that others have caused (S5).
  ///
  /// When such calls have taken a quarter of the turn's time the next ones wait. Each of them may
  /// take as long as any other call.
  let allowance: UnsafeMutablePointer<clua_account>
  /// The number by which watchers know it.
  let number: UInt32
  /// The script's own callback for errors.
  @exclusivity(unchecked) var errorHook: LuaFunction?
  /// What takes back the turns in which its scripts met a limit.
  @exclusivity(unchecked) var stoppedTurns: StoppedTurns?
  /// The modules that its scripts have required.
  @exclusivity(unchecked) var modules: [String: LuaValue] = [:]
  /// Its globals; nil for those of the state.
  @exclusivity(unchecked) private(set) var environment: LuaTable?
  /// The host owns it, and outlives it unless it was closed.
  private(set) weak var host: LuaHost?
  /// Whether its watchers and timers wait for `resume()`, and what waits.
  @exclusivity(unchecked) private var waiting: Waiting?

  /// What waits while a sandbox is paused.
  private struct Waiting {
    /// The watchers that were not paused before.
    var watchers: [WatcherID]
    /// The callbacks that are due, by their timers: one that repeats is called once.
    var callbacks: [(id: Int, body: () -> Void)] = []
  }

  init(
    _ name: String, number: UInt32, limits: ScriptLimits, _ interrupter: LuaInterrupter,
    host: LuaHost?
  ) {
    (self.name, self.number, self.interrupter, self.host) = (name, number, interrupter, host)
    quotas = ScriptQuotas(limits)
    account = .allocate(capacity: 2)
    account.initialize(repeating: clua_account(), count: 2)
    allowance = account + 1
    allowance.pointee.ofothers = true
    limitTime(limits)
    limitCalls(limits)
  }

  deinit { account.deallocate() }

  /// Makes it the one of a host's scripts that were given no other.
  func start(in host: LuaHost) { self.host = host }

  func start(in environment: LuaTable) { self.environment = environment }

  /// Puts the limits where `load` and calls look for them.
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

  /// Calls that others cause may take one part in so many of the turn's time.
  private static let part: UInt64 = 4

  /// Whether calls that others cause have taken their part of the time of a turn.
  func hasSpentAllowance(inTurn turn: UInt64) -> Bool {
    let spent = allowance.pointee
    return spent.limit > 0 && spent.window == turn && spent.used >= spent.limit / (Self.part + 1)
  }

  // MARK: Memory

  /// The bytes that its scripts use of its share of memory; nil where it has no share.
  ///
  /// These are the bytes that its scripts have allocated and those that the engine keeps for them,
  /// garbage included. They stay its own where another sandbox holds an object.
  public var memoryInUse: Int? {
    guard !isClosed, let host, !host.isClosed, account.pointee.share != nil else { return nil }
    return host.sandboxes.share(of: number).used
  }

  // MARK: Pausing

  /// Whether its watchers and timers wait for ``resume()``.
  public var isPaused: Bool { waiting != nil }

  /// Makes its watchers and timers wait.
  ///
  /// What changes meanwhile is delivered when they go on.
  ///
  /// Scripts that were stopped are paused so, if their limits say it (`StopPolicy.pause`).
  public func pause() {
    guard waiting == nil, let host, !host.isClosed else { return }
    waiting = Waiting(watchers: host.receiver.pauseWatchers(of: self))
  }

  /// Watchers and timers go on: with one call each for what they missed.
  public func resume() {
    guard let waiting else { return }
    self.waiting = nil
    guard let host, !host.isClosed else { return }
    host.receiver.resumeWatchers(waiting.watchers)
    for callback in waiting.callbacks { host.loop.nextTurn(callback.body) }
  }

  /// Keeps the callback of a timer until `resume()`; false where it can be called.
  func holds(_ id: Int, _ body: @escaping () -> Void) -> Bool {
    guard waiting != nil else { return false }
    if waiting?.callbacks.contains(where: { $0.id == id }) == false {
      waiting?.callbacks.append((id, body))
    }
    return true
  }

  /// Does what the limits say: its scripts were stopped.
  func scriptsWereStopped() {
    switch quotas.limits.whenStopped {
    case .endTurn: break
    case .pause: pause()
    case .close:
      // The calls that are under way have to end first.
      host?.loop.nextTurn { [weak self] in
        guard let self else { return }
        if number == 0 { host?.close() } else { close() }
      }
    }
  }

  /// Turns are taken back no more for its scripts.
  func endStoppedTurns() {
    // Those of the host are there for others, too.
    if let host, stoppedTurns !== host.sandboxes.main.stoppedTurns { stoppedTurns?.end() }
    stoppedTurns = nil
  }

  /// Ends its watchers and timers, without calling `on_end`, nor what it registered by `on_exit`.
  ///
  /// Does nothing when it is closed.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    host?.end(self)
    endStoppedTurns()
    errorHook = nil
    modules = [:]
    environment = nil
  }
}

extension LuaSandbox: ScriptEnvironment {
  /// Where its scripts are.
  @_documentation(visibility: internal)
  public func scriptScope() throws(LuaError) -> ScriptScope {
    guard !isClosed, let host, !host.isClosed else { throw .closed }
    return ScriptScope(host: host, sandbox: self)
  }
}
