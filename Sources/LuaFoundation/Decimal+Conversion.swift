public import Foundation
public import Lua

/// A decimal number becomes a Lua number if one has the same digits, and otherwise text.
///
/// So 0.1 becomes the number 0.1, and an amount of twenty digits becomes a string. Lua's arithmetic
/// accepts it too, with the precision of floats.
extension Decimal: LuaEncodable, LuaDecodable {
  /// An integer, a float whose shortest text has these digits, or a string.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    let text = "\(self)"
    if let integer = Int64(text) { return .integer(integer) }
    guard let number = Double(text) else { return .string(LuaString(text)) }
    if isNaN || Decimal(number: number) == self { return .number(number) }
    return .string(LuaString(text))
  }

  /// Makes a number from the shortest text of a float, or from the digits of a string.
  public init(luaValue: LuaValue) throws(LuaError) {
    switch luaValue {
    case .integer(let value): self.init(value)
    case .number(let value):
      guard let decimal = Decimal(number: value) else { throw .outOfRange("\(value)") }
      self = decimal
    case .string(let string):
      guard let text = string.text, Decimal.isNumber(text) else {
        throw LuaError("decimal number expected, got '\(string)'")
      }
      guard let decimal = Decimal(text: text) else { throw .outOfRange(text) }
      self = decimal
    default:
      throw LuaError(.type, "decimal number expected, got \(luaValue.typeName)")
    }
  }

  private init?(number: Double) {
    if number.isNaN {
      self = .nan
    } else {
      // The shortest text has the intended digits: the float nearest to 3.133 has 49 more digits.
      guard number.isFinite, let decimal = Decimal(text: "\(number)") else { return nil }
      self = decimal
    }
  }

  /// Makes a number from its text; nil if it is too large.
  private init?(text: String) {
    guard let decimal = Decimal(string: text), !decimal.isNaN else { return nil }
    self = decimal
  }

  /// Whether a text is a number as a whole: Foundation ignores text after a number.
  private static func isNumber(_ text: String) -> Bool {
    text.wholeMatch(of: /[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/.asciiOnlyDigits()) != nil
  }
}

extension LuaError {
  fileprivate static func outOfRange(_ text: String) -> LuaError {
    LuaError("number is out of the range of Decimal: \(text)")
  }
}
