internal import CLua

extension LuaState {
  /// Pushes a value.
  ///
  /// Needs five free slots, as everything here does; throws with the stack as it was. [-0, +1, -]
  package func push(
    _ value: LuaValue, to L: LuaStack
  ) throws(LuaError) {
    switch value {
    case .nil: lua_pushnil(L.pointer)
    case .boolean(let value): lua_pushboolean(L.pointer, value ? 1 : 0)
    case .integer(let value): lua_pushinteger(L.pointer, value)
    case .number(let value): lua_pushnumber(L.pointer, value)
    case .string(let value): try push(bytes: value.bytes, to: L)
    case .table(let table): try push(table.pin, to: L)
    case .function(let function): try push(function.pin, to: L)
    case .userdata(let userdata): try push(userdata.pin, to: L)
    case .thread(let thread): try push(thread.pin, to: L)
    case .lightUserdata(let address): lua_pushlightuserdata(L.pointer, address.pointer)
    }
  }

  /// Pushes what a pin holds. [-0, +1, -]
  package func push(_ pin: LuaPin, to L: LuaStack) throws(LuaError) {
    guard pin.pins === pins else { throw pin.pins.state == nil ? .closed : .foreign }
    clua_pushpin(L.pointer, pinTable, pin.slot)
  }

  /// Pushes a string. [-0, +1, -]
  package func push(
    bytes: [UInt8], to L: LuaStack
  ) throws(LuaError) {
    try check(bytes.withUnsafeBytes { clua_try_pushlstring(L.pointer, $0.chars, $0.count) }, L)
  }

  /// Pushes a string. [-0, +1, -]
  package func push(text: String, to L: LuaStack) throws(LuaError) {
    var text = text
    try check(
      text.withUTF8 { text in
        let bytes = UnsafeRawBufferPointer(text)
        return clua_try_pushlstring(L.pointer, bytes.chars, bytes.count)
      }, L)
  }

  /// The value at an index; an object is pinned.
  ///
  /// [-0, +0, -]
  package func value(
    at index: CInt, of L: LuaStack
  ) throws(LuaError) -> LuaValue {
    switch lua_type(L.pointer, index) {
    case LUA_TBOOLEAN: .boolean(lua_toboolean(L.pointer, index) != 0)
    case LUA_TNUMBER:
      lua_isinteger(L.pointer, index) != 0
        ? .integer(lua_tointegerx(L.pointer, index, nil))
        : .number(lua_tonumberx(L.pointer, index, nil))
    case LUA_TSTRING: .string(LuaString(bytes: bytes(at: index, of: L)))
    case LUA_TTABLE: .table(LuaTable(pin: try pin(at: index, of: L)))
    case LUA_TFUNCTION: .function(LuaFunction(pin: try pin(at: index, of: L)))
    case LUA_TUSERDATA: .userdata(LuaUserdata(pin: try pin(at: index, of: L)))
    case LUA_TTHREAD: .thread(LuaThread(pin: try pin(at: index, of: L)))
    case LUA_TLIGHTUSERDATA: .lightUserdata(LuaAddress(lua_touserdata(L.pointer, index)))
    default: .nil
    }
  }

  /// Keeps the object at an index alive. [-0, +0, -]
  package func pin(
    at index: CInt, of L: LuaStack
  ) throws(LuaError) -> LuaPin {
    lua_pushvalue(L.pointer, index)
    do { return try pin(L) } catch {
      clua_pop(L.pointer, 1)
      throw error
    }
  }

  /// The bytes of the string at an index; it must be one. [-0, +0, -]
  package func bytes(at index: CInt, of L: LuaStack) -> [UInt8] {
    withBytes(at: index, of: L) { Array($0) }
  }

  /// The string at an index as text, with U+FFFD where it isn't; it must be one. [-0, +0, -]
  package func text(at index: CInt, of L: LuaStack) -> String {
    withBytes(at: index, of: L) { String(decoding: $0, as: UTF8.self) }
  }

  /// The string at an index as text, nil if it isn't valid UTF-8; it must be one. [-0, +0, -]
  package func validText(at index: CInt, of L: LuaStack) -> String? {
    withBytes(at: index, of: L) { String(validating: $0, as: UTF8.self) }
  }

  private func withBytes<Result>(
    at index: CInt, of L: LuaStack,
    _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    // lua_tolstring would turn a number on the stack into a string.
    precondition(lua_type(L.pointer, index) == LUA_TSTRING, "The value at \(index) is not a string")
    var count = 0
    let start = UnsafeRawPointer(lua_tolstring(L.pointer, index, &count)!)
    return body(
      UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count))
  }

  /// The values from an index to the top. [-0, +0, -]
  func values(
    from index: CInt, of L: LuaStack
  ) throws(LuaError) -> [LuaValue] {
    let count = lua_gettop(L.pointer) - index + 1
    guard count > 0 else { return [] }
    guard lua_checkstack(L.pointer, LUA_MINSTACK) != 0 else { throw .noStack }
    var values: [LuaValue] = []
    values.reserveCapacity(Int(count))
    for index in index..<index + count { values.append(try value(at: index, of: L)) }
    return values
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes as C's chars; never nil, also where there are none.
  fileprivate var chars: UnsafePointer<CChar> {
    baseAddress?.assumingMemoryBound(to: CChar.self) ?? UnsafePointer(bitPattern: 1)!
  }
}
