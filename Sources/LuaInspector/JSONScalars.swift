internal import Lua

/// Reads a JSON object whose values are texts, numbers, booleans and null.
struct JSONScalars {
  private var rest: ArraySlice<UInt8>

  /// The values by name; nil if the text is something else.
  static func read(_ text: ArraySlice<UInt8>) -> [String: LuaValue]? {
    var reader = JSONScalars(rest: text)
    guard let object = reader.object() else { return nil }
    reader.skipSpace()
    return reader.rest.isEmpty ? object : nil
  }

  private mutating func object() -> [String: LuaValue]? {
    guard take("{") else { return nil }
    var object: [String: LuaValue] = [:]
    if take("}") { return object }
    repeat {
      guard let name = text(), take(":"), let value = value() else { return nil }
      object[name] = value
    } while take(",")
    return take("}") ? object : nil
  }

  private mutating func skipSpace() { rest = rest.drop { " \t\r\n".utf8.contains($0) } }

  /// Skips white space and the word, if it is next.
  private mutating func take(_ word: StaticString) -> Bool {
    skipSpace()
    let word = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    guard rest.starts(with: word) else { return false }
    rest = rest.dropFirst(word.count)
    return true
  }

  private mutating func value() -> LuaValue? {
    if take("null") { return .nil }
    if take("true") { return .boolean(true) }
    if take("false") { return .boolean(false) }
    if rest.first == UInt8(ascii: "\"") { return text().map { .string(LuaString($0)) } }
    return number()
  }

  private mutating func number() -> LuaValue? {
    let digits = rest.prefix { "+-.eE0123456789".utf8.contains($0) }
    rest = rest.dropFirst(digits.count)
    let text = String(decoding: digits, as: UTF8.self)
    guard let last = digits.last, "0123456789".utf8.contains(last) else { return nil }
    if let integer = Int64(text) { return .integer(integer) }
    return Double(text).flatMap { $0.isFinite ? .number($0) : nil }
  }

  private mutating func text() -> String? {
    guard take("\"") else { return nil }
    var units: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return String(validating: units, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let scalar = escape() else { return nil }
        units += Array(String(scalar).utf8)
      case 0..<0x20: return nil
      default: units.append(byte)
      }
    }
    return nil
  }

  /// The character of an escape, after its backslash.
  private mutating func escape() -> Unicode.Scalar? {
    switch rest.popFirst().map({ Unicode.Scalar($0) }) {
    case "\""?: "\""
    case "\\"?: "\\"
    case "/"?: "/"
    case "b"?: "\u{8}"
    case "f"?: "\u{c}"
    case "n"?: "\n"
    case "r"?: "\r"
    case "t"?: "\t"
    case "u"?: unicodeEscape()
    default: nil
    }
  }

  private mutating func unicodeEscape() -> Unicode.Scalar? {
    guard let unit = codeUnit() else { return nil }
    guard 0xd800..<0xdc00 ~= unit else { return Unicode.Scalar(unit) }
    guard take("\\u"), let low = codeUnit(), 0xdc00..<0xe000 ~= low else { return nil }
    return Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
  }

  private mutating func codeUnit() -> UInt32? {
    let digits = rest.prefix(4)
    rest = rest.dropFirst(digits.count)
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
    else { return nil }
    return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}
