/// Any Lua value.
///
/// A value that is passed to a state comes back unchanged: integers stay integers, 1.0 stays a
/// float, strings are bytes, and a table is the same table.
///
/// Two values are equal as in `rawequal`, except that 1 and 1.0 differ here, and NaN equals
/// nothing.
public enum LuaValue: Sendable, Hashable {
  /// No value.
  case `nil`
  /// `true` or `false`.
  case boolean(Bool)
  /// A number of the subtype integer.
  case integer(Int64)
  /// A number of the subtype float.
  case number(Double)
  /// A string: any bytes.
  case string(LuaString)
  /// A table, by reference.
  case table(LuaTable)
  /// A function of Lua, C or Swift.
  case function(LuaFunction)
  /// A full userdata, such as a Swift object.
  case userdata(LuaUserdata)
  /// A coroutine.
  case thread(LuaThread)
  /// A light userdata: an address.
  case lightUserdata(LuaAddress)

  /// The name of the type, as returned by `type` in Lua, such as "number".
  public var typeName: String {
    switch self {
    case .nil: "nil"
    case .boolean: "boolean"
    case .integer, .number: "number"
    case .string: "string"
    case .table: "table"
    case .function: "function"
    case .userdata, .lightUserdata: "userdata"
    case .thread: "thread"
    }
  }
}

extension LuaValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral
{
  /// Makes `nil`.
  public init(nilLiteral: ()) { self = .nil }
  /// Makes a boolean.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// Makes an integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Makes a float.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// Makes a string from text.
  public init(stringLiteral value: String) { self = .string(LuaString(value)) }
}

/// The address in a light userdata.
///
/// The library never reads the memory at the address.
public struct LuaAddress: Sendable, Hashable {
  private let bits: UInt

  /// Makes a light userdata from an address.
  public init(_ pointer: UnsafeMutableRawPointer?) { bits = UInt(bitPattern: pointer) }

  /// The address.
  public var pointer: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: bits) }
}
