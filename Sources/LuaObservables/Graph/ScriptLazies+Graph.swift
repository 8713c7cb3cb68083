internal import CLua
internal import Lua
internal import Observables

/// What lazy properties tell of themselves for `obs.graph`.
extension ScriptLazies {
  /// What the declaration of a lazy property says it depends on; objects that nobody observes stay
  /// so.
  func declaredDependencies(of lazy: WatcherRef) -> [DeclaredDependency] {
    let L = state.stack
    guard lua_checkstack(L.pointer, 16) != 0 else { return [] }
    let height = lua_gettop(L.pointer)
    defer { lua_settop(L.pointer, height) }
    clua_lazy_pushdeclaration(L.pointer, lazy.number)
    guard lua_type(L.pointer, -1) == LUA_TTABLE, (try? state.push(text: "deps", to: L)) != nil,
      clua_rawget(L.pointer, -2) == LUA_TTABLE
    else { return [] }
    var dependencies: [DeclaredDependency] = []
    for position in stride(from: 1, through: lua_Integer(lua_rawlen(L.pointer, height + 2)), by: 1)
    {
      defer { lua_settop(L.pointer, height + 2) }
      let isForeign = lua_rawgeti(L.pointer, height + 2, position) == LUA_TTABLE
      if isForeign {
        lua_rawgeti(L.pointer, -1, 1)
        lua_rawgeti(L.pointer, -2, 2)
      }
      guard let path = try? arguments.path(at: -1, of: L, "graph", argument: 3) else { continue }
      dependencies.append(
        .init(
          path: path, root: isForeign ? host.tables.knownNode(at: height + 4, of: L) : nil,
          isForeign: isForeign))
    }
    return dependencies
  }
}
