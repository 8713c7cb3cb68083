extension Set: LuaEncodable where Element: LuaEncodable {
  /// A new list of the members, in any order.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    // A set of bytes is a list of members, too; an array of bytes would become a string.
    guard Element.self == UInt8.self else { return try Array(self).luaValue(in: state) }
    return try map { LuaValue.integer(Int64($0 as! UInt8)) }.luaValue(in: state)
  }
}

extension Set: LuaDecodable where Element: LuaDecodable {
  /// The elements of a list, each once.
  public init(luaValue: LuaValue) throws(LuaError) {
    if Element.self == UInt8.self {
      let members = try [Int](luaValue: luaValue)
      self = []
      for member in members { insert(try Element(luaValue: .integer(Int64(member)))) }
      return
    }
    self.init(try [Element](luaValue: luaValue))
  }
}
