/// Splits the text of a path into components (P1, P2).
struct PathParser {
  private let bytes: [UInt8]
  private let language: Language
  private var position = 0
  private var components: [Path.Component] = []

  /// The language in which errors explain how to make a path of exact keys.
  enum Language { case swift, lua }

  init(bytes: [UInt8], language: Language = .swift) {
    (self.bytes, self.language) = (bytes, language)
  }

  mutating func parse() throws(PathError) -> [Path.Component] {
    if bytes.isEmpty { throw PathError(.emptyPath, path: "", component: 1) }
    repeat {
      let start = position
      let (text, escaped) = try readText()
      components.append(try component(text, verbatim: escaped, at: start))
    } while skipDot()
    return components
  }

  /// Parses the components before the last one, which may be incomplete; also returns the position
  /// of the last one.
  mutating func parseBeginning() throws(PathError) -> (components: [Path.Component], last: Int) {
    while true {
      let start = position
      let (text, escaped) = try readText()
      guard skipDot() else { return (components, start) }
      components.append(try component(text, verbatim: escaped, at: start))
    }
  }

  private mutating func readText() throws(PathError) -> (text: [UInt8], isEscaped: Bool) {
    let start = position
    var text: [UInt8] = []
    var escaped = false
    while position < bytes.count, bytes[position] != UInt8(ascii: ".") {
      if bytes[position] == UInt8(ascii: "\\") {
        position += 1
        if position == bytes.count { throw error(.danglingEscape, at: start) }
        // An escaped mark is part of the name: `\*` is a key called "*".
        escaped = true
      }
      text.append(bytes[position])
      position += 1
    }
    return (text, escaped)
  }

  private mutating func skipDot() -> Bool {
    if position == bytes.count { return false }
    position += 1
    return true
  }

  private func component(
    _ text: [UInt8], verbatim: Bool, at start: Int
  ) throws(PathError) -> Path.Component {
    if text.isEmpty { throw error(.emptyComponent, at: start) }
    if !verbatim { try checkSpelling(of: text, at: start) }
    let written = bytes[start]
    if verbatim && written == UInt8(ascii: "\\") { return .init(kind: .name, bytes: text) }
    switch written {
    case UInt8(ascii: "*") where text.count == 1:
      return .init(kind: .every, bytes: text)
    case UInt8(ascii: "*") where text == Array("**".utf8):
      return .init(kind: .deep, bytes: text)
    case UInt8(ascii: "#"):
      guard let number = number(text.dropFirst()) else { throw error(.missingNumber, at: start) }
      return .init(kind: .slot, bytes: Array(text.dropFirst()), number: number)
    case UInt8(ascii: "&") where text.count > 1:
      return .init(kind: .member, bytes: Array(text.dropFirst()))
    case UInt8(ascii: "@") where text.count > 1:
      return .init(kind: .operation, bytes: Array(text.dropFirst()))
    default:
      if let number = number(text[...]) {
        return .init(kind: .element, bytes: text, number: number)
      }
      return .init(kind: .name, bytes: text)
    }
  }

  /// Rejects the notation of other systems, which would be read as names that no object has.
  private func checkSpelling(of text: [UInt8], at start: Int) throws(PathError) {
    // Most names contain no suspicious characters, and names of members can contain any character.
    guard text.first != UInt8(ascii: "&"), text.count > 1 || text[0] != UInt8(ascii: "*"),
      text.contains(where: { $0 <= UInt8(ascii: " ") || $0 == UInt8(ascii: "*") || $0 == 0x5D })
    else { return }
    let spelling = PathSpelling(String(decoding: text, as: UTF8.self))
    guard let complaint = spelling.complaint else { return }
    var parts = String(decoding: bytes, as: UTF8.self).split(
      separator: ".", omittingEmptySubsequences: false
    ).map(String.init)
    let exact = parts.map { "\"\($0)\"" }.joined(separator: ", ")
    parts = parts.map { PathSpelling($0).correction ?? $0 }
    let meant =
      spelling.correction == nil ? "" : "; '\(parts.joined(separator: "."))' is probably meant"
    let path = language == .lua ? "obs.path" : "Path"
    throw error(
      .misspelling, at: start,
      detail: "\(complaint)\(meant) (keys with such names: \(path)(\(exact)))")
  }

  private func number(_ digits: ArraySlice<UInt8>) -> Int? {
    if digits.isEmpty { return nil }
    var value = 0
    for digit in digits {
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(Int(digit) - 48)
      if overflow || carry { return nil }
      value = sum
    }
    return value
  }

  private func error(
    _ code: PathError.Code, at offset: Int, detail: String = ""
  ) -> PathError {
    PathError(
      code, path: String(decoding: bytes, as: UTF8.self), component: components.count + 1,
      offset: offset, detail: detail)
  }
}
