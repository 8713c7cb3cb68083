internal import CLua
internal import Lua
internal import Observables

/// `obs.graph`.
final class GraphFunctions: ModuleSlice {
  override var functions: [(String, ModuleFunction)] {
    [
      ("graph", graph),
      (
        "is_known",
        { [self] L in
          let isKnown = try arguments.existingNode(at: 1, of: L, "graph") != nil
          lua_pushboolean(L.pointer, isKnown ? 1 : 0)
          return 1
        }
      ),
    ]
  }

  /// graph(_, format, list of roots) → text.
  private func graph(_ L: LuaStack) throws -> CInt {
    lua_settop(L.pointer, 3)
    guard lua_type(L.pointer, 2) == LUA_TSTRING,
      let format = GraphFormat(rawValue: state.text(at: 2, of: L))
    else {
      throw badArgument(2, of: "graph", "name of a format expected")
    }
    engine.stopOrphans()
    var roots: [NodeRef] = []
    for position in stride(from: 1, through: lua_Integer(lua_rawlen(L.pointer, 3)), by: 1) {
      lua_rawgeti(L.pointer, 3, position)
      // Where an error says that the object was.
      lua_copy(L.pointer, -1, 1)
      clua_pop(L.pointer, 1)
      let root = try arguments.observed(at: 1, of: L, "graph")
      engine.settleWhenIdle(root)
      roots.append(root)
    }
    let graph = engine.graph(of: roots, firstIndex: 1) { [inspection = host.module.inspection] in
      inspection.name(of: $0)
    }
    try state.push(text: graph.text(format), to: L)
    return 1
  }
}
