internal import Observables

/// An output format for results.
protocol TestReport {
  /// The text before all files.
  func begin() -> String
  /// The text of a remark on the run.
  func text(of remark: String) -> String
  /// The text for a finished file.
  mutating func text(for result: TestResult) -> String
  /// The text after all files.
  func end() -> String
}

extension TestReport {
  func begin() -> String { "" }
  func text(of remark: String) -> String { remark }
}

/// The sentences of the cases, for `--list`.
struct ListReport: TestReport {
  mutating func text(for result: TestResult) -> String {
    // Code outside of cases may need the cases, which did not run: its failures are left out.
    let cases = result.didLoad && !result.cases.isEmpty ? result.cases : result.shownCases
    return cases.map { each in
      "\(result.path): \(each.name)".printable + "\n"
        + (result.didLoad ? "" : each.failures.map { $0.indented(by: "    ") }.joined())
    }.joined()
  }

  func end() -> String { "" }
}

/// A line for each case, for people.
struct LineReport: TestReport {
  private var counts: [TestCase.Outcome: Int] = [:]

  mutating func text(for result: TestResult) -> String {
    let cases = result.shownCases
    guard !cases.isEmpty || !result.output.isEmpty else { return "" }
    var text = "\(result.path.printable)\n"
    if !result.output.isEmpty {
      text += result.output.hasSuffix("\n") ? result.output : result.output + "\n"
    }
    for each in cases {
      counts[each.outcome, default: 0] += 1
      let reason = each.outcome == .skipped ? each.skipReason ?? "" : ""
      let mark = [.passed: "✓", .failed: "✗", .skipped: "○"][each.outcome]!
      text += "  \(mark) \(each.name.printable)\(reason.isEmpty ? "" : " (\(reason.printable))")\n"
      for line in each.failures + each.remarks { text += line.indented(by: "      ") }
    }
    return text
  }

  func end() -> String {
    let skipped = counts[.skipped].map { ", \($0) skipped" } ?? ""
    return "\(counts[.passed] ?? 0) passed, \(counts[.failed] ?? 0) failed\(skipped)\n"
  }
}

/// The Test Anything Protocol, version 13, with the plan at the end.
struct TapReport: TestReport {
  private var count = 0

  func begin() -> String { "TAP version 13\n" }

  func text(of remark: String) -> String { remark.indented(by: "# ") }

  mutating func text(for result: TestResult) -> String {
    var text = result.output.isEmpty ? "" : result.output.indented(by: "# ")
    for each in result.shownCases {
      count += 1
      let name = "\(result.path): \(each.name)".printable.escapedForTap
      var directive = ""
      if each.outcome == .skipped { directive = " # SKIP " + (each.skipReason ?? "").printable }
      if directive.hasSuffix(" ") { directive.removeLast() }
      let state = each.outcome == .failed ? "not ok" : "ok"
      text += "\(state) \(count) - \(name)\(directive)\n"
      for line in each.failures + each.remarks { text += line.indented(by: "# ") }
    }
    return text
  }

  func end() -> String { "1..\(count)\n" }
}

extension String {
  /// Its lines for people, each after `prefix` and followed by a line break; tabs stay.
  fileprivate func indented(by prefix: String) -> String {
    var lines = split(omittingEmptySubsequences: false) { $0.isNewline }
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { line in
      prefix
        + line.split(separator: "\t", omittingEmptySubsequences: false)
        .map(\.printable).joined(separator: "\t") + "\n"
    }.joined()
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
