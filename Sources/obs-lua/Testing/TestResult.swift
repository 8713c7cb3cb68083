/// What came of a case.
struct TestCase {
  var name: String
  var failures: [String] = []
  var isOpen = true
}

/// What came of a file, as the records of its process tell it.
struct TestResult {
  let path: String
  private(set) var cases: [TestCase] = []
  /// What failed outside of all cases.
  private(set) var failures: [String] = []
  private(set) var didLoad = true
  /// The files of Lua that it has loaded, itself among them.
  private(set) var loaded: [String] = []
  /// Whether the filter left cases out.
  private(set) var leftOut = false
  /// Whether the process said that it had come to the end.
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
    case .ended(let number):
      if cases.indices.contains(number - 1) { cases[number - 1].isOpen = false }
    case .loads(let path):
      loaded.append(path)
    case .notLoaded:
      didLoad = false
    case .leftOut:
      leftOut = true
    case .complete:
      isComplete = true
    }
  }

  /// Notes that the process ended, or was ended, before the file had come to its end.
  mutating func end(because reason: String) {
    fail("\(path): \(reason)", in: (cases.lastIndex { $0.isOpen } ?? -1) + 1)
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
  /// The file is one where it failed itself, or has checks without a case.
  var shownCases: [TestCase] {
    guard !failures.isEmpty || cases.isEmpty && !leftOut else { return cases }
    return cases + [TestCase(name: "the file", failures: failures)]
  }
}
