/// A type whose values can be passed to Lua.
///
/// Numbers, booleans and strings become Lua's own, `[UInt8]` becomes a string, other arrays and
/// dictionaries new tables, and a nil optional becomes nil.
public protocol LuaEncodable {
  /// The value in Lua.
  ///
  /// - Throws: `memory`, `closed`; `type` for a value that Lua cannot represent.
  func luaValue(in state: LuaState) throws(LuaError) -> LuaValue
}

/// A type whose values can be made from Lua values.
///
/// Nothing is converted implicitly: a number is not a string, nor a string a number. Integers
/// accept whole floats.
public protocol LuaDecodable {
  /// Makes a value from a Lua value.
  ///
  /// - Throws: `type` if the value does not fit; `memory`, `closed`.
  init(luaValue: LuaValue) throws(LuaError)
}

/// A type whose values can be passed to Lua and made from Lua values.
public typealias LuaConvertible = LuaEncodable & LuaDecodable

extension LuaError {
  /// The error for a value of another type than expected.
  package static func mismatch(_ expected: String, _ given: LuaValue) -> LuaError {
    LuaError(.type, "\(expected) expected, got \(given.typeName)")
  }

  /// Whether a conversion has thrown this error, not a script or the state.
  package var isOfConversion: Bool {
    code == .type || code == .runtime && value == .nil && traceback == nil
  }
}

extension LuaState {
  /// Pushes a Swift value.
  ///
  /// Needs ten free slots. [-0, +1, -]
  package func push<Value: LuaEncodable>(
    _ value: Value, to L: LuaStack
  ) throws(LuaError) {
    // The common types are pushed directly; in specialized code the comparisons cost nothing.
    if Value.self == String.self {
      try push(text: value as! String, to: L)
    } else {
      try push(try value.luaValue(in: self) as LuaValue, to: L)
    }
  }

  /// The value at an index as a Swift value.
  ///
  /// Needs ten free slots. [-0, +0, -]
  package func pull<Value: LuaDecodable>(
    at index: CInt, of L: LuaStack, as type: Value.Type = Value.self
  ) throws(LuaError) -> Value {
    if Value.self == String.self, L.isString(at: index),
      let text = validText(at: index, of: L)
    {
      return text as! Value
    }
    return try Value(luaValue: try value(at: index, of: L))
  }
}
