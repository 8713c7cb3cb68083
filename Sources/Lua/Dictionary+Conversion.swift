internal import CLua

extension Dictionary: LuaEncodable where Key: LuaEncodable, Value: LuaEncodable {
  /// A new table of the keys and values.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    try state.withStack { L throws(LuaError) in
      try state.pushTable(elements: 0, fields: count, to: L)
      for (key, value) in self {
        try state.push(key, to: L)
        try state.push(value, to: L)
        try state.check(clua_try_rawset(L, -3), L)
      }
      return .table(LuaTable(pin: try state.pin(L)))
    }
  }
}

extension Dictionary: LuaDecodable where Key: LuaDecodable, Value: LuaDecodable {
  /// The keys and values of a table, as `next` gives them.
  public init(luaValue: LuaValue) throws(LuaError) {
    var dictionary: [Key: Value] = [:]
    try LuaTable(luaValue: luaValue).forEach { key, value throws(LuaError) in
      dictionary[try Key(luaValue: key)] = try Value(luaValue: value)
    }
    self = dictionary
  }
}
