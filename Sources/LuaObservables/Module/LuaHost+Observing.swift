internal import CLua
internal import Lua
internal import Observables

/// `obs.observe`, `obs.stop`, and what goes with them.
extension LuaHost {
  var observingFunctions: [(String, ModuleFunction)] {
    [
      ("stop", { host, L in try host.stop(L) }),
      ("path", { host, L in try host.makePath(L) }),
      ("path_parts", { host, L in try host.pathParts(L) }),
      ("trigger", { host, L in try host.trigger(L) }),
      (
        "begin_batch",
        { host, _ in
          host.engine.beginBatch(); return 0
        }
      ),
      ("end_batch", { host, L in host.endBatch(L) }),
      ("open_scope", { host, L in try host.openScope(L) }),
      ("close_scope", { host, L in host.closeScope(L) }),
    ]
  }

  /// Pushes the function `flush`, called as directly as can be. [-0, +1, -]
  func pushFlush(to L: OpaquePointer) throws(LuaError) {
    let status = clua_try_pushfunction(
      L,
      { L, context in
        Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef { host in
          host.call(L!) { () throws in try host.flush(L!) }
        }
      }, Unmanaged.passUnretained(self).toOpaque(), { _ in })
    try state.check(status, L)
  }

  /// stop(observed, filter) → how many (watcher, path) pairs were ended.
  private func stop(_ L: OpaquePointer) throws -> CInt {
    lua_settop(L, 2)
    var count = 0
    if let root = try existingNode(at: 1, of: L, "stop") {
      let filter = try StopFilter(at: 2, of: L, self)
      count = stop(root, filter, L)
      engine.runHooks()
      recorder?.drain()
    } else {
      _ = try StopFilter(at: 2, of: L, self)
    }
    lua_pushinteger(L, lua_Integer(count))
    return 1
  }

  private func stop(_ root: NodeRef, _ filter: StopFilter, _ L: OpaquePointer) -> Int {
    var count = 0
    // A watcher that is stopped may take its neighbours with it only through its own callback's
    // end, which calls nobody here: the list is safe to walk.
    var next = root.pointee.firstWatcher
    while let watcher = next {
      next = watcher.pointee.next
      guard isScript(watcher) else { continue }
      if filter.hasObserver {
        pushObserver(of: watcher, to: L)
        let isSame = lua_rawequal(L, -1, filter.observer) != 0
        clua_pop(L, 1)
        if !isSame { continue }
      }
      if filter.hasCallback {
        pushKept(ScriptWatcher.key(watcher, .callback), of: root, to: L)
        let isSame = lua_rawequal(L, -1, filter.callback) != 0
        clua_pop(L, 1)
        if !isSame { continue }
      }
      recorder?.noteStop(of: watcher, at: sources.text(sources.current(L)))
      if filter.paths.isEmpty {
        count += engine.stop(watcher)
      } else {
        // The record may be freed with the last path.
        let name = watcher.identity
        for path in filter.paths {
          while engine.watcher(name) != nil, engine.remove(path, from: watcher) {
            count += 1
          }
        }
      }
    }
    return count
  }

  func isScript(_ watcher: WatcherRef) -> Bool {
    watcher.pointee.receiver.toOpaque() == Unmanaged.passUnretained(receiver).toOpaque()
  }

  /// The userdata of a model is gone, and with it the callbacks.
  func stopScriptWatchers(of object: AnyObject) {
    guard let root = (object as? any KeyPathObservable)?.currentNode(in: engine) else { return }
    var next = root.pointee.firstWatcher
    while let watcher = next {
      next = watcher.pointee.next
      if isScript(watcher) { engine.stop(watcher) }
    }
  }

  // MARK: Paths

  /// path(...) → exact path.
  private func makePath(_ L: OpaquePointer) throws -> CInt {
    if lua_gettop(L) == 0 {
      throw badArgument(1, of: "path", "at least one key expected, got no value")
    }
    guard lua_checkstack(L, 10) != 0 else { throw LuaError("too many keys in a path") }
    try push(try paths.exactPath(from: 1, of: L), to: L)
    return 1
  }

