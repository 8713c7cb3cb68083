extension LuaValue: LuaEncodable, LuaDecodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { self }
  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) { self = luaValue }
}

extension Bool: LuaEncodable, LuaDecodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .boolean(self) }
  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .boolean(let value) = luaValue else { throw .mismatch("boolean", luaValue) }
    self = value
  }
}

extension String: LuaEncodable, LuaDecodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    .string(LuaString(self))
  }
  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .string(let value) = luaValue else { throw .mismatch("string", luaValue) }
    guard let text = value.text else {
      throw LuaError(.type, "text expected, got a string that is not valid UTF-8")
    }
    self = text
  }
}

extension LuaString: LuaEncodable, LuaDecodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .string(self) }
  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .string(let value) = luaValue else { throw .mismatch("string", luaValue) }
    self = value
  }
}

extension Double: LuaEncodable, LuaDecodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .number(self) }
  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) {
    switch luaValue {
    case .number(let value): self = value
    case .integer(let value): self = Double(value)
    default: throw .mismatch("number", luaValue)
    }
  }
}

extension Float: LuaEncodable, LuaDecodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .number(Double(self)) }
  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) {
    let value = try Double(luaValue: luaValue)
    guard let float = Float(inRange: value) else {
      throw LuaError(.type, "number is out of the range of Float")
    }
    self = float
  }

  /// Makes the nearest value; nil if that would be infinite although `value` is not.
  package init?(inRange value: Double) {
    self.init(value)
    if isInfinite && value.isFinite { return nil }
  }
}

/// Integers accept Lua integers and whole floats, both within range.
extension FixedWidthInteger where Self: LuaEncodable, Self: LuaDecodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    guard let value = Int64(exactly: self) else {
      throw LuaError(.type, "\(self) does not fit into an integer of Lua")
    }
    return .integer(value)
  }

  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) {
    let exact: Self?
    switch luaValue {
    case .integer(let value): exact = Self(exactly: value)
    case .number(let value):
      guard let whole = Int64(exactly: value) else {
        throw LuaError(.type, "number has no integer representation")
      }
      exact = Self(exactly: whole)
    default: throw .mismatch("number", luaValue)
    }
    guard let exact else {
      throw LuaError(.type, "number is out of the range \(Self.min)...\(Self.max)")
    }
    self = exact
  }
}

extension Int: LuaEncodable, LuaDecodable {}
extension Int8: LuaEncodable, LuaDecodable {}
extension Int16: LuaEncodable, LuaDecodable {}
extension Int32: LuaEncodable, LuaDecodable {}
extension Int64: LuaEncodable, LuaDecodable {}
extension UInt: LuaEncodable, LuaDecodable {}
extension UInt8: LuaEncodable, LuaDecodable {}
extension UInt16: LuaEncodable, LuaDecodable {}
extension UInt32: LuaEncodable, LuaDecodable {}
extension UInt64: LuaEncodable, LuaDecodable {}

extension Optional: LuaEncodable where Wrapped: LuaEncodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    guard let value = self else { return .nil }
    return try value.luaValue(in: state)
  }
}

extension Optional: LuaDecodable where Wrapped: LuaDecodable {
  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) {
    self = luaValue == .nil ? nil : try Wrapped(luaValue: luaValue)
  }
}

extension LuaTable: LuaEncodable, LuaDecodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .table(self) }
  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .table(let value) = luaValue else { throw .mismatch("table", luaValue) }
    self = value
  }
}

extension LuaFunction: LuaEncodable, LuaDecodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .function(self) }
  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .function(let value) = luaValue else { throw .mismatch("function", luaValue) }
    self = value
  }
}

extension LuaUserdata: LuaEncodable, LuaDecodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .userdata(self) }
  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .userdata(let value) = luaValue else { throw .mismatch("userdata", luaValue) }
    self = value
  }
}

extension LuaThread: LuaEncodable, LuaDecodable {
  /// The value in Lua.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .thread(self) }
  /// Makes a value from a Lua value.
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .thread(let value) = luaValue else { throw .mismatch("thread", luaValue) }
    self = value
  }
}
