extension Dictionary: LuaEncodable where Key: LuaEncodable, Value: LuaEncodable {
  /// A new table of the keys and values.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    try state.withStack { L throws(LuaError) in
      try state.pushTable(elements: 0, fields: count, to: L)
      for (key, value) in self {
        try state.push(key, to: L)
        try state.push(value, to: L)
        try state.rawSet(of: L)
      }
      return .table(LuaTable(pin: try state.pin(L)))
    }
  }
}

extension Dictionary: LuaDecodable where Key: LuaDecodable, Value: LuaDecodable {
  /// The keys and values of a table, as returned by `next`.
  public init(luaValue: LuaValue) throws(LuaError) {
    var dictionary: [Key: Value] = [:]
    try LuaTable(luaValue: luaValue).forEach { key, value throws(LuaError) in
      let converted: (key: Key, value: Value)
      do throws(LuaError) { converted.key = try Key(luaValue: key) } catch {
        throw error.located(in: "key '\(key.keyName)'")
      }
      do throws(LuaError) { converted.value = try Value(luaValue: value) } catch {
        throw error.located(in: "value of '\(key.keyName)'")
      }
      dictionary[converted.key] = converted.value
    }
    self = dictionary
  }
}

extension LuaValue {
  /// The name of the value in errors about a key of a table.
  var keyName: String {
    switch self {
    case .string(let name): name.shown
    case .integer(let index): "#\(index)"
    case .number(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    default: typeName
    }
  }
}
