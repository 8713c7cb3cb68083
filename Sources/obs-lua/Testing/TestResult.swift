/// The result of a case.
struct TestCase {
  var name: String
  var failures: [String] = []
  /// Why it did not run, or not to its end.
  var skipReason: String?
  var remarks: [String] = []
  var isOpen = true

  var outcome: Outcome { failures.isEmpty ? (skipReason == nil ? .passed : .skipped) : .failed }

  enum Outcome {
    case passed, failed, skipped
  }
}

/// The result of a file, from the records of its process.
struct TestResult {
  let path: String
  private(set) var cases: [TestCase] = []
  /// The failures outside of all cases.
  private(set) var failures: [String] = []
  private(set) var didLoad = true
  /// The Lua files that it has loaded, including itself, and their stamps then.
  private(set) var loaded: [String: String] = [:]
  /// Whether the filter skipped any cases.
  private(set) var leftOut = false
  /// For each covered file, how often each line ran that can run.
  private(set) var covered: [String: [Int: Int]] = [:]
  /// Whether the process reported that it reached the end.
  private(set) var isComplete = false
  var output = ""
  var seconds = 0.0

  init(path: String) { self.path = path }

  mutating func take(_ record: TestRecord) {
    switch record {
    case .began(let sentence):
      cases.append(TestCase(name: sentence))
    case .failed(let number, let text):
      fail(text, in: number)
    case .skipped(let number, let reason):
      if cases.indices.contains(number - 1) { cases[number - 1].skipReason = reason }
    case .remarked(let number, let text):
      if cases.indices.contains(number - 1) { cases[number - 1].remarks.append(text) }
    case .ended(let number):
      if cases.indices.contains(number - 1) { cases[number - 1].isOpen = false }
    case .loads(let path, let stamp):
      loaded[path] = stamp
    case .notLoaded:
      didLoad = false
    case .leftOut:
      leftOut = true
    case .covered(let path, let counts):
      covered[path] = counts
    case .complete:
      isComplete = true
    }
  }

  /// Records that the process ended, or was ended, before the file reached its end.
  mutating func end(because reason: String) {
    let last = (cases.lastIndex { $0.isOpen } ?? -1) + 1
    fail("\(path): \(reason)", in: last)
    for index in cases.indices where cases[index].isOpen && index != last - 1 {
      fail("\(path): \(cases[index].name): it did not finish", in: index + 1)
    }
  }

  private mutating func fail(_ text: String, in number: Int) {
    if cases.indices.contains(number - 1) {
      cases[number - 1].failures.append(text)
    } else {
      failures.append(text)
    }
  }

  var hasFailed: Bool { !failures.isEmpty || cases.contains { !$0.failures.isEmpty } }

  /// The cases to show.
  ///
  /// The file itself is shown as a case if it failed, or has checks outside of cases.
  var shownCases: [TestCase] {
    guard !failures.isEmpty || cases.isEmpty && !leftOut else { return cases }
    return cases + [TestCase(name: "the file", failures: failures)]
  }
}
