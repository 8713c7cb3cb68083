/// A type whose values can be given to Lua.
///
/// Numbers, booleans and strings become those of Lua, `[UInt8]` a string, other arrays and
/// dictionaries new tables, nil in an optional nil.
public protocol LuaEncodable {
  /// The value as Lua has it.
  ///
  /// - Throws: `memory`, `closed`; `type` for what Lua cannot hold.
  func luaValue(in state: LuaState) throws(LuaError) -> LuaValue
}

/// A type whose values can be taken from Lua.
///
/// Nothing is converted on the way: a number is no string, nor a string a number. Integers take
/// floats that are whole.
public protocol LuaDecodable {
  /// Makes a value of a value of Lua.
  ///
  /// - Throws: `type` if that is not such a value; `memory`, `closed`.
  init(luaValue: LuaValue) throws(LuaError)
}

/// A type whose values can be given to Lua and taken from it.
public typealias LuaConvertible = LuaEncodable & LuaDecodable

extension LuaError {
  /// The error for a value of another type than the expected one.
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
    // The common types are pushed directly; specialized, the comparisons cost nothing.
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
