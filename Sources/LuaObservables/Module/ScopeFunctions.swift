internal import CLua
internal import Lua
internal import Observables

/// Scopes: lists to which handles are added that scripts make meanwhile.
final class ScopeFunctions: ModuleSlice {
  /// The innermost one is the last.
  @exclusivity(unchecked) private var lists: [LuaTable] = []

  override var functions: [(String, ModuleFunction)] {
    [("open_scope", open), ("close_scope", close)]
  }

  override func end() { lists = [] }

  /// open_scope(list): what is registered from now on is added to the list.
  private func open(_ L: OpaquePointer) throws -> CInt {
    lua_settop(L, 1)
    lists.append(LuaTable(pin: try state.pin(at: 1, of: L)))
    return 0
  }

  private func close(_ L: OpaquePointer) -> CInt {
    _ = lists.popLast()
    return 0
  }

  /// Adds the handle on top of the stack to the innermost scope, if one is open. [-0, +0, -]
  func add(_ L: OpaquePointer) throws(LuaError) {
    guard let list = lists.last else { return }
    try state.push(list.pin, to: L)
    lua_pushinteger(L, lua_Integer(lua_rawlen(L, -1)) + 1)
    lua_pushvalue(L, -3)
    try state.check(clua_try_rawset(L, -3), L)
    clua_pop(L, 1)
  }
}