  /// Pushes a path as scripts hold it. [-0, +1, -]
  func push(_ path: Path, to L: OpaquePointer) throws(LuaError) {
    // What is made while the state closes is not finalized any more.
    guard !isClosed else { throw .closed }
    let path = Unmanaged.passRetained(path)
    let status = clua_try_pushhandle(
      L, CLUA_HANDLE_PATH,
      clua_handle(
        object: path.toOpaque(), release: { Unmanaged<Path>.fromOpaque($0!).release() }, index: 0,
        id: 0))
    guard status == LUA_OK else {
      path.release()
      throw state.takeError(status, L)
    }
  }

  /// path_parts(path, function name, argument number) → list of keys, list of kinds, text.
  private func pathParts(_ L: OpaquePointer) throws -> CInt {
    let argument = lua_type(L, 3) == LUA_TNUMBER ? Int(lua_tointegerx(L, 3, nil)) : 2
    let function = lua_type(L, 2) == LUA_TSTRING ? state.text(at: 2, of: L) : "path"
    let path = try path(at: 1, of: L, function, argument: argument)
    do {
      try path.checkOperators()
    } catch {
      throw badArgument(argument, of: function, error.description)
    }
    try state.check(clua_try_createtable(L, CInt(path.components.count), 0), L)
    let keys = lua_gettop(L)
    try state.check(clua_try_createtable(L, CInt(path.components.count), 0), L)
    for (step, component) in path.components.enumerated() {
      try paths.pushKey(step, of: path, to: L)
      lua_rawseti(L, keys, lua_Integer(step + 1))
      let kind =
        switch component.kind {
        case .name: component.isExactName ? "key" : "name"
        case .key, .slot, .element: "key"
        case .every: "every"
        case .member: "member"
        case .operation: "operation"
        }
      try state.push(text: kind, to: L)
      lua_rawseti(L, keys + 1, lua_Integer(step + 1))
    }
    try state.push(text: path.description, to: L)
    return 3
  }

  // MARK: Writes

