internal import CLua
internal import Lua
internal import Observables

/// Timers, and callbacks of the next turn.
final class TimerFunctions: ModuleSlice {
  private var timers: [Int: Entry] = [:]
  /// Callbacks of `next_turn` that were neither called nor stopped, with their owners.
  private var waitingTurns: [Int: ScriptOwner] = [:]
  private var lastTimer = 0

  /// Bytes of scripts' memory for a timer with its callback.
  private static let charge = 1200

  private struct Entry {
    let timer: LoopTimer
    let owner: ScriptOwner
    /// The function that made the timer, and the place of the call.
    let function: String
    let site: String
    /// Whether a task waits for the timer.
    var isOfTask: Bool { function == "wake_after" }
  }

  override var functions: [NamedFunction] {
    [
      .init("after", most: 2, { [self] L in try makeTimer("after", repeats: false, L) }),
      .init(.module, "every", most: 2, { [self] L in try makeTimer("every", repeats: true, L) }),
      .init(.tasks, "wake_after", { [self] L in try makeTimer("wake_after", repeats: false, L) }),
      .init(.module, "next_turn", most: 1, { [self] L in try nextTurn(L, isScoped: true) }),
      .init(.tasks, "later", { [self] L in try nextTurn(L, isScoped: false) }),
      .init(
        "now", most: 0,
        { [self] L in
          L.push(host.loop.now); return 1
        }
      ),
      .init(
        .timer, "stop", most: 0,
        { [self] L in
          try timer(L, "stop")?.stop(); return 0
        }
      ),
      .init(.timer, "ref", most: 0, { [self] L in try reference(L, true) }),
      .init(.timer, "unref", most: 0, { [self] L in try reference(L, false) }),
    ]
  }

  override func end() {
    for entry in timers.values { entry.timer.stop() }
    timers = [:]
  }

  /// The timers that keep the loop running, except timers of tasks, in order of creation.
  var awaited: [LiveObject] {
    live(after: 0) { $0.isActive && $0.keepsLoopRunning }
  }

  /// The number of the newest timer or callback of `next_turn`.
  var latest: Int { lastTimer }

  /// Active timers created after timer `number`, except timers of tasks.
  func live(
    after number: Int, where isMeant: (LoopTimer) -> Bool = { $0.isActive }
  ) -> [LiveObject] {
    timers.filter { $0.key > number && !$0.value.isOfTask && isMeant($0.value.timer) }
      .sorted { $0.key < $1.key }
      .map { LiveObject(kind: .timer, name: $0.value.function, site: $0.value.site) }
  }

  override func end(of sandbox: UInt32) { stopAll { $0.sandbox == sandbox } }

  /// Stops the timers of some owners, and drops their callbacks of `next_turn`.
  func stopAll(where isEnding: (ScriptOwner) -> Bool) {
    for (id, entry) in timers where isEnding(entry.owner) {
      entry.timer.stop()
      forget(id)
    }
    for (id, owner) in waitingTurns where isEnding(owner) { takeTurn(id) }
  }

  @discardableResult
  private func forget(_ id: Int) -> LoopTimer? {
    guard let entry = timers.removeValue(forKey: id) else { return nil }
    giveBack(entry.owner.sandbox)
    return entry.timer
  }

  /// Counts one more timer for the running sandbox, and returns the timer's owner.
  private func takeTimer() throws(LuaError) -> ScriptOwner {
    let sandbox = host.sandboxes.current
    try sandbox.quotas.takeTimer()
    do throws(LuaError) { try state.charge(Self.charge) } catch {
      sandbox.quotas.giveTimerBack()
      throw error
    }
    return host.sandboxes.owner
  }

  private func giveBack(_ sandbox: UInt32) {
    host.sandboxes[sandbox].quotas.giveTimerBack()
    state.discharge(Self.charge, from: host.sandboxes.share(of: sandbox))
  }

  /// Removes a callback of `next_turn`; returns false if it was stopped.
  @discardableResult
  private func takeTurn(_ id: Int) -> Bool {
    guard let owner = waitingTurns.removeValue(forKey: id) else { return false }
    giveBack(owner.sandbox)
    return true
  }

