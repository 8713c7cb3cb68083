public import CLua

/// A Lua type of values.
@frozen @usableFromInline package struct LuaType: Equatable {
  @usableFromInline let rawValue: CInt

  @inlinable @inline(__always) package init(rawValue: CInt) { self.rawValue = rawValue }

  /// No value: the index is above the top.
  @inlinable package static var none: LuaType { LuaType(rawValue: LUA_TNONE) }
  @inlinable package static var `nil`: LuaType { LuaType(rawValue: LUA_TNIL) }
  @inlinable package static var boolean: LuaType { LuaType(rawValue: LUA_TBOOLEAN) }
  @inlinable package static var lightUserdata: LuaType { LuaType(rawValue: LUA_TLIGHTUSERDATA) }
  @inlinable package static var number: LuaType { LuaType(rawValue: LUA_TNUMBER) }
  @inlinable package static var string: LuaType { LuaType(rawValue: LUA_TSTRING) }
  @inlinable package static var table: LuaType { LuaType(rawValue: LUA_TTABLE) }
  @inlinable package static var function: LuaType { LuaType(rawValue: LUA_TFUNCTION) }
  @inlinable package static var userdata: LuaType { LuaType(rawValue: LUA_TUSERDATA) }
  @inlinable package static var thread: LuaType { LuaType(rawValue: LUA_TTHREAD) }

  @inlinable @inline(__always) package static func == (a: LuaType, b: LuaType) -> Bool {
    a.rawValue == b.rawValue
  }
}

extension LuaStack {
  /// The type of the value at an index. [-0, +0, -]
  @inlinable @inline(__always) package func type(at index: CInt) -> LuaType {
    // 0 is not a valid index: Lua would read the slot above the top of the stack.
    assert(index != 0)
    return LuaType(rawValue: lua_type(pointer, index))
  }

  /// Lua's name for the type of a value. [-0, +0, -]
  package func typeName(at index: CInt) -> String {
    String(cString: lua_typename(pointer, lua_type(pointer, index)))
  }

  /// Whether nil is at an index; false if there is no value. [-0, +0, -]
  @inlinable @inline(__always) package func isNil(at index: CInt) -> Bool {
    type(at: index) == .nil
  }

  /// Whether a number is at an index. [-0, +0, -]
  @inlinable @inline(__always) package func isNumber(at index: CInt) -> Bool {
    type(at: index) == .number
  }

  /// Whether a string is at an index. [-0, +0, -]
  @inlinable @inline(__always) package func isString(at index: CInt) -> Bool {
    type(at: index) == .string
  }

  /// Whether a table is at an index. [-0, +0, -]
  @inlinable @inline(__always) package func isTable(at index: CInt) -> Bool {
    type(at: index) == .table
  }

  /// Whether a function is at an index. [-0, +0, -]
  @inlinable @inline(__always) package func isFunction(at index: CInt) -> Bool {
    type(at: index) == .function
  }

  /// Whether a full userdata is at an index. [-0, +0, -]
  @inlinable @inline(__always) package func isUserdata(at index: CInt) -> Bool {
    type(at: index) == .userdata
  }
}
