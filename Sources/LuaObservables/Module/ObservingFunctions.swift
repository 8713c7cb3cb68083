internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// The functions of `obs` that observe and stop, and their helpers.
final class ObservingFunctions: ModuleSlice {
  override var functions: [NamedFunction] {
    [
      .init(.module, "stop", most: 2, stop), .init("path", makePath),
      .init("path_parts", pathParts),
      .init("path_text", pathText),
      .init(.module, "trigger", most: 3, trigger),
      .init(.module, "opaque", most: 1, markOpaque), .init("is_opaque", isOpaque),
      .init(
        "begin_batch",
        { [self] L in
          try spareRoomToClose(L)
          engine.immediates.beginBatch()
          return 0
        }
      ),
      .init("end_batch", endBatch),
    ]
  }

  /// Ends a flush that a script asked for, if the script is stopped.
  @exclusivity(unchecked) private var stopFlag: UnsafePointer<CInt>?

  /// Sets `flush`, which is called as directly as possible. [-0, +0, -]
  override func complete(_ L: LuaStack) throws(LuaError) {
    stopFlag = state.interrupter.stopFlag
    let status = clua_try_pushfunction(
      L.pointer,
      { L, context in
        Unmanaged<ObservingFunctions>.fromOpaque(context!)._withUnsafeGuaranteedRef { slice in
          let L = LuaStack(L!)
          return slice.calls.call(L) { () throws in try slice.flush(L) }
        }
      }, Unmanaged.passUnretained(self).toOpaque(), { _ in })
    try state.check(status, L)
    try state.setField("flush", of: L)
  }

  /// stop(observed, filter) → the number of (watcher, path) pairs that ended.
  private func stop(_ L: LuaStack) throws -> CInt {
    L.height = 2
    var count = 0
    if let root = try arguments.existingNode(at: 1, of: L, "stop") {
      let filter = try StopFilter(at: 2, of: L, host)
      count = stop(root, filter, L)
      engine.hooks.run()
      host.recorder?.drain()
    } else {
      _ = try StopFilter(at: 2, of: L, host)
    }
    L.push(count)
    return 1
  }

  private func stop(_ root: NodeRef, _ filter: StopFilter, _ L: LuaStack) -> Int {
    let number = root.pointee.number
    var count = 0
    if let index = indexes[number], filter.isSelective {
      engine.records.hold {
        for name in index.candidates(for: filter, L) {
          if let watcher = engine.watchers[name] { count += stop(watcher, root, filter, L) }
        }
      }
      return count
    }
    var remaining = 0
    engine.watchers.forEach(of: root) { watcher in
      count += stop(watcher, root, filter, L)
      if watcher.pointee.isActive { remaining += 1 }
    }
    if remaining > Self.mostUnindexed { makeIndex(of: root, L) }
    return count
  }

  /// Ends a watcher, or some of its paths, if a filter selects it; returns how many paths ended.
  private func stop(
    _ watcher: WatcherRef, _ root: NodeRef, _ filter: StopFilter, _ L: LuaStack
  ) -> Int {
    guard host.receiver.isScript(watcher), host.isOwn(watcher),
      !watcher.script.pointee.isInternal
    else { return 0 }
    if filter.hasObserver {
      host.receiver.pushObserver(of: watcher, to: L)
      let isSame = L.rawEqual(-1, filter.observer)
      L.pop()
      if !isSame { return 0 }
    }
    if filter.hasCallback {
      observed.pushKept(ScriptWatcher.key(watcher, .callback), of: root, to: L)
      let isSame = L.rawEqual(-1, filter.callback)
      L.pop()
      if !isSame { return 0 }
    }
    host.recorder?.noteStop(of: watcher, at: host.sources.text(host.sources.current(L)))
    if filter.paths.isEmpty { return engine.watchers.stop(watcher) }
    var count = 0
    for path in filter.paths {
      // The watcher ends with its last path.
      while watcher.pointee.isActive, engine.wiring.remove(path, from: watcher) { count += 1 }
    }
    host.receiver.forgetUnusedKeys(of: watcher, L)
    return count
  }

  // MARK: Indexes

