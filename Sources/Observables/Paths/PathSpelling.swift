/// The text of a component that only has a meaning in other notations: the mistake, and the correct
/// notation (P2).
struct PathSpelling {
  private let text: String

  init(_ text: String) { self.text = text }

  /// A description of the mistake; nil if the text is right.
  var complaint: String? {
    if text == "**" { return nil }
    if trimmed.utf8.count < text.utf8.count { return "a name does not begin or end with a space" }
    if brackets != nil { return "write an element as a separate component, without brackets" }
    if text.hasPrefix("*"), text != "*" { return "write '*' as a separate component" }
    return nil
  }

  /// The components that were probably meant; nil if that is not clear.
  var correction: String? {
    if let brackets {
      let key = brackets.key.trimmingQuotes
      return key.isEmpty ? nil : brackets.name.isEmpty ? key : "\(brackets.name).\(key)"
    }
    if trimmed.hasPrefix("*"), trimmed != "*" {
      let name = trimmed.dropFirst()
      return name.contains("*") ? nil : "*.\(name)"
    }
    return trimmed.isEmpty ? nil : trimmed
  }

  private var trimmed: String {
    let isText = { (character: Character) in !character.isWhitespace }
    guard let first = text.firstIndex(where: isText), let last = text.lastIndex(where: isText)
    else {
      return ""
    }
    return String(text[first...last])
  }

  /// The parts of `name[key]`.
  private var brackets: (name: String, key: String)? {
    let text = trimmed
    guard text.hasSuffix("]"), let opening = text.firstIndex(of: "[") else { return nil }
    return (
      String(text[..<opening]), String(text[text.index(after: opening)...].dropLast())
    )
  }
}

extension String {
  /// The text without quotation marks at both ends.
  fileprivate var trimmingQuotes: String {
    guard count >= 2, let first, first == last, first == "\"" || first == "'" else { return self }
    return String(dropFirst().dropLast())
  }
}
