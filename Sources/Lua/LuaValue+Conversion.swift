extension LuaValue: LuaEncodable, LuaDecodable {
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { self }
  public init(luaValue: LuaValue) throws(LuaError) { self = luaValue }
  public static var luaTypeName: String { "value" }
}

extension Bool: LuaEncodable, LuaDecodable {
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .boolean(self) }
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .boolean(let value) = luaValue else { throw .mismatch("boolean", luaValue) }
    self = value
  }
  public static var luaTypeName: String { "boolean" }
}

extension String: LuaEncodable, LuaDecodable {
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    .string(LuaString(self))
  }
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .string(let value) = luaValue else { throw .mismatch("string", luaValue) }
    guard let text = value.text else {
      throw LuaError(.type, "text expected, got a string that is not valid UTF-8")
    }
    self = text
  }
  public static var luaTypeName: String { "string" }
}

extension LuaString: LuaEncodable, LuaDecodable {
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .string(self) }
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .string(let value) = luaValue else { throw .mismatch("string", luaValue) }
    self = value
  }
  public static var luaTypeName: String { "string" }
}

extension Double: LuaEncodable, LuaDecodable {
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .number(self) }
  public init(luaValue: LuaValue) throws(LuaError) {
    switch luaValue {
    case .number(let value): self = value
    case .integer(let value): self = Double(value)
    default: throw .mismatch("number", luaValue)
    }
  }
  public static var luaTypeName: String { "number" }
}

extension Float: LuaEncodable, LuaDecodable {
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .number(Double(self)) }
  public init(luaValue: LuaValue) throws(LuaError) { self.init(try Double(luaValue: luaValue)) }
  public static var luaTypeName: String { "number" }
}

/// Integers take integers of Lua, and floats that are whole; both must be within range.
extension FixedWidthInteger where Self: LuaEncodable, Self: LuaDecodable {
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    guard let value = Int64(exactly: self) else {
      throw LuaError(.type, "\(self) does not fit into an integer of Lua")
    }
    return .integer(value)
  }

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

  public static var luaTypeName: String { "number" }
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
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    guard let value = self else { return .nil }
    return try value.luaValue(in: state)
  }
}

extension Optional: LuaDecodable where Wrapped: LuaDecodable {
  public init(luaValue: LuaValue) throws(LuaError) {
    self = luaValue == .nil ? nil : try Wrapped(luaValue: luaValue)
  }
  public static var luaTypeName: String { "\(Wrapped.luaTypeName) or nil" }
}

extension LuaTable: LuaEncodable, LuaDecodable {
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .table(self) }
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .table(let value) = luaValue else { throw .mismatch("table", luaValue) }
    self = value
  }
  public static var luaTypeName: String { "table" }
}

extension LuaFunction: LuaEncodable, LuaDecodable {
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .function(self) }
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .function(let value) = luaValue else { throw .mismatch("function", luaValue) }
    self = value
  }
  public static var luaTypeName: String { "function" }
}

extension LuaUserdata: LuaEncodable, LuaDecodable {
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .userdata(self) }
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .userdata(let value) = luaValue else { throw .mismatch("userdata", luaValue) }
    self = value
  }
  public static var luaTypeName: String { "userdata" }
}

extension LuaThread: LuaEncodable, LuaDecodable {
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue { .thread(self) }
  public init(luaValue: LuaValue) throws(LuaError) {
    guard case .thread(let value) = luaValue else { throw .mismatch("thread", luaValue) }
    self = value
  }
  public static var luaTypeName: String { "thread" }
}
