/// The options of the test runner.
struct TestOptions {
  var isOn = false
  private(set) var writesTap = false
  private(set) var resultFile: String?
  private(set) var filter = ""
  private(set) var jobs: Int?
  private(set) var endsAtFailure = false
  private(set) var findsLeaks = false
  private(set) var lists = false
  private(set) var tags: [String] = []
  private(set) var excludedTags: [String] = []
  private(set) var shuffles = false
  /// The number that determines the random order; nil for any.
  private(set) var seed: UInt64?
  private(set) var repetitions = 1
  /// The file for the lines that ran; nil if they are not counted.
  private(set) var coverageFile: String?

  /// Whether some cases of files whose names match the filter may be left out.
  var choosesByTags: Bool { !tags.isEmpty || !excludedTags.isEmpty }

  /// Sets an option; returns false if its value is wrong.
  mutating func take(_ name: Options.Name, _ given: String?) -> Bool {
    let value = given ?? ""
    switch name {
    case .list:
      lists = true
    case .tags where !value.isEmpty:
      tags += value.split(separator: ",").map(String.init)
    case .excludeTags where !value.isEmpty:
      excludedTags += value.split(separator: ",").map(String.init)
    case .shuffle:
      shuffles = true
      seed = given.flatMap { UInt64($0) }
      return given == nil || seed != nil
    case .repeat:
      guard let number = Int(value), (1...1_000_000).contains(number) else { return false }
      repetitions = number
    case .coverage where given != "":
      coverageFile = given ?? "lcov.info"
    case .tap:
      writesTap = true
    case .failFast:
      endsAtFailure = true
    case .leaks:
      findsLeaks = true
    case .junit where !value.isEmpty:
      resultFile = value
    case .filter where !value.isEmpty:
      filter = value
    case .jobs:
      guard let number = Int(value), (1...1024).contains(number) else { return false }
      jobs = number
    default:
      return false
    }
    return true
  }
}
