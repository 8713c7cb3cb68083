internal import CLua
internal import Lua
internal import Observables

/// Values on the stack, as errors, reports and operators see them.
extension LuaState {
  /// What the value at an index is called in errors. [-0, +0, -]
  func typeName(at index: CInt, of L: LuaStack) -> String {
    if index > lua_gettop(L.pointer) { return "no value" }
    return String(cString: lua_typename(L.pointer, lua_type(L.pointer, index)))
  }

  /// The key at an index as `observed_keys` and reports tell it. [-0, +0, -]
  func keyName(at index: CInt, of L: LuaStack) -> String {
    switch lua_type(L.pointer, index) {
    case LUA_TSTRING: text(at: index, of: L)
    case LUA_TNUMBER:
      lua_isinteger(L.pointer, index) != 0
        ? "#\(lua_tointegerx(L.pointer, index, nil))" : "\(lua_tonumberx(L.pointer, index, nil))"
    case LUA_TBOOLEAN: lua_toboolean(L.pointer, index) != 0 ? "true" : "false"
    case LUA_TNIL: "nil"
    default:
      "\(String(cString: lua_typename(L.pointer, lua_type(L.pointer, index))))"
    }
  }

  /// The value at an index as operators see it. [-0, +0, -]
  func operand(at index: CInt, of L: LuaStack) -> Operand {
    switch lua_type(L.pointer, index) {
    case LUA_TNIL, LUA_TNONE: .none
    case LUA_TBOOLEAN: .boolean(lua_toboolean(L.pointer, index) != 0)
    case LUA_TNUMBER:
      lua_isinteger(L.pointer, index) != 0
        ? .integer(Int(lua_tointegerx(L.pointer, index, nil)))
        : .float(lua_tonumberx(L.pointer, index, nil))
    case LUA_TSTRING: .text(bytes(at: index, of: L))
    default:
      lua_topointer(L.pointer, index).map { .object($0) }
        ?? .opaque(type: typeName(at: index, of: L))
    }
  }
}
