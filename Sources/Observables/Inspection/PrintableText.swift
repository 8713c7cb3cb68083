extension Unicode.Scalar {
  /// The scalar itself, or a visible symbol if the scalar would control a terminal, end a line, or
  /// change the direction of the text after it.
  package var printable: Unicode.Scalar {
    switch value {
    case 0..<0x20: Unicode.Scalar(0x2400 + value)!
    case 0x7F: "\u{2421}"
    case 0x80...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: "\u{FFFD}"
    default: self
    }
  }
}

extension StringProtocol {
  /// The text for people: on one line, without characters that control a terminal.
  ///
  /// For texts that may contain anything, such as a message of another program. No format of ours
  /// has to escape the symbols.
  package var printable: String {
    var result = ""
    for scalar in unicodeScalars { result.unicodeScalars.append(scalar.printable) }
    return result
  }
}
