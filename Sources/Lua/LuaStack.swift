public import CLua

/// The stack of a coroutine or of the main thread: the arguments and results of functions.
///
/// Nothing here raises a Lua error, or needs more slots than are free. Indices are as in Lua: from
/// 1 upwards, or from the top, which is -1, downwards.
@frozen @usableFromInline package struct LuaStack {
  /// The coroutine, for C functions.
  @usableFromInline package let pointer: OpaquePointer

  @inlinable @inline(__always) package init(_ pointer: OpaquePointer) { self.pointer = pointer }

  /// The number of values. [-0, +0, -]
  ///
  /// Setting it drops values from the top, or adds nil. [-n, +n, -]
  package var height: CInt {
    @inlinable @inline(__always) get { lua_gettop(pointer) }
    @inlinable @inline(__always) nonmutating set { lua_settop(pointer, newValue) }
  }

  /// Makes room for `count` more values; false if out of memory. [-0, +0, -]
  @inlinable @inline(__always) package func hasRoom(for count: CInt = LUA_MINSTACK) -> Bool {
    // Only a chain of `__call` requests one value, which identifies it (chains.c).
    lua_checkstack(pointer, max(count, 2)) != 0
  }

  /// The same index, counted from 1 upwards. [-0, +0, -]
  @inlinable @inline(__always) package func absolute(_ index: CInt) -> CInt {
    lua_absindex(pointer, index)
  }

  /// Whether Lua has freed objects that `clua_recover` has to end. [-0, +0, -]
  @inlinable @inline(__always) package var hasLost: Bool { clua_haslost(pointer) }

  // MARK: Moving values

  /// Drops values. [-count, +0, -]
  @inlinable @inline(__always) package func pop(_ count: CInt = 1) { clua_pop(pointer, count) }

  /// Removes the value at an index. [-1, +0, -]
  @inlinable @inline(__always) package func remove(_ index: CInt) { clua_remove(pointer, index) }

  /// Moves the top to an index, below the values from there on. [-1, +1, -]
  @inlinable @inline(__always) package func insert(_ index: CInt) { clua_insert(pointer, index) }

  /// Replaces a value by a copy of another one. [-0, +0, -]
  @inlinable @inline(__always) package func copy(from source: CInt, to target: CInt) {
    lua_copy(pointer, source, target)
  }

  /// Pushes a copy of a value. [-0, +1, -]
  @inlinable @inline(__always) package func pushCopy(at index: CInt) {
    lua_pushvalue(pointer, index)
  }

  // MARK: Pushing

  /// Pushes nil. [-0, +1, -]
  @inlinable @inline(__always) package func pushNil() { lua_pushnil(pointer) }

  /// Pushes a boolean. [-0, +1, -]
  @inlinable @inline(__always) package func push(_ value: Bool) {
    lua_pushboolean(pointer, value ? 1 : 0)
  }

  /// Pushes an integer. [-0, +1, -]
  @inlinable @inline(__always) package func push(_ value: Int) {
    lua_pushinteger(pointer, lua_Integer(value))
  }

  /// Pushes an integer. [-0, +1, -]
  @inlinable @inline(__always) package func push(_ value: lua_Integer) {
    lua_pushinteger(pointer, value)
  }

  /// Pushes a float. [-0, +1, -]
  @inlinable @inline(__always) package func push(_ value: lua_Number) {
    lua_pushnumber(pointer, value)
  }

  /// Pushes a light userdata. [-0, +1, -]
  @inlinable @inline(__always) package func push(_ value: UnsafeMutableRawPointer?) {
    lua_pushlightuserdata(pointer, value)
  }

  // MARK: Reading

  /// Whether a value counts as true: all do except false and nil. [-0, +0, -]
  @inlinable @inline(__always) package func boolean(at index: CInt) -> Bool {
    lua_toboolean(pointer, index) != 0
  }

  /// The number at an index, if its subtype is integer. [-0, +0, -]
  @inlinable @inline(__always) package func integer(at index: CInt) -> lua_Integer? {
    isInteger(at: index) ? lua_tointegerx(pointer, index, nil) : nil
  }

  /// The number at an index, if it is an integer of either subtype. [-0, +0, -]
  @inlinable @inline(__always) package func wholeNumber(at index: CInt) -> lua_Integer? {
    // A string would be converted to a number.
    guard isNumber(at: index) else { return nil }
    var isInteger: CInt = 0
    let number = lua_tointegerx(pointer, index, &isInteger)
    return isInteger != 0 ? number : nil
  }

  /// Whether the value at an index is a number of the subtype integer. [-0, +0, -]
  @inlinable @inline(__always) package func isInteger(at index: CInt) -> Bool {
    lua_isinteger(pointer, index) != 0
  }

  /// The number at an index; the value must be a number. [-0, +0, -]
  @inlinable @inline(__always) package func number(at index: CInt) -> lua_Number {
    lua_tonumberx(pointer, index, nil)
  }

  /// The address of the object at an index; nil for other values. [-0, +0, -]
  @inlinable @inline(__always) package func address(at index: CInt) -> UnsafeRawPointer? {
    lua_topointer(pointer, index)
  }

  /// The pointer of a light userdata, or the memory of a full one; nil for other values.
  /// [-0, +0, -]
  @inlinable @inline(__always) package func userdata(at index: CInt) -> UnsafeMutableRawPointer? {
    lua_touserdata(pointer, index)
  }

  /// Whether two values are equal without metamethods. [-0, +0, -]
  @inlinable @inline(__always) package func rawEqual(_ first: CInt, _ second: CInt) -> Bool {
    lua_rawequal(pointer, first, second) != 0
  }

  // MARK: The coroutine

  /// Whether a Lua or C function is running in the coroutine. [-0, +0, -]
  @inlinable @inline(__always) package var isRunning: Bool { clua_isrunning(pointer) }
}
