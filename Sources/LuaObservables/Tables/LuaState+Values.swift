internal import CLua
internal import Lua
internal import Observables

/// Values on the stack, as errors, reports and operators see them.
extension LuaState {
  /// What the value at an index is called in errors. [-0, +0, -]
  func typeName(at index: CInt, of L: OpaquePointer) -> String {
    if index > lua_gettop(L) { return "no value" }
    return String(cString: lua_typename(L, lua_type(L, index)))
  }

  /// The key at an index as `observed_keys` and reports tell it. [-0, +0, -]
  func keyName(at index: CInt, of L: OpaquePointer) -> String {
    switch lua_type(L, index) {
    case LUA_TSTRING: text(at: index, of: L)
    case LUA_TNUMBER:
      lua_isinteger(L, index) != 0
        ? "#\(lua_tointegerx(L, index, nil))" : "\(lua_tonumberx(L, index, nil))"
    case LUA_TBOOLEAN: lua_toboolean(L, index) != 0 ? "true" : "false"
    case LUA_TNIL: "nil"
    default:
      "\(String(cString: lua_typename(L, lua_type(L, index))))"
    }
  }

  /// The value at an index as operators see it. [-0, +0, -]
  func operand(at index: CInt, of L: OpaquePointer) -> Operand {
    switch lua_type(L, index) {
    case LUA_TNIL, LUA_TNONE: .none
    case LUA_TBOOLEAN: .boolean(lua_toboolean(L, index) != 0)
    case LUA_TNUMBER:
      lua_isinteger(L, index) != 0
        ? .integer(Int(lua_tointegerx(L, index, nil))) : .float(lua_tonumberx(L, index, nil))
    case LUA_TSTRING: .text(bytes(at: index, of: L))
    default:
      lua_topointer(L, index).map { .object($0) } ?? .opaque(type: typeName(at: index, of: L))
    }
  }
}
