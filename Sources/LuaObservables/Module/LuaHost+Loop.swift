internal import CLua
internal import Lua
internal import Observables

/// Timers, errors and the end of the program.
extension LuaHost {
  var loopFunctions: [(String, ModuleFunction)] {
    [
      ("after", { host, L in try host.makeTimer("after", repeats: false, L) }),
      ("every", { host, L in try host.makeTimer("every", repeats: true, L) }),
      ("next_turn", { host, L in try host.nextTurn(L, isScoped: true) }),
      ("later", { host, L in try host.nextTurn(L, isScoped: false) }),
      (
        "now",
        { host, L in
          lua_pushnumber(L, host.loop.now); return 1
        }
      ),
      (
        "timer_stop",
        { host, L in
          try host.timer(L, "stop")?.stop(); return 0
        }
      ),
      ("timer_ref", { host, L in try host.reference(L, true) }),
      ("timer_unref", { host, L in try host.reference(L, false) }),
      ("on_error", { host, L in try host.setErrorHook(L) }),
      ("on_exit", { host, L in try host.addExitHook(L) }),
      (
        "run_exit_hooks",
        { host, _ in
          host.runExitHooks(); return 0
        }
      ),
      ("report", { host, L in try host.reportFromScript(L) }),
      ("traceback", { host, L in host.traceback(L) }),
      (
        "site",
        { host, L in
          try host.state.push(text: host.sources.text(host.sources.current(L)), to: L)
          return 1
        }
      ),
    ]
  }

  /// after(seconds, callback), every(seconds, callback) → timer.
  private func makeTimer(_ function: String, repeats: Bool, _ L: OpaquePointer) throws -> CInt {
    guard !isClosed else { throw LuaError.closed }
    lua_settop(L, 2)
    var isNumber: CInt = 0
    let seconds = lua_tonumberx(L, 1, &isNumber)
    guard isNumber != 0, lua_type(L, 1) == LUA_TNUMBER else {
      throw badArgument(
        1, of: function, "number of seconds expected, got \(typeName(at: 1, of: L))")
    }
    guard seconds >= 0, repeats ? seconds > 0 : true else {
      throw badArgument(
        1, of: function, "a \(repeats ? "positive " : "")number of seconds expected, got \(seconds)"
      )
    }
    try checkFunction(at: 2, of: L, function)
    let callback = LuaFunction(pin: try state.pin(at: 2, of: L))
    let site = sources.text(sources.current(L))
    lastTimer += 1
    let id = lastTimer
    // For ever is longer than any clock: what lies beyond is not told apart.
    let delay = min(seconds, 1e10)
    let body: () -> Void = { [reference] in
      guard let host = reference.host else { return }
      if !repeats { host.timers[id] = nil }
      host.run(callback, .timer, name: function, site: site)
    }
    timers[id] = repeats ? loop.every(max(delay, 1e-6), body) : loop.after(delay, body)
    try state.check(
      clua_try_pushhandle(
        L, CLUA_HANDLE_TIMER, clua_handle(object: nil, release: nil, index: id, id: 0)), L)
    if scopes > 0 { try addToScope(L) }
    return 1
  }

  /// next_turn(callback) → timer; `later` is the same for the prelude itself, whatever scope is
  /// open.
  private func nextTurn(_ L: OpaquePointer, isScoped: Bool) throws -> CInt {
    guard !isClosed else { throw LuaError.closed }
    try checkFunction(at: 1, of: L, "next_turn")
    let callback = LuaFunction(pin: try state.pin(at: 1, of: L))
    let site = sources.text(sources.current(L))
    lastTimer += 1
    let id = lastTimer
    waitingTurns.insert(id)
    loop.nextTurn { [reference] in
      guard let host = reference.host, host.waitingTurns.remove(id) != nil else { return }
      host.run(callback, .timer, name: "next_turn", site: site)
    }
    try state.check(
      clua_try_pushhandle(
        L, CLUA_HANDLE_TIMER, clua_handle(object: nil, release: nil, index: id, id: 0)), L)
    if isScoped, scopes > 0 { try addToScope(L) }
    return 1
  }

