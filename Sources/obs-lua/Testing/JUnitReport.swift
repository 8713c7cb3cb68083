internal import Observables

/// The results in JUnit's XML format.
enum JUnitReport {
  static func text(of results: [TestResult]) -> String {
    let cases = results.flatMap(\.shownCases)
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    text += "<testsuites \(counts(cases))>\n"
    for result in results where !result.shownCases.isEmpty {
      let name = escaped(result.path)
      let time = (result.seconds * 1000).rounded() / 1000
      text += "  <testsuite name=\"\(name)\" \(counts(result.shownCases)) time=\"\(time)\">\n"
      for each in result.shownCases {
        text += "    <testcase classname=\"\(name)\" name=\"\(escaped(each.name))\""
        if each.outcome == .passed {
          text += "/>\n"
          continue
        }
        text += ">\n"
        if each.outcome == .skipped {
          text += "      <skipped message=\"\(escaped(each.skipReason ?? ""))\"/>\n"
        }
        for failure in each.failures {
          let first = failure.split { $0.isNewline }.first.map(String.init) ?? ""
          text += "      <failure message=\"\(escaped(first))\">\(escaped(failure))</failure>\n"
        }
        text += "    </testcase>\n"
      }
      if !result.output.isEmpty {
        text += "    <system-out>\(escaped(result.output))</system-out>\n"
      }
      text += "  </testsuite>\n"
    }
    return text + "</testsuites>\n"
  }

  private static func counts(_ cases: [TestCase]) -> String {
    func count(_ outcome: TestCase.Outcome) -> Int { cases.count { $0.outcome == outcome } }
    return "tests=\"\(cases.count)\" failures=\"\(count(.failed))\" skipped=\"\(count(.skipped))\""
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n": result += "&#10;"
      case "\t": result += "&#9;"
      // XML cannot represent these.
      case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar.printable)
      }
    }
    return result
  }
}