  /// Indexes of the watchers of objects, by the objects' numbers.
  ///
  /// `stop` makes one after it has looked at more than `mostUnindexed` watchers that it did not
  /// end.
  @exclusivity(unchecked) private var indexes: [UInt64: WatcherIndex] = [:]
  private static let mostUnindexed = 16

  private func makeIndex(of root: NodeRef, _ L: LuaStack) {
    if indexes.count.nonzeroBitCount == 1 { indexes = indexes.filter { $1.isNeeded(in: engine) } }
    var index = WatcherIndex()
    engine.watchers.forEach(of: root) {
      if host.receiver.isScript($0) { index.add($0, host.receiver, L) }
    }
    index.complete()
    indexes[root.pointee.number] = index
  }

  /// Notes a new watcher, or its new path.
  @inline(__always)
  func noteRegistered(_ watcher: WatcherRef, _ L: LuaStack, _ path: Path? = nil) {
    if !indexes.isEmpty { addToIndex(watcher, L, path) }
  }

  private func addToIndex(_ watcher: WatcherRef, _ L: LuaStack, _ path: Path?) {
    guard let number = watcher.pointee.root?.pointee.number, let room = indexes[number]?.room
    else { return }
    if room <= 0 {
      indexes[number] = nil
    } else if let path {
      indexes[number]?.add(path, of: watcher)
    } else {
      indexes[number]?.add(watcher, host.receiver, L)
    }
  }

  // MARK: Paths

  /// path(...) → exact path.
  private func makePath(_ L: LuaStack) throws -> CInt {
    if L.height == 0 {
      throw badArgument(1, of: "path", "at least one key expected, got no value")
    }
    guard L.hasRoom(for: 10) else { throw LuaError("too many keys in a path") }
    try host.sandboxes.current.quotas.checkKeys(from: 1, of: L)
    let path = try host.paths.exactPath(from: 1, of: L)
    try push(path, to: L)
    L.insert(-2)
    L.setUserValue(at: -2)
    return 1
  }

  /// Pushes a path as scripts hold it. [-0, +1, -]
  func push(_ path: Path, to L: LuaStack) throws(LuaError) {
    // An object made while the state closes would not be finalized any more.
    guard !host.isClosed else { throw .closed }
    let bytes = path.components.reduce(500) { $0 + 160 + 2 * $1.bytes.count }
    let share = state.share
    try state.charge(bytes, to: share)
    let path = Unmanaged.passRetained(path)
    let status = clua_try_pushhandle(
      L.pointer, CLUA_HANDLE_PATH,
      clua_handle(
        object: path.toOpaque(), release: { Unmanaged<Path>.fromOpaque($0!).release() },
        index: bytes, id: UInt64(UInt(bitPattern: share.name))))
    guard status == LUA_OK else {
      path.release()
      state.discharge(bytes, from: share)
      throw state.takeError(status, L)
    }
  }

  /// path_parts(path, function name, argument number) → list of keys, list of kinds.
  private func pathParts(_ L: LuaStack) throws -> CInt {
    let argument = L.integer(at: 3).map { Int($0) } ?? 2
    let function = L.isString(at: 2) ? state.text(at: 2, of: L) : "path"
    let path = try arguments.path(at: 1, of: L, function, argument: argument)
    do {
      try path.checkOperators()
    } catch {
      throw badArgument(argument, of: function, error.description)
    }
    try state.pushTable(elements: path.components.count, to: L)
    let keys = L.height
    try state.pushTable(elements: path.components.count, to: L)
    for (step, component) in path.components.enumerated() {
      try host.paths.pushKey(step, of: path, to: L)
      L.rawSet(index: step + 1, at: keys)
      let kind =
        switch component.kind {
        case .name: component.isExactName ? "key" : "name"
        case .key, .slot, .element: "key"
        case .every: "every"
        case .deep: "deep"
        case .member: "member"
        case .operation: "operation"
        }
      try state.push(text: kind, to: L)
      L.rawSet(index: step + 1, at: keys + 1)
    }
    return 2
  }

