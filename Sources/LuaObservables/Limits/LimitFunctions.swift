internal import CLua
internal import Lua
internal import Observables

/// A script's limits: `obs.limits`, and checks that the prelude makes for tasks and long loops.
final class LimitFunctions: ModuleSlice {
  override var functions: [NamedFunction] {
    [
      .init(.module, "limits", most: 1, limits), .init(.tasks, "take", takeTask),
      .init(.tasks, "recount", recountTasks),
      .init(.tasks, "give_back", giveTaskBack), .init(.tasks, "collect", collect),
      .init("sandbox", pushSandbox),
      .init(
        .tasks, "owner",
        { [self] L in
          L.push(packed(try host.sandboxes.registering()))
          return 1
        }
      ),
      .init(.tasks, "enter", enter),
      .init(
        "writer",
        { [self] L in
          L.push(Int(host.receiver.notedWriter))
          return 1
        }
      ),
      .init(
        .tasks, "is_open",
        { [self] L in
          L.push(host.sandboxes.isOpen(number(at: 1, of: L)))
          return 1
        }
      ),
    ]
  }

  /// The prelude function that hides shared metatables.
  private var hideMetatables: LuaFunction?

  override func preludeDidRun(_ core: CInt, _ L: LuaStack) throws(LuaError) {
    try state.pushField("hide_metatables", at: core, of: L)
    hideMetatables = LuaFunction(pin: try state.pin(at: -1, of: L))
    L.pop()
  }

  override func end() { hideMetatables = nil }

  /// Hides the metatables that scripts share.
  func hide() throws(LuaError) { _ = try hideMetatables?.callPlainly(arguments: []) }

  override func complete(_ L: LuaStack) throws(LuaError) {
    lua_pushcclosure(L.pointer, clua_pollforscript, 0)
    try state.setField("poll", of: L)
  }

  // MARK: Tasks

  /// tasks.take(number): counts a new task of a sandbox; false if its quota seems to be used up.
  private func takeTask(_ L: LuaStack) -> CInt {
    let quotas = host.sandboxes[number(at: 1, of: L)].quotas
    let isFree = (try? quotas.takeTask()) != nil
    L.push(isFree)
    return 1
  }

  /// tasks.recount(number, count): sets the counted number of tasks, and counts one more.
  private func recountTasks(_ L: LuaStack) throws -> CInt {
    let quotas = host.sandboxes[number(at: 1, of: L)].quotas
    quotas.recountTasks(Int(L.integer(at: 2) ?? 0))
    try quotas.takeTask()
    return 0
  }

  /// tasks.give_back(number, task): counts a finished task, and notes its end.
  private func giveTaskBack(_ L: LuaStack) -> CInt {
    let number = number(at: 1, of: L)
    // The task may have closed its sandbox.
    if host.sandboxes.isOpen(number) { host.sandboxes[number].quotas.giveTaskBack() }
    engine.recording.run?.endedTask(Int(L.integer(at: 2) ?? 0))
    return 0
  }

  /// tasks.collect(): frees objects that scripts have dropped.
  private func collect(_ L: LuaStack) -> CInt {
    clua_collect(L.pointer)
    return 0
  }

  /// The sandbox's number in a packed owner.
  private func number(at index: CInt, of L: LuaStack) -> UInt32 {
    UInt32(truncatingIfNeeded: L.integer(at: index) ?? 0)
  }

  /// An owner as one number for the prelude.
  private func packed(_ owner: ScriptOwner) -> Int {
    Int(owner.module) << 32 | Int(owner.sandbox)
  }

  // MARK: Sandboxes

  /// sandbox() → the number of the running sandbox.
  private func pushSandbox(_ L: LuaStack) -> CInt {
    L.push(Int(host.sandboxes.current.number))
    return 1
  }

  /// tasks.enter(owner) → the previous owner; scripts now run as code of the given one, on the
  /// account of its sandbox.
  private func enter(_ L: LuaStack) -> CInt {
    let sandboxes = host.sandboxes
    let outer = sandboxes.owner
    let wanted = number(at: 1, of: L)
    state.interrupter.spare()
    if wanted != outer.sandbox { sandboxes.change(to: wanted) }
    sandboxes.modules.running = UInt32(truncatingIfNeeded: (L.integer(at: 1) ?? 0) >> 32)
    L.push(packed(outer))
    return 1
  }

  // MARK: Limits

  private static let engineNames = ["retrigger_turns", "immediate_depth"]

  /// limits(settings?) → the limits in force.
  private func limits(_ L: LuaStack) throws -> CInt {
    L.height = 1
    let quotas = host.sandboxes.current.quotas
    if !L.isNil(at: 1) {
      guard L.isTable(at: 1) else {
        throw badArgument(1, of: "limits", "table expected, got \(state.typeName(at: 1, of: L))")
      }
      var settings: [(name: String, value: Int)] = []
      try state.forEachEntry(at: 1, of: L) { settings.append(try setting(L)) }
      // Nothing is set unless everything can be.
      for (name, value) in settings {
        if let limit = ScriptQuotas.names.first(where: { $0.0 == name })?.1 {
          quotas.lower(limit, to: value)
          host.sandboxes.current.limitCalls(quotas.limits)
        } else {
          setEngineLimit(name, to: value)
        }
      }
    }
    let limits = quotas.limits
    try state.pushTable(fields: 8, to: L)
    var entries = [
      ("retrigger_turns", engine.limits.retriggers), ("immediate_depth", engine.limits.immediates),
    ]
    for (name, limit) in ScriptQuotas.names {
      if let value = limits[keyPath: limit] { entries.append((name, value)) }
    }
    for (name, value) in entries {
      L.push(value)
      try state.setField(name, of: L)
    }
    return 1
  }

  /// The entry of a table of limits whose key and value are on the stack.
  ///
  /// - Throws: an error if a script cannot set it. Those that share the loop cannot set its limits.
  private func setting(_ L: LuaStack) throws -> (name: String, value: Int) {
    func fail(_ message: String) -> LuaError { badArgument(1, of: "limits", message) }
    guard L.isString(at: -2) else {
      throw fail("limits have names, not a \(state.typeName(at: -2, of: L)) as key")
    }
    let name = state.text(at: -2, of: L)
    let names = Self.engineNames + ScriptQuotas.names.map(\.0)
    guard names.contains(name) else {
      throw fail("unknown limit '\(name)'" + didYouMean(name, among: names))
    }
    let most = 1_000_000_000
    guard let value = L.wholeNumber(at: -1).map({ Int($0) }), 1...most ~= value else {
      let found =
        L.type(at: -1) == .number
        ? L.wholeNumber(at: -1).map { "\($0)" } ?? "\(L.number(at: -1))"
        : "a \(state.typeName(at: -1, of: L))"
      throw fail("limit '\(name)' takes an integer from 1 to \(most), not \(found)")
    }
    guard !Self.engineNames.contains(name) || host.sandboxes.current === host.sandboxes.main else {
      throw fail("limit '\(name)' belongs to the loop, which other scripts use, too")
    }
    return (name, value)
  }

  /// Sets a limit of the loop; untrusted scripts can only lower it.
  private func setEngineLimit(_ name: String, to value: Int) {
    let isLowering = host.module.isShared
    if name == "retrigger_turns" {
      engine.limits.retriggers = isLowering ? min(value, engine.limits.retriggers) : value
    } else {
      engine.limits.immediates = isLowering ? min(value, engine.limits.immediates) : value
    }
  }
}
