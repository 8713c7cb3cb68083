public import CLua

/// Tables of the host, without metamethods, and values in the registry and in userdata.
extension LuaStack {
  /// Pops a key, and pushes its value in the table at `index`. [-1, +1, -]
  @discardableResult
  @inlinable @inline(__always) package func rawGet(at index: CInt) -> LuaType {
    LuaType(rawValue: clua_plainget(pointer, index))
  }

  /// Pushes an element of the table at `index`. [-0, +1, -]
  @discardableResult
  @inlinable @inline(__always) package func rawGet(
    index element: lua_Integer, at index: CInt
  ) -> LuaType {
    LuaType(rawValue: clua_plaingeti(pointer, index, element))
  }

  /// Pushes an element of the table at `index`. [-0, +1, -]
  @discardableResult
  @inlinable @inline(__always) package func rawGet(
    index element: Int, at index: CInt
  ) -> LuaType {
    rawGet(index: lua_Integer(element), at: index)
  }

  /// Pushes the value of a light userdata as key in the table at `index`. [-0, +1, -]
  @discardableResult
  @inlinable @inline(__always) package func rawGet(
    address: UnsafeRawPointer, at index: CInt
  ) -> LuaType {
    LuaType(rawValue: clua_plaingetp(pointer, index, address))
  }

  /// Pops a value and makes it an element of the table at `index`, which has room for it: nothing
  /// is allocated. [-1, +0, -]
  @inlinable @inline(__always) package func rawSet(index element: lua_Integer, at index: CInt) {
    clua_plainseti(pointer, index, element)
  }

  /// Pops a value and makes it an element of the table at `index`, which has room for it: nothing
  /// is allocated. [-1, +0, -]
  @inlinable @inline(__always) package func rawSet(index element: Int, at index: CInt) {
    rawSet(index: lua_Integer(element), at: index)
  }

  /// The number of elements of the table at `index`. [-0, +0, -]
  @inlinable @inline(__always) package func rawLength(at index: CInt) -> Int {
    Int(truncatingIfNeeded: clua_plainlen(pointer, index))
  }

  /// Pops a table and makes it the metatable of the table at `index`. [-1, +0, -]
  @inlinable @inline(__always) package func setMetatable(at index: CInt) {
    clua_plainsetmetatable(pointer, index)
  }

  // MARK: The registry and userdata

  /// Pushes the value that the registry holds under a reference. [-0, +1, -]
  @inlinable @inline(__always) package func pushReference(_ reference: CInt) {
    clua_plaingeti(pointer, CLUA_REGISTRYINDEX, lua_Integer(reference))
  }

  /// Pushes the table of global variables, or the value by which a script has replaced it.
  /// [-0, +1, -]
  @discardableResult
  @inlinable @inline(__always) package func pushGlobals() -> LuaType {
    rawGet(index: Int(LUA_RIDX_GLOBALS), at: CLUA_REGISTRYINDEX)
  }

  /// Pushes the user value of the userdata at `index`. [-0, +1, -]
  @discardableResult
  @inlinable @inline(__always) package func pushUserValue(at index: CInt) -> LuaType {
    LuaType(rawValue: lua_getiuservalue(pointer, index, 1))
  }

  /// Pops a value and makes it the user value of the userdata at `index`. [-1, +0, -]
  @inlinable @inline(__always) package func setUserValue(at index: CInt) {
    lua_setiuservalue(pointer, index, 1)
  }
}
