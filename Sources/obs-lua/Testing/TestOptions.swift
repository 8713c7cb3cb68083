/// The options of the test runner.
struct TestOptions {
  var isOn = false
  private(set) var writesTap = false
  private(set) var resultFile: String?
  private(set) var filter = ""
  private(set) var jobs: Int?
  private(set) var endsAtFailure = false
  private(set) var findsLeaks = false

  /// Sets an option; returns false if its value is wrong.
  mutating func take(_ name: Options.Name, _ value: String) -> Bool {
    switch name {
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
