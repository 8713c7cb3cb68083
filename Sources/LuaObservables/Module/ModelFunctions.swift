internal import CLua
internal import Lua
internal import Observables

/// What the prelude needs for models.
final class ModelFunctions: ModuleSlice {
  override var functions: [(String, ModuleFunction)] {
    [("nearest", nearest)]
  }

  /// Sets the functions that make models in the table on top of the stack. [-0, +0, -]
  override func complete(_ L: OpaquePointer) throws(LuaError) {
    let functions: [(String, lua_CFunction)] = [
      ("make_model", clua_model_make), ("model_of", clua_model_of),
      ("model_record", clua_model_record), ("is_declared", clua_model_isdeclared),
      ("inherited", clua_lazyinherited), ("lazy_keys", clua_lazykeys),
      ("element_count", clua_elementcount), ("freeze", clua_freeze), ("heal", clua_healtable),
    ]
    for (name, function) in functions {
      clua_pushlightfunction(L, function)
      try state.setField(name, of: L)
    }
  }

  /// nearest(name, names) → the one of a list of names that a misspelt one most likely meant, or
  /// nil.
  ///
  /// Keys that are no text are not misspelt, and nobody means them.
  private func nearest(_ L: OpaquePointer) throws -> CInt {
    lua_settop(L, 2)
    guard lua_type(L, 1) == LUA_TSTRING else { return 0 }
    var names: [String] = []
    for position in stride(from: 1, through: lua_Integer(clua_rawlen(L, 2)), by: 1) {
      if lua_rawgeti(L, 2, position) == LUA_TSTRING { names.append(state.text(at: -1, of: L)) }
      clua_pop(L, 1)
    }
    guard let name = nearestName(to: state.text(at: 1, of: L), among: names) else { return 0 }
    try state.push(text: name, to: L)
    return 1
  }
}
