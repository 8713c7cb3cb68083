internal import CLua

extension LuaState {
  /// The table of global variables.
  ///
  /// - Throws: `memory`, `closed`.
  public var globals: LuaTable {
    get throws(LuaError) {
      try withStack { L throws(LuaError) in
        lua_rawgeti(L.pointer, CLUA_REGISTRYINDEX, lua_Integer(LUA_RIDX_GLOBALS))
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

  /// Pushes a new table with room for so many elements and fields. [-0, +1, -]
  package func pushTable(
    elements: Int = 0, fields: Int = 0, to L: LuaStack
  ) throws(LuaError) {
    // The sizes are hints, except that Lua refuses those it cannot count.
    let (elements, fields) = (CInt(clamping: elements), CInt(clamping: fields))
    try check(clua_try_createtable(L.pointer, max(0, elements), max(0, fields)), L)
  }

  /// Pops a value and makes it a field of the table at `index`, as an assignment of a script does.
  /// [-1, +0, -]
  package func setField(
    _ name: String, at index: CInt = -2, of L: LuaStack
  ) throws(LuaError) {
    try check(clua_try_setfield(L.pointer, index, name, name.utf8.count), L)
  }

  /// Pushes a field of what is at `index`, as a script reads it. [-0, +1, -]
  package func pushField(
    _ name: String, at index: CInt = -1, of L: LuaStack
  ) throws(LuaError) {
    try check(clua_try_getfield(L.pointer, index, name, name.utf8.count), L)
  }
}