  /// path_text(path) → the path as errors name it.
  private func pathText(_ L: LuaStack) throws -> CInt {
    try state.push(text: arguments.path(at: 1, of: L, "path", argument: 1).description, to: L)
    return 1
  }

  /// opaque(object) → the object, marked as a leaf for `**` (X1).
  private func markOpaque(_ L: LuaStack) throws -> CInt {
    guard L.isTable(at: 1) else {
      throw badArgument(
        1, of: "opaque",
        "table expected, got \(state.typeName(at: 1, of: L)) (objects of the host are opaque by "
          + "their class)")
    }
    L.height = 1
    func isOthers(_ watcher: WatcherRef) -> Bool {
      !watcher.pointee.traits.contains(.lazy) && !host.isOwn(watcher)
    }
    if let root = TableKind.existingNode(at: 1, of: L),
      engine.inspection.hasLink(on: root, where: isOthers)
    {
      throw badArgument(1, of: "opaque", "another script observes the table")
    }
    try host.tables.markOpaque(at: 1, of: L)
    return 1
  }

  /// is_opaque(object) → whether the object is a leaf for `**`.
  private func isOpaque(_ L: LuaStack) -> CInt {
    L.push(
      L.isTable(at: 1)
        ? host.tables.isOpaque(at: 1, of: L)
        : host.objects.object(at: 1, of: L) is any OpaqueObject)
    return 1
  }

  // MARK: Writes

  /// trigger(observed, key, previous): notifies as if the key had been assigned its current value
  /// after `previous`; without `previous` it always counts as a change.
  private func trigger(_ L: LuaStack) throws -> CInt {
    let isCompared = L.height >= 3
    L.height = 3
    let isNaN = L.isNumber(at: 2) && L.number(at: 2).isNaN
    if L.isNil(at: 2) || isNaN {
      throw badArgument(2, of: "trigger", "a key expected, got \(isNaN ? "NaN" : "nil")")
    }
    guard let root = try arguments.existingNode(at: 1, of: L, "trigger") else { return 0 }
    if !observed.isTable(root) { return try triggerModel(root, L) }
    let table = TableKind.table(root)
    L.pushCopy(at: 2)
    try state.check(clua_try_absorbkey(L.pointer, 1), L)
    L.pushCopy(at: 2)
    L.getInherited(at: 1)
    var write = clua_write()
    write.node = table
    write.slot = clua_node_slot(L.pointer, table, 2)
    write.every = root.pointee.every.map {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: clua_slot.self)
    }
    (write.key, write.old, write.new_) = (2, 3, L.height)
    (write.triggered, write.uncompared) = (true, !isCompared)
    write.same = isCompared && L.areSame(3, write.new_)
    write.is = !L.isNil(at: write.new_)
    write.was = write.is
    write.length = clua_node_length(table)
    if !write.same, let slot = write.slot {
      let slot = UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self)
      // The lazy property may be valid or not; triggering does not compute it.
      if let lazy = slot.pointee.lazy { engine.lazies.trigger(lazy) }
    }
    if write.slot != nil || write.every != nil {
      withUnsafePointer(to: write) { host.tables.written(L, $0) }
    }
    return 0
  }

  private func triggerModel(_ root: NodeRef, _ L: LuaStack) throws -> CInt {
    guard let model = root.model as? any ObservableModel else {
      throw badArgument(1, of: "trigger", "a collection of the host reports its own changes")
    }
    let name = try arguments.propertyName(at: 2, of: L, "trigger")
    try model.observation.didChange(type(of: model).properties.slot(of: name))
    return 0
  }

  private func flush(_ L: LuaStack) throws -> CInt {
    if L.height > 0 { try arguments.refuseRest(L, after: 0, "flush") }
    if host.receiver.hooks.isRunning {
      throw LuaError("obs.flush was called inside a hook or a comparison")
    }
    if let place = engine.occupation {
      throw LuaError("obs.flush was called inside \(place)")
    }
    L.push(engine.delivery.flush(unless: stopFlag))
    host.recorder?.drain()
    return 1
  }

  private func endBatch(_ L: LuaStack) -> CInt {
    engine.immediates.endBatch()
    host.recorder?.drain()
    return 0
  }
}