  /// trigger(observed, key, previous): like one assignment from `previous` to the current value;
  /// without one a change all the same.
  private func trigger(_ L: OpaquePointer) throws -> CInt {
    let isCompared = lua_gettop(L) >= 3
    lua_settop(L, 3)
    let isNaN = lua_type(L, 2) == LUA_TNUMBER && lua_tonumberx(L, 2, nil).isNaN
    if lua_type(L, 2) == LUA_TNIL || isNaN {
      throw badArgument(2, of: "trigger", "a key expected, got \(isNaN ? "NaN" : "nil")")
    }
    guard let root = try existingNode(at: 1, of: L, "trigger") else { return 0 }
    if !isTable(root) { return try triggerModel(root, L) }
    let table = TableKind.table(root)
    try state.check(clua_try_heal(L, 1), L)
    lua_pushvalue(L, 2)
    clua_inheritedget(L, 1)
    var write = clua_write()
    write.node = table
    write.slot = clua_node_slot(L, table, 2)
    write.every = root.pointee.every.map {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: clua_slot.self)
    }
    (write.table, write.key, write.old, write.new_) = (1, 2, 3, lua_gettop(L))
    (write.told, write.uncompared) = (true, !isCompared)
    write.same = isCompared && clua_same(L, 3, write.new_)
    write.is = lua_type(L, write.new_) != LUA_TNIL
    write.was = write.is
    write.length = clua_node_length(table)
    if !write.same, let slot = write.slot {
      let slot = UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self)
      // Whether it is valid or not: nothing is computed for it.
      if let lazy = slot.pointee.lazy { engine.announce(lazy) }
    }
    if write.slot != nil || write.every != nil {
      withUnsafePointer(to: write) { written(L, $0) }
    }
    return 0
  }

  private func triggerModel(_ root: NodeRef, _ L: OpaquePointer) throws -> CInt {
    guard let model = root.model as? any ObservableModel else {
      throw badArgument(1, of: "trigger", "a collection of the host program tells its own changes")
    }
    let name = try propertyName(at: 2, of: L, "trigger")
    try model.observation.didChange(type(of: model).properties.slot(of: name))
    return 0
  }

  private func flush(_ L: OpaquePointer) throws -> CInt {
    if hookDepth > 0 { throw LuaError("obs.flush was called inside a hook or a comparison") }
    if let place = engine.occupation {
      throw LuaError("obs.flush was called inside \(place)")
    }
    lua_pushinteger(L, lua_Integer(engine.flush()))
    recorder?.drain()
    return 1
  }

  private func endBatch(_ L: OpaquePointer) -> CInt {
    engine.endBatch()
    recorder?.drain()
    return 0
  }

  // MARK: Scopes

  /// open_scope(list): what is registered from now on is added to the list.
  private func openScope(_ L: OpaquePointer) throws -> CInt {
    lua_settop(L, 1)
    scopeLists.append(LuaTable(pin: try state.pin(at: 1, of: L)))
    scopes += 1
    return 0
  }

  private func closeScope(_ L: OpaquePointer) -> CInt {
    if scopes > 0 {
      scopes -= 1
      scopeLists.removeLast()
    }
    return 0
  }

  /// Adds the handle on top of the stack to the innermost scope. [-0, +0, -]
  func addToScope(_ L: OpaquePointer) throws(LuaError) {
    guard let list = scopeLists.last else { return }
    try state.push(list.pin, to: L)
    lua_pushinteger(L, lua_Integer(lua_rawlen(L, -1)) + 1)
    lua_pushvalue(L, -3)
    try state.check(clua_try_rawset(L, -3), L)
    clua_pop(L, 1)
  }
}

/// Which watchers `obs.stop` ends.
struct StopFilter {
  var paths: [Path] = []
  var hasObserver = false
  var hasCallback = false
  /// Where on the stack the observer and the callback are.
  var observer: CInt = 0
  var callback: CInt = 0

  init(at index: CInt, of L: OpaquePointer, _ host: LuaHost) throws {
    guard lua_type(L, index) != LUA_TNIL else { return }
    guard lua_type(L, index) == LUA_TTABLE, clua_rawlen(L, index) == 0 else {
      try host.forEachPath(at: index, of: L, "stop", argument: 2) { paths.append($0) }
      return
    }
    lua_settop(L, 4)
    (observer, callback) = (3, 4)
    try host.forEachEntry(at: index, of: L) {
      try take(lua_type(L, -2) == LUA_TSTRING ? host.state.text(at: -2, of: L) : "?", L, host)
    }
  }

  /// The value of a filter is on top of the stack.
  private mutating func take(_ name: String, _ L: OpaquePointer, _ host: LuaHost) throws {
    switch name {
    case "path":
      try host.forEachPath(at: -1, of: L, "stop", argument: 2) { paths.append($0) }
    case "observer":
      guard lua_type(L, -1) == LUA_TTABLE || lua_type(L, -1) == LUA_TUSERDATA else {
        throw host.badArgument(
          2, of: "stop", "filter 'observer' takes a table, not a \(host.typeName(at: -1, of: L))")
      }
      hasObserver = true
      lua_copy(L, -1, observer)
    case "callback":
      guard lua_type(L, -1) == LUA_TFUNCTION || host.isCallable(-1, L) else {
        throw host.badArgument(
          2, of: "stop",
          "filter 'callback' takes a function, not a \(host.typeName(at: -1, of: L))")
      }
      hasCallback = true
      lua_copy(L, -1, callback)
    default:
      let nearest = nearestName(to: name, among: ["path", "observer", "callback"])
      throw host.badArgument(
        2, of: "stop",
        "unknown filter '\(name)'" + (nearest.map { " (did you mean '\($0)'?)" } ?? ""))
    }
  }
}
