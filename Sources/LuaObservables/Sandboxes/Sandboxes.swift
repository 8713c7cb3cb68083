internal import CLua
internal import Lua

/// The sandboxes of a host, and the one whose scripts run.
///
/// Scripts that were not given one are in `main`.
final class Sandboxes {
  let main: LuaSandbox
  /// The sandbox on whose account scripts run now.
  @exclusivity(unchecked) private(set) var current: LuaSandbox
  @exclusivity(unchecked) private var others: [UInt32: LuaSandbox] = [:]
  @exclusivity(unchecked) private var lastNumber: UInt32 = 0
  /// The memory of sandboxes that have a share of their own, also of closed ones: others may hold
  /// what these have made.
  @exclusivity(unchecked) private var shares: [UInt32: LuaState.Share] = [:]
  private let state: LuaState

  init(_ state: LuaState) {
    self.state = state
    main = LuaSandbox("main", number: 0, limits: ScriptLimits(), host: nil)
    current = main
    state.interrupter.begin(main.account)
  }

  /// Adds a sandbox; it has a share of the memory if its `limits` say how large that is.
  func add(
    _ name: String, _ limits: ScriptLimits, share: Int?, _ host: LuaHost
  ) throws(LuaError) -> LuaSandbox {
    let sandbox = LuaSandbox(name, number: lastNumber + 1, limits: limits, host: host)
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
    if let share = shares[sandbox.number] { state.close(share) }
  }

  /// The memory that pays for what a sandbox has.
  func share(of number: UInt32) -> LuaState.Share {
    number == 0 || shares.isEmpty ? state.mainShare : shares[number] ?? state.mainShare
  }

  /// Replaces what takes back the turns of scripts; also for sandboxes without limits of their own.
  func replaceStoppedTurns(by fresh: StoppedTurns?) {
    let former = main.stoppedTurns
    for sandbox in others.values where sandbox.stoppedTurns === former {
      sandbox.stoppedTurns = fresh
    }
    main.stoppedTurns = fresh
    former?.end()
  }

  /// Turns are taken back no more: the host closes.
  func endStoppedTurns() {
    replaceStoppedTurns(by: nil)
    for sandbox in others.values { sandbox.endStoppedTurns() }
  }

  /// Closes all but `main`: the host closes.
  func closeAll() {
    for sandbox in others.values { sandbox.close() }
    main.errorHook = nil
    main.modules = [:]
  }

  /// The sandbox whose scripts were stopped last.
  var stopped: LuaSandbox {
    let account = state.interrupter.stoppedAccount
    return others.values.first { $0.account == account } ?? main
  }

  subscript(number: UInt32) -> LuaSandbox {
    number == 0 ? main : others[number] ?? main
  }

  /// Runs `body` on the account of a sandbox.
  @inline(__always)
  func entered<Result, Failure: Error>(
    _ number: UInt32, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if number == current.number, !state.interrupter.isExempt { return try body() }
    return try switched(to: self[number], body)
  }

  @inline(never)
  private func switched<Result, Failure: Error>(
    to sandbox: LuaSandbox, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try state.interrupter.withLimitedMemory { () throws(Failure) in
      if sandbox === current { return try body() }
      let outer = enter(sandbox)
      defer { leave(to: outer) }
      return try body()
    }
  }

  /// Begins to run on the account of a sandbox; returns the one before, for `leave`.
  func enter(_ sandbox: LuaSandbox) -> LuaSandbox {
    let outer = current
    current = sandbox
    state.interrupter.enter(sandbox.account)
    return outer
  }

  /// Goes on with the account of another sandbox; for code that restores the one before itself.
  func change(to sandbox: LuaSandbox) {
    state.interrupter.leave(to: sandbox.account, state.stack)
    current = sandbox
    state.interrupter.enter(sandbox.account)
  }

  func leave(to outer: LuaSandbox) {
    state.interrupter.leave(to: outer.account, state.stack)
    current = outer
  }
}
