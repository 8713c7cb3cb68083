internal import CLua
import LibC
internal import Lua
internal import Observables

/// The loop of the module luv, which runs inside the host's loop; each iteration is a turn.
final class LuvFunctions: ModuleSlice {
  private var loop: LuvLoop?

  override var functions: [NamedFunction] {
    [
      .init(.luv, "join", join), .init(.luv, "run", run),
      .init(
        .luv, "leave",
        { [self] _ in
          leave(); return 0
        }
      ),
      .init(
        .luv, "close",
        { [self] _ in
          close(); return 0
        }
      ),
      .init(
        .luv, "calls",
        { L in
          L.push(Int(truncatingIfNeeded: clua_luvcalls())); return 1
        }
      ),
      .init(
        .luv, "silence",
        { L in
          clua_silenceluv(L.boolean(at: 1)); return 0
        }
      ),
      .init(
        .luv, "wake",
        { [self] _ in
          host.loop.inbox.wake(); return 0
        }
      ),
    ]
  }

  override func end() {
    guard loop != nil else { return }
    close()
    // Handles that are not closed yet may call back.
    _ = try? state.withStack { L throws(LuaError) in
      try state.check(clua_try_leaveluv(L.pointer), L)
    }
  }

  /// luv.join(functions, a function of luv): joins luv's loop through functions that the prelude
  /// has made.
  private func join(_ L: LuaStack) throws -> CInt {
    let table = LuaTable(pin: try state.pin(at: 1, of: L))
    let joined = LuvLoop(
      alive: try table.get("alive", as: LuaFunction.self),
      timeout: try table.get("timeout", as: LuaFunction.self),
      iterate: try table.get("iterate", as: LuaFunction.self),
      finish: try table.get("finish", as: LuaFunction.self),
      updateTime: try table.get("update_time", as: LuaFunction.self),
      descriptor: try table.get("fd", as: Int32.self))
    try calls.push(report, to: L)
    try state.check(clua_try_joinluv(L.pointer, 2, -1), L)
    joined.onError = { [unowned self] error in host.report(error) }
    loop = joined
    host.loop.run(inside: joined)
    return 0
  }

  /// Closes luv's handles before the state closes.
  private func close() {
    loop?.close()
    leave()
  }

  private func leave() {
    loop = nil
    host.loop.run(inside: nil)
  }

  /// Reports the error of a callback, and the callback's place of definition.
  private func report(_ L: LuaStack) -> CInt {
    // Callbacks that run while the host closes may fail because it is closed.
    if host.isClosed { return 0 }
    L.height = 2
    let site = L.isString(at: 2) ? state.text(at: 2, of: L) : ""
    L.pop()
    host.module.reports.reportError(LUA_ERRRUN, L, .luv, name: "luv", site: site)
    return 0
  }

  /// luv.run(mode): runs the host's loop as long as luv would run its loop.
  private func run(_ L: LuaStack) throws -> CInt {
    let mode = state.text(at: 1, of: L)
    if host.loop.isUnderWay || host.engine.isOccupied {
      throw LuaError(
        """
        uv.run was called inside a turn: the loop of the program runs luv's, too, \
        and goes on after the turn
        """)
    }
    if host.loop.isDriven {
      throw LuaError("uv.run was called, but the host program runs the loop, and luv's with it")
    }
    guard let inner = loop else { return 0 }
    host.endTurn()
    if mode == "nowait" {
      host.loop.turn { _ = inner.iterate(isNeeded: false) }
    } else {
      runLoop(inner, once: mode == "once")
    }
    if host.engine.delivery.isEnding { throw LuaError("interrupted!") }
    return 0
  }

  private func runLoop(_ inner: LuvLoop, once: Bool) {
    let loop = host.loop
    let interruption = host.interruption
    let handler = interruption.flatMap { interruption in
      host.waits(for: interruption.descriptor) {
        if interruption.isAsked() { loop.stop() }
      }
    }
    inner.hasWorked = false
    loop.run { inner.isAlive && interruption?.isAsked() != true && !(once && inner.hasWorked) }
    handler?.stop()
  }
}

/// The loop of luv as the host's loop sees it.
private final class LuvLoop: InnerLoop {
  private let alive, timeout, iterate, finish, update: LuaFunction
  let descriptor: Int32
  /// Whether an iteration had something to do.
  var hasWorked = false
  var onError: ((any Error) -> Void)?

  init(
    alive: LuaFunction, timeout: LuaFunction, iterate: LuaFunction, finish: LuaFunction,
    updateTime: LuaFunction, descriptor: Int32
  ) {
    (self.alive, self.timeout, self.iterate) = (alive, timeout, iterate)
    (self.finish, update, self.descriptor) = (finish, updateTime, descriptor)
  }

  var isAlive: Bool { (try? alive.callPlainly(as: Bool.self)) ?? false }

  var secondsToNext: Double? {
    guard let milliseconds = try? timeout.callPlainly(as: Int.self), milliseconds >= 0 else {
      return nil
    }
    return Double(milliseconds) / 1000
  }

  func updateTime() { _ = try? update.callPlainly() }

  /// Closes luv's handles before the state closes.
  func close() { _ = try? finish.callPlainly() }

  func iterate(isNeeded: Bool) -> Bool {
    var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let isReadable = poll(&input, 1, 0) > 0
    do throws(LuaError) {
      let hasCalled = try iterate.callPlainly(isNeeded, as: Bool.self)
      let hadWork = hasCalled || isReadable
      if hadWork { hasWorked = true }
      return hadWork
    } catch {
      onError?(error)
      return false
    }
  }
}
