internal import CLua
internal import Lua
internal import Observables

/// Functions that inspect watchers (W1, W2).
final class InspectionFunctions: ModuleSlice {
  override var functions: [NamedFunction] {
    [
      .init("observed_keys", most: 1, observedKeys), .init(.printing, "watched_keys", watchedKeys),
      .init(.module, "observer_count", most: 2, observerCount),
      .init(.module, "on_observed", most: 2, onObserved), .init("describe", describe),
      .init(.module, "stats", most: 0, stats),
    ]
  }

  /// The node of the object at index 1, after replaced objects were wired and watchers of dead
  /// observers were ended.
  private func settledNode(_ L: LuaStack, _ function: String) throws -> NodeRef? {
    engine.wiring.settleAll()
    engine.watchers.stopOrphans()
    return try arguments.existingNode(at: 1, of: L, function)
  }

  private func observedKeys(_ L: LuaStack) throws -> CInt {
    try push(names: settledNode(L, "observed_keys"), L)
    return 1
  }

  /// watched_keys(object) → as `observed_keys`, but without bringing the object up to date: no code
  /// runs.
  private func watchedKeys(_ L: LuaStack) throws -> CInt {
    try push(names: arguments.existingNode(at: 1, of: L, "observed_keys"), L)
    return 1
  }

  /// Pushes the sorted names of an object's observed keys. [-0, +1, -]
  private func push(names root: NodeRef?, _ L: LuaStack) throws {
    var names: [[UInt8]] = []
    for key in root.map({ engine.inspection.observedKeys(of: $0) }) ?? [] {
      names.append(name(of: key, L))
      try state.checkStop()
    }
    names.sort { $0.lexicographicallyPrecedes($1) }
    try state.pushTable(elements: names.count, to: L)
    for (position, name) in names.enumerated() {
      try state.push(bytes: name, to: L)
      L.rawSet(index: position + 1, at: -2)
    }
  }

  /// The name of a key, byte for byte.
  private func name(of key: ObservedKey, _ L: LuaStack) -> [UInt8] {
    if let name = key.name { return Array(name.utf8) }
    let root = key.slot.pointee.node
    if root.kind === host.tables {
      TableKind.pushKey(of: key.slot, to: L)
      defer { L.pop() }
      if L.isString(at: -1) { return state.bytes(at: -1, of: L) }
    }
    return Array(name(of: key.slot).utf8)
  }

  /// The key name of a slot, as scripts spell it.
  func name(of slot: SlotRef) -> String {
    let root = slot.pointee.node
    let name = root.kind.name(of: slot)
    guard !observed.isTable(root), !slot.pointee.isEvery, root.model is any DynamicArray else {
      return name
    }
    // Swift counts slots from 0.
    return Int(name.dropFirst()).map { "#\($0 + 1)" } ?? name
  }

  private func observerCount(_ L: LuaStack) throws -> CInt {
    L.height = 2
    var count = 0
    let root = try settledNode(L, "observer_count")
    if L.isNil(at: 2) {
      throw badArgument(2, of: "observer_count", "a key expected, got no value")
    }
    if let root {
      let isNumber = L.isNumber(at: 2)
      let wanted =
        L.isString(at: 2)
        ? state.bytes(at: 2, of: L) : Array(state.keyName(at: 2, of: L).utf8)
      for key in engine.inspection.observedKeys(of: root) {
        try state.checkStop()
        let name = name(of: key, L)
        // A number matches all its spellings: 3 is "#3" and "3".
        if name == wanted || isNumber && name[...] == wanted.dropFirst() { count += key.count }
      }
    }
    L.push(count)
    return 1
  }

