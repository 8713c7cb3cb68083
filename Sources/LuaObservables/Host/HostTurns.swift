internal import Lua
internal import Observables

/// Turns the calls by which Swift enters a host's state into turns of the loop.
final class HostTurns: LuaTurns {
  unowned(unsafe) private let host: LuaHost

  init(_ host: LuaHost) { self.host = host }

  var isUnderWay: Bool {
    host.engine.isOccupied || host.loop.isInTurn || host.state.stack.isRunning
  }

  func scriptsWereStopped() { host.sandboxes.stopped?.scriptsWereStopped() }

  func report(_ error: LuaError) { host.reports.report(error, .loop, name: "", site: "") }

  func scriptsMetLimit() { host.sandboxes.current.stoppedTurns?.scriptsMetLimit() }

  func keeping<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
    try Unmanaged.passUnretained(host).keeping(body)
  }

  func enter<Result>(
    _ sandbox: UInt32, _ body: () throws(LuaError) -> Result
  ) throws(LuaError) -> Result {
    try keeping { () throws(LuaError) in try enterKept(sandbox, body) }
  }

  private func enterKept<Result>(
    _ sandbox: UInt32, _ body: () throws(LuaError) -> Result
  ) throws(LuaError) -> Result {
    guard host.sandboxes.isOpen(sandbox) else { throw .closed }
    // If a script is running, it called the function through Swift, so it causes this call (S5).
    guard host.state.stack.isRunning else { return try host.sandboxes.entered(sandbox, .own, body) }
    if host.sandboxes.isOverdrawn(sandbox) {
      throw LuaError(
        .quota,
        "'\(host.sandboxes[sandbox].name)' has no time left in this turn for calls by others")
    }
    return try host.sandboxes.entered(sandbox, .allowance, body)
  }

  func run<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
    try keeping { () throws(LuaError) in
      defer { host.recorder?.drain() }
      return try host.loop.turn { () throws(LuaError) in
        try host.state.withStack { L throws(LuaError) in host.state.collectBeforeTurn(L) }
        return try body()
      }
    }
  }
}
