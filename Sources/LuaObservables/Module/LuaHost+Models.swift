internal import CLua
internal import Lua
internal import Observables

/// What the prelude needs for models.
extension LuaHost {
  var modelFunctions: [(String, ModuleFunction)] {
    [("nearest", { host, L in try host.nearest(L) })]
  }

  /// Sets the functions that make models in the table on top of the stack. [-0, +0, -]
  func setModelFunctions(_ L: OpaquePointer) throws(LuaError) {
    let functions: [(String, lua_CFunction)] = [
      ("make_model", clua_model_make), ("model_of", clua_model_of),
      ("model_record", clua_model_record), ("is_declared", clua_model_isdeclared),
      ("inherited", clua_lazyinherited), ("lazy_keys", clua_lazykeys),
      ("element_count", clua_elementcount), ("freeze", clua_freeze), ("heal", clua_healtable),
    ]
    for (name, function) in functions {
      clua_pushlightfunction(L, function)
      try state.check(clua_try_setfield(L, -2, name, name.utf8.count), L)
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

  /// The name of the model that the table of a node is an instance of. [-0, +0, -]
  func modelName(of table: OpaquePointer, _ L: OpaquePointer) -> String {
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    guard pushRecordField("name", of: table, L) == LUA_TSTRING else { return "the model" }
    return state.text(at: -1, of: L)
  }

  /// The names that the model of a node's table declares. [-0, +0, -]
  func modelNames(of table: OpaquePointer, _ L: OpaquePointer) -> [String] {
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    guard pushRecordField("declared", of: table, L) == LUA_TTABLE else { return [] }
    var names: [String] = []
    try? forEachEntry(at: -1, of: L) {
      if lua_type(L, -2) == LUA_TSTRING { names.append(state.text(at: -2, of: L)) }
    }
    // Of two that are as near, always the same is suggested.
    return names.sorted()
  }

  /// Pushes a field of the record of the model of a node's table; nil without a model.
  ///
  /// [-0, +any, -]
  private func pushRecordField(
    _ name: String, of table: OpaquePointer, _ L: OpaquePointer
  ) -> CInt {
    clua_node_pushtable(L, table)
    guard clua_pushmodelof(L, -1), (try? state.push(text: name, to: L)) != nil else {
      return LUA_TNIL
    }
    return clua_rawget(L, -2)
  }
}