  private func onObserved(_ L: LuaStack) throws -> CInt {
    L.height = 2
    let sandbox = host.sandboxes.current.number
    if L.isNil(at: 2) {
      if let root = try arguments.existingNode(at: 1, of: L, "on_observed") {
        observed.forget(ScriptWatcher.hookKey(of: sandbox), of: root, L)
        if !host.receiver.hooks.exist(for: root) { endHooks(of: root) }
        engine.nodes.unobserveWhenIdle(root)
      }
      return 0
    }
    try arguments.checkFunction(at: 2, of: L, "on_observed")
    let root = try arguments.observed(at: 1, of: L, "on_observed")
    try observed.keep(ScriptWatcher.hookKey(of: sandbox), of: root, L)
    host.receiver.hooks.note(of: sandbox)
    root.pointee.isHooked = true
    if !observed.isTable(root), let object = root.model as? any KeyPathObservable {
      object.onObserved(by: host, in: host.loop) {
        [reference = host.reference, unowned object] key, isObserved in
        guard let host = reference.host, !host.isClosed,
          let root = object.currentNode(in: host.engine)
        else { return }
        let isSlot = key.hasPrefix("#") && object is any DynamicArray
        let name = isSlot ? Int(key.dropFirst()).map { "#\($0 + 1)" } : nil
        host.receiver.hooks.call(of: root, name: name ?? key, isObserved: isObserved)
      }
    }
    return 0
  }

  /// Removes the host's hook from an object when no script has a hook for it any more.
  private func endHooks(of root: NodeRef) {
    if !observed.isTable(root), let object = root.model as? any KeyPathObservable {
      object.onObserved(by: host, in: host.loop, nil)
    } else {
      root.pointee.isHooked = false
    }
  }

  private func describe(_ L: LuaStack) throws -> CInt {
    L.height = 1
    let root = try settledNode(L, "describe")
    try state.push(text: description(of: root, title: state.title(at: 1, of: L)), to: L)
    return 1
  }

  /// The text of `describe` about the object with a number; nil if it is not observed.
  func describe(_ number: UInt64) throws(LuaError) -> String? {
    guard let root = engine.nodes.numbered(number) else { return nil }
    return try description(of: root, title: root.numbered(root.kind.title(of: root)))
  }

  private func description(of root: NodeRef?, title: String) throws(LuaError) -> String {
    let budget = TextBudget(state)
    defer { budget.end() }
    let description = ObjectDescription(
      in: engine,
      naming: { [unowned self] slot in budget.part { name(of: slot) } },
      describing: { [unowned self] watcher, path in budget.part { describe(watcher, path) } },
      hiding: host.stranger, unless: { budget.isSpent })
    let text = description.text(of: root, title: title)
    try budget.check()
    return text
  }

  /// Describes a watcher in one line: its name, its path, and its special options.
  func describe(_ watcher: WatcherRef, _ path: Path) -> String {
    guard host.receiver.isScript(watcher) else {
      return "\(watcher.pointee.receiver.takeUnretainedValue().title(watcher)) on '\(path)' (Swift)"
    }
    let (name, site) = host.receiver.title(of: watcher)
    let suffix =
      watcher.script.pointee.parts.contains(.edits) ? watcher.notes("edits") : watcher.notes()
    let hint = watcher.pointee.root.flatMap { ListHints(host).hint(for: path, from: $0) }
    return (name == site ? "" : "\(name) ") + "on '\(path)', registered at \(site)" + suffix
      + (hint.map { " (\($0))" } ?? "")
  }

  private func stats(_ L: LuaStack) throws -> CInt {
    engine.watchers.stopOrphans()
    let statistics = host.loop.statistics
    try state.pushTable(fields: 7, to: L)
    let counts = [
      ("turns", statistics.turns), ("calls", statistics.calls), ("watchers", statistics.watchers),
      ("observed", statistics.observedObjects), ("pending", statistics.pending),
      ("errors", statistics.errors + host.reports.count),
    ]
    for (name, count) in counts {
      L.push(count)
      try state.setField(name, of: L)
    }
    L.push(statistics.secondsInFlush)
    try state.setField("seconds", of: L)
    return 1
  }
}
