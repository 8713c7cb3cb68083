extension Array: LuaEncodable where Element: LuaEncodable {
  /// A new table of the elements, from 1; a string for `[UInt8]`.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    if Element.self == UInt8.self { return .string(LuaString(bytes: self as! [UInt8])) }
    guard count <= Int32.max else { throw LuaError(.type, "\(count) elements are too many") }
    return try state.withStack { L throws(LuaError) in
      try state.pushTable(elements: count, fields: 0, to: L)
      for (index, element) in enumerated() {
        try state.push(element, to: L)
        // The table was made with room for it, so this allocates nothing.
        L.rawSet(index: index + 1, at: -2)
      }
      return .table(LuaTable(pin: try state.pin(L)))
    }
  }
}

extension Array: LuaDecodable where Element: LuaDecodable {
  /// The elements 1 to `#t` of a table, which has no other keys; the bytes of a string for
  /// `[UInt8]`.
  public init(luaValue: LuaValue) throws(LuaError) {
    if Element.self == UInt8.self {
      self = try LuaString(luaValue: luaValue).bytes as! [Element]
      return
    }
    let table = try LuaTable(luaValue: luaValue)
    self = try table.withTable { state, L throws(LuaError) in
      let length = try state.length(of: L)
      // A `__len` may return any number.
      guard length < 1 << 26 else { throw LuaError(.type, "\(length) elements are too many") }
      try state.checkList(length, of: L)
      var elements: [Element] = []
      for index in 1..<Swift.max(1, length + 1) {
        try state.pushElement(index, of: L)
        do throws(LuaError) { elements.append(try state.pull(at: -1, of: L)) } catch {
          throw error.located(in: "element \(index)")
        }
        L.pop()
      }
      return elements
    }
  }
}
