/// An output format for results.
protocol TestReport {
  /// The text for a finished file.
  mutating func text(for result: TestResult) -> String
  /// The text after all files.
  func end() -> String
}

/// A line for each case, for people.
struct LineReport: TestReport {
  private var passed = 0
  private var failed = 0

  mutating func text(for result: TestResult) -> String {
    let cases = result.shownCases
    guard !cases.isEmpty || !result.output.isEmpty else { return "" }
    var text = "\(result.path.printable)\n"
    if !result.output.isEmpty {
      text += result.output.hasSuffix("\n") ? result.output : result.output + "\n"
    }
    for each in cases {
      let isGood = each.failures.isEmpty
      if isGood { passed += 1 } else { failed += 1 }
      text += "  \(isGood ? "✓" : "✗") \(each.name.printable)\n"
      for failure in each.failures { text += failure.indented(by: "      ") }
    }
    return text
  }

  func end() -> String { "\(passed) passed, \(failed) failed\n" }
}

/// The Test Anything Protocol, version 13, with the plan at the end.
struct TapReport: TestReport {
  private var count = 0
  private var hasBegun = false

  mutating func text(for result: TestResult) -> String {
    var text = hasBegun ? "" : "TAP version 13\n"
    hasBegun = true
    text += result.output.isEmpty ? "" : result.output.indented(by: "# ")
    for each in result.shownCases {
      count += 1
      let name = "\(result.path): \(each.name)".printable.escapedForTap
      text += "\(each.failures.isEmpty ? "ok" : "not ok") \(count) - \(name)\n"
      for failure in each.failures { text += failure.indented(by: "# ") }
    }
    return text
  }

  func end() -> String { "1..\(count)\n" }
}

extension String {
  /// Its lines, each after `prefix` and followed by a line break.
  fileprivate func indented(by prefix: String) -> String {
    var lines = split(omittingEmptySubsequences: false) { $0.isNewline }
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { prefix + $0 + "\n" }.joined()
  }

  /// The text on one line, without characters that control a terminal.
  fileprivate var printable: String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case _ where scalar.value < 32 || scalar.value == 127: result += "?"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The text without `#`, which would start a directive such as TODO that excuses a failure.
  fileprivate var escapedForTap: String {
    var result = ""
    for character in self {
      if character == "#" || character == "\\" { result += "\\" }
      result.append(character)
    }
    return result
  }
}