  /// after(seconds, callback), every(seconds, callback) → timer.
  private func makeTimer(_ function: String, repeats: Bool, _ L: LuaStack) throws -> CInt {
    guard !host.isClosed else { throw LuaError.closed }
    L.height = 2
    guard L.isNumber(at: 1) else {
      throw badArgument(
        1, of: function,
        "number of seconds expected, got \(state.typeName(at: 1, of: L))"
          + arguments.colonHint(function, L))
    }
    let seconds = L.number(at: 1)
    guard seconds >= 0, repeats ? seconds > 0 : true else {
      throw badArgument(
        1, of: function, "a \(repeats ? "positive " : "")number of seconds expected, got \(seconds)"
      )
    }
    try arguments.checkFunction(at: 2, of: L, function)
    try host.module.reloading.noteCallback(at: 2, L)
    let callback = LuaFunction(pin: try state.pin(at: 2, of: L))
    let site = host.sources.text(host.sources.current(L))
    if function != "wake_after" { _ = try host.sandboxes.registering() }
    let owner = try takeTimer()
    lastTimer += 1
    let id = lastTimer
    // Longer delays exceed any clock's range; all count as the same.
    let delay = min(seconds, 1e10)
    let body: () -> Void = { [reference = host.reference] in
      reference.use { host in
        if !repeats { host.module.timers.forget(id) }
        host.module.timers.call(callback, id, name: function, site: site, owner)
      }
    }
    let timer = repeats ? host.loop.every(max(delay, 1e-6), body) : host.loop.after(delay, body)
    timers[id] = Entry(timer: timer, owner: owner, function: function, site: site)
    try state.check(
      clua_try_pushhandle(
        L.pointer, CLUA_HANDLE_TIMER, clua_handle(object: nil, release: nil, index: id, id: 0)), L)
    try host.module.scopes.add(L)
    return 1
  }

  /// next_turn(callback) → timer; `later` does the same for the prelude, outside any open scope.
  private func nextTurn(_ L: LuaStack, isScoped: Bool) throws -> CInt {
    guard !host.isClosed else { throw LuaError.closed }
    try arguments.checkFunction(at: 1, of: L, "next_turn")
    try host.module.reloading.noteCallback(at: 1, L)
    let callback = LuaFunction(pin: try state.pin(at: 1, of: L))
    let site = host.sources.text(host.sources.current(L))
    if isScoped { _ = try host.sandboxes.registering() }
    let owner = try takeTimer()
    lastTimer += 1
    let id = lastTimer
    waitingTurns[id] = owner
    host.loop.nextTurn { [reference = host.reference] in
      reference.use { host in
        guard host.module.timers.takeTurn(id) else { return }
        host.module.timers.call(callback, id, name: "next_turn", site: site, owner)
      }
    }
    try state.check(
      clua_try_pushhandle(
        L.pointer, CLUA_HANDLE_TIMER, clua_handle(object: nil, release: nil, index: id, id: 0)), L)
    if isScoped { try host.module.scopes.add(L) }
    return 1
  }

  /// Calls the callback of a timer, or keeps it while its sandbox is paused.
  private func call(
    _ callback: LuaFunction, _ id: Int, name: String, site: String, _ owner: ScriptOwner
  ) {
    let isHeld = host.sandboxes[owner.sandbox].holds(id) { [reference = host.reference] in
      reference.use { $0.module.timers.call(callback, id, name: name, site: site, owner) }
    }
    if isHeld { return }
    host.reports.run(callback, .timer, name: name, site: site, in: owner)
  }

  private func timer(_ L: LuaStack, _ function: String) throws -> LoopTimer? {
    guard let handle = clua_tohandle(L.pointer, 1, CLUA_HANDLE_TIMER) else {
      throw badArgument(1, of: function, "timer expected, got \(state.typeName(at: 1, of: L))")
    }
    guard function == "stop" else { return timers[handle.pointee.index]?.timer }
    takeTurn(handle.pointee.index)
    return forget(handle.pointee.index)
  }

  private func reference(_ L: LuaStack, _ keeps: Bool) throws -> CInt {
    try timer(L, keeps ? "ref" : "unref")?.keepsLoopRunning = keeps
    L.height = 1
    return 1
  }

  /// Implements `timer.active` and the methods.
  func index(_ L: LuaStack) throws -> CInt {
    guard let handle = clua_tohandle(L.pointer, 1, CLUA_HANDLE_TIMER), L.isString(at: 2) else {
      L.pushNil()
      return 1
    }
    let key = state.text(at: 2, of: L)
    if key == "active" {
      L.push(isWaiting(handle.pointee.index))
    } else {
      L.pushNil()
    }
    return 1
  }

  private func isWaiting(_ timer: Int) -> Bool {
    timers[timer]?.timer.isActive == true || waitingTurns[timer] != nil
  }
}
