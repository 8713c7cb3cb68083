internal import CLua
internal import Lua
internal import Observables

/// `obs.graph`, and what tables tell of themselves for it.
extension LuaHost {
  var graphFunctions: [(String, ModuleFunction)] {
    [
      ("graph", { host, L in try host.graph(L) }),
      (
        "is_known",
        { host, L in
          let isKnown = try host.existingNode(at: 1, of: L, "graph") != nil
          lua_pushboolean(L, isKnown ? 1 : 0)
          return 1
        }
      ),
    ]
  }

  /// graph(_, format, list of roots) → text.
  private func graph(_ L: OpaquePointer) throws -> CInt {
    lua_settop(L, 3)
    guard lua_type(L, 2) == LUA_TSTRING,
      let format = GraphFormat(rawValue: state.text(at: 2, of: L))
    else {
      throw badArgument(2, of: "graph", "name of a format expected")
    }
    engine.stopOrphans()
    var roots: [NodeRef] = []
    for position in stride(from: 1, through: lua_Integer(lua_rawlen(L, 3)), by: 1) {
      lua_rawgeti(L, 3, position)
      // Where an error says that the object was.
      lua_copy(L, -1, 1)
      clua_pop(L, 1)
      let root = try observed(at: 1, of: L, "graph")
      engine.settleWhenIdle(root)
      roots.append(root)
    }
    let graph = engine.graph(of: roots, firstIndex: 1) { [unowned self] in name(of: $0) }
    try state.push(text: graph.text(format), to: L)
    return 1
  }

  /// What a table is called: the name of its model or metatable, or what kind of collection it is.
  func tableTitle(of node: NodeRef) -> String {
    switch clua_node_kind(TableKind.table(node)) {
    case CLUA_KIND_ARRAY: "array"
    case CLUA_KIND_SET: "set"
    case CLUA_KIND_DICTIONARY: "dictionary"
    default: className(of: node) ?? "table"
    }
  }

  /// The name of the model or metatable of a plain table, if that has one.
  func className(of node: NodeRef) -> String? {
    let L = state.pointer
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    guard lua_checkstack(L, 12) != 0 else { return nil }
    clua_node_pushtable(L, TableKind.table(node))
    guard lua_type(L, -1) == LUA_TTABLE, clua_getmetatable(L, -1),
      lua_type(L, -1) == LUA_TTABLE, (try? state.push(text: "__name", to: L)) != nil,
      clua_rawget(L, -2) == LUA_TSTRING
    else { return nil }
    return state.text(at: -1, of: L)
  }

  /// The observed objects among what a table stores, at one key or, in the slot of `*`, at any.
  func observedObjects(at slot: SlotRef) -> [(key: String?, node: NodeRef)] {
    let L = state.pointer
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    let table = TableKind.table(slot.pointee.node)
    guard lua_checkstack(L, 12) != 0 else { return [] }
    clua_node_pushtable(L, table)
    guard lua_type(L, -1) == LUA_TTABLE else { return [] }
    guard slot.pointee.isEvery else {
      clua_node_pushkey(
        L, table, UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self))
      clua_rawget(L, height + 1)
      return knownNode(at: -1, of: L).map { [(nil, $0)] } ?? []
    }
    var found: [(key: String?, node: NodeRef)] = []
    let isSet = clua_node_kind(table) == CLUA_KIND_SET
    try? forEachEntry(at: height + 1, of: L) {
      if let node = knownNode(at: isSet ? -2 : -1, of: L) {
        found.append((isSet ? nil : keyName(at: -2, of: L), node))
      }
    }
    return found
  }

  /// Where the value at an index is observed, if it is.
  private func knownNode(at index: CInt, of L: OpaquePointer) -> NodeRef? {
    switch lua_type(L, index) {
    case LUA_TTABLE:
      guard let node = clua_node_at(L, index), let owner = clua_node_owner(node) else { return nil }
      return owner.assumingMemoryBound(to: Node.self)
    case LUA_TUSERDATA:
      return (objects.object(at: index, of: L) as? any KeyPathObservable)?.currentNode(in: engine)
    default:
      return nil
    }
  }

  /// What the declaration of a lazy property says it depends on; objects that nobody observes stay
  /// so.
  func declaredDependencies(of lazy: WatcherRef) -> [DeclaredDependency] {
    let L = state.pointer
    guard lua_checkstack(L, 16) != 0 else { return [] }
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    clua_lazy_pushdeclaration(L, lazy.number)
    guard lua_type(L, -1) == LUA_TTABLE, (try? state.push(text: "deps", to: L)) != nil,
      clua_rawget(L, -2) == LUA_TTABLE
    else { return [] }
    var dependencies: [DeclaredDependency] = []
    for position in stride(from: 1, through: lua_Integer(lua_rawlen(L, height + 2)), by: 1) {
      defer { lua_settop(L, height + 2) }
      let isForeign = lua_rawgeti(L, height + 2, position) == LUA_TTABLE
      if isForeign {
        lua_rawgeti(L, -1, 1)
        lua_rawgeti(L, -2, 2)
      }
      guard let path = try? path(at: -1, of: L, "graph", argument: 3) else { continue }
      dependencies.append(
        .init(
          path: path, root: isForeign ? knownNode(at: height + 4, of: L) : nil,
          isForeign: isForeign))
    }
    return dependencies
  }
}