  /// Calls a callback that nobody waits for.
  func run(_ callback: LuaFunction, _ kind: LuaReport.Kind, name: String, site: String) {
    guard !isClosed else { return }
    do {
      try state.withStack { L throws(LuaError) in
        try state.push(callback.pin, to: L)
        let status = clua_tracedcall(L, 0, 0)
        if status != LUA_OK { throw state.takeError(status, L) }
      }
    } catch {
      report(error, kind, name: name, site: site)
    }
    recorder?.drain()
  }

  private func timer(_ L: OpaquePointer, _ function: String) throws -> LoopTimer? {
    guard let handle = clua_tohandle(L, 1, CLUA_HANDLE_TIMER) else {
      throw badArgument(1, of: function, "timer expected, got \(typeName(at: 1, of: L))")
    }
    if function == "stop" { waitingTurns.remove(handle.pointee.index) }
    if function == "stop" { return timers.removeValue(forKey: handle.pointee.index) }
    return timers[handle.pointee.index]
  }

  private func reference(_ L: OpaquePointer, _ keeps: Bool) throws -> CInt {
    try timer(L, keeps ? "ref" : "unref")?.keepsLoopRunning = keeps
    lua_settop(L, 1)
    return 1
  }

  /// timer.active, and the methods.
  func timerIndex(_ L: OpaquePointer) throws -> CInt {
    guard let handle = clua_tohandle(L, 1, CLUA_HANDLE_TIMER), lua_type(L, 2) == LUA_TSTRING else {
      lua_pushnil(L)
      return 1
    }
    let key = state.text(at: 2, of: L)
    if key == "active" {
      lua_pushboolean(L, isWaiting(handle.pointee.index) ? 1 : 0)
    } else {
      lua_pushnil(L)
    }
    return 1
  }

  private func isWaiting(_ timer: Int) -> Bool {
    timers[timer]?.isActive == true || waitingTurns.contains(timer)
  }

  // MARK: Errors

  private func setErrorHook(_ L: OpaquePointer) throws -> CInt {
    lua_settop(L, 1)
    if lua_type(L, 1) == LUA_TNIL {
      errorHook = nil
    } else {
      try checkFunction(at: 1, of: L, "on_error")
      errorHook = LuaFunction(pin: try state.pin(at: 1, of: L))
    }
    return 0
  }

  /// traceback(thread, error) → the traceback of a coroutine that ended with the error.
  private func traceback(_ L: OpaquePointer) -> CInt {
    lua_settop(L, 2)
    guard let thread = lua_tothread(L, 1) else { return 0 }
    clua_tracethread(L, thread)
    var isSwift = false
    clua_pushtraceback(L, &isSwift)
    return 1
  }

  /// report(error, traceback, kind, name, site): an error in a callback that Lua called itself.
  private func reportFromScript(_ L: OpaquePointer) throws -> CInt {
    lua_settop(L, 5)
    func text(_ index: CInt) -> String {
      lua_type(L, index) == LUA_TSTRING ? state.text(at: index, of: L) : ""
    }
    let value = try state.value(at: 1, of: L)
    let error = LuaError(
      .runtime, state.describe(at: 1, of: L), traceback: text(2).isEmpty ? nil : text(2),
      value: value, underlying: state.underlyingError(at: 1, of: L))
    report(
      error, LuaReport.Kind(rawValue: text(3)) ?? .task, name: text(4), site: text(5))
    return 0
  }

  // MARK: The end

  private func addExitHook(_ L: OpaquePointer) throws -> CInt {
    try checkFunction(at: 1, of: L, "on_exit")
    let hook = LuaFunction(pin: try state.pin(at: 1, of: L))
    exitHooks.append((hook, sources.text(sources.current(L))))
    return 0
  }

  /// Calls what the script wants called at its end, once each, in the order of registration.
  public func runExitHooks() {
    while !exitHooks.isEmpty, !clua_ishurried() {
      let (hook, site) = exitHooks.removeFirst()
      run(hook, .exit, name: "on_exit", site: site)
    }
  }
}
