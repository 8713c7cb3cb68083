internal import CLua

extension LuaState {
  /// The table of global variables.
  ///
  /// - Throws: `memory`, `closed`.
  public var globals: LuaTable {
    get throws(LuaError) {
      try withStack { L throws(LuaError) in
        lua_rawgeti(L, CLUA_REGISTRYINDEX, lua_Integer(LUA_RIDX_GLOBALS))
        return LuaTable(pin: try pin(L))
      }
    }
  }

  /// Makes a table with room for so many elements and fields.
  ///
  /// - Throws: `memory`, `closed`.
  public func makeTable(elements: Int = 0, fields: Int = 0) throws(LuaError) -> LuaTable {
    try withStack { L throws(LuaError) in
      try pushTable(elements: elements, fields: fields, to: L)
      return LuaTable(pin: try pin(L))
    }
  }

  /// Pushes a new table. [-0, +1, -]
  func pushTable(
    elements: Int, fields: Int, to L: OpaquePointer
  ) throws(LuaError) {
    // The sizes are hints, except that Lua refuses those it cannot count.
    let (elements, fields) = (CInt(clamping: elements), CInt(clamping: fields))
    try check(clua_try_createtable(L, max(0, elements), max(0, fields)), L)
  }
}
