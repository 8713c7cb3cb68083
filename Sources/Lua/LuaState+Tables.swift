package import CLua
internal import CTables

extension LuaState {
  /// The table of global variables.
  ///
  /// - Throws: `memory`, `closed`.
  public var globals: LuaTable {
    get throws(LuaError) {
      try withStack { L throws(LuaError) in
        L.pushGlobals()
        return LuaTable(pin: try pin(L))
      }
    }
  }

  /// Makes a table with room for this many elements and fields.
  ///
  /// - Throws: `memory`, `closed`.
  public func makeTable(elements: Int = 0, fields: Int = 0) throws(LuaError) -> LuaTable {
    try withStack { L throws(LuaError) in
      try pushTable(elements: elements, fields: fields, to: L)
      return LuaTable(pin: try pin(L))
    }
  }

  /// Pushes a new table with room for this many elements and fields. [-0, +1, -]
  package func pushTable(
    elements: Int = 0, fields: Int = 0, to L: LuaStack
  ) throws(LuaError) {
    // The sizes are hints, but Lua refuses sizes that it cannot count.
    let (elements, fields) = (CInt(clamping: elements), CInt(clamping: fields))
    try check(clua_try_createtable(L.pointer, max(0, elements), max(0, fields)), L)
  }

  /// Pops a value and makes it a field of the table at `index`, like an assignment in a script.
  /// [-1, +0, -]
  package func setField(
    _ name: String, at index: CInt = -2, of L: LuaStack
  ) throws(LuaError) {
    try check(clua_try_setfield(L.pointer, index, name, name.utf8.count), L)
  }

  /// Pushes a field of the value at `index`, like a read in a script. [-0, +1, -]
  package func pushField(
    _ name: String, at index: CInt = -1, of L: LuaStack
  ) throws(LuaError) {
    try check(clua_try_getfield(L.pointer, index, name, name.utf8.count), L)
  }

  /// Pops a value and a key below it, and sets the key in the table at `index` without metamethods.
  /// [-2, +0, -]
  package func rawSet(at index: CInt = -3, of L: LuaStack) throws(LuaError) {
    try check(clua_try_rawset(L.pointer, index), L)
  }

  /// The length of the value at `index`, like `#` in a script. [-0, +0, -]
  package func length(at index: CInt = -1, of L: LuaStack) throws(LuaError) -> lua_Integer {
    var length: lua_Integer = 0
    try check(clua_try_len(L.pointer, index, &length), L)
    return length
  }

  /// Checks that the table at `index`, which has `length` elements, has nothing but these.
  /// [-0, +0, -]
  ///
  /// - Throws: `type` for another key, which a list would lose; `memory`.
  /// - Complexity: O(length).
  package func checkList(
    _ length: lua_Integer, at index: CInt = -1, of L: LuaStack
  ) throws(LuaError) {
    try check(clua_try_keybeyond(L.pointer, index, length), L)
    defer { L.pop() }
    if L.isNil(at: -1) { return }
    throw LuaError(
      .type, "list expected, but the table also has the key '\(try value(at: -1, of: L).keyName)'")
  }

  /// Pushes an element of the value at `index`, like a read in a script. [-0, +1, -]
  package func pushElement(
    _ position: lua_Integer, at index: CInt = -1, of L: LuaStack
  ) throws(LuaError) {
    try check(clua_try_geti(L.pointer, index, position), L)
  }

  /// Pops a key, and pushes the next key of the table at `index` with its value; two nils after the
  /// last key. [-1, +2, -]
  package func pushNextEntry(at index: CInt, of L: LuaStack) throws(LuaError) {
    try check(clua_try_next(L.pointer, index), L)
  }

  /// Makes a table, optionally with weak values, that the registry holds; returns the reference.
  /// [-0, +0, -]
  package func makeReference(isWeak: Bool = false, _ L: LuaStack) throws(LuaError) -> CInt {
    var reference: CInt = 0
    try check(
      isWeak ? clua_try_makeweak(L.pointer, &reference) : clua_try_maketable(L.pointer, &reference),
      L)
    return reference
  }
}
