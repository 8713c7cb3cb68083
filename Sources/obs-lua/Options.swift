internal import Observables

/// The options that `lua` doesn't have; all of them are long.
struct Options {
  /// The effect on the loop of an error that no code catches.
  enum ErrorAction: String, CaseIterable {
    case stop, `continue`
  }

  /// A limit on the time that the program may take.
  struct TimeLimit {
    var seconds: Double
    /// The number as it was written.
    var text: UnsafePointer<CChar>
  }

  enum Name: String, CaseIterable {
    case help = "--help"
    case version = "--version"
    case error = "--error"
    case virtualTime = "--virtual-time"
    case timeout = "--timeout"

    /// The value that has to follow the `=`; nil where none may.
    var value: String? {
      switch self {
      case .help, .version, .virtualTime: nil
      case .error: "stop|continue"
      case .timeout: "SECONDS"
      }
    }

    var summary: String {
      switch self {
      case .help: "show this text"
      case .version: "show the versions of obs-lua and Lua"
      case .error: "after an error: end the loop with status 1 (stop), or go on"
      case .virtualTime: "timers don't wait: time passes when nothing else is left to do"
      case .timeout: "end with status 124 when this time has passed"
      }
    }

    /// The option as the help shows it.
    var usage: String { value.map { "\(rawValue)=\($0)" } ?? rawValue }
  }

  private(set) var asksForHelp = false
  private(set) var asksForVersion = false
  private(set) var errorAction = ErrorAction.stop
  private(set) var usesVirtualTime = false
  private(set) var timeLimit: TimeLimit?

  /// - Throws: `Misuse` if there is no such option, or if its value is wrong.
  mutating func take(_ argument: UnsafePointer<CChar>) throws(Misuse) {
    let text = String(cString: argument)
    let equals = text.utf8.firstIndex(of: UInt8(ascii: "="))
    let written = String(text[..<(equals ?? text.endIndex)])
    guard let name = Name(rawValue: written) else {
      throw .unknownOption(written, nearest: Self.nearest(to: written))
    }
    let value = equals.map { String(text[text.index(after: $0)...]) }
    guard (value == nil) == (name.value == nil) else { throw .wrongValue(name) }
    switch name {
    case .help:
      asksForHelp = true
    case .version:
      asksForVersion = true
    case .virtualTime:
      usesVirtualTime = true
    case .error:
      guard let action = value.flatMap(ErrorAction.init(rawValue:)) else { throw .wrongValue(name) }
      errorAction = action
    case .timeout:
      guard let seconds = value.flatMap(Double.init), seconds > 0, seconds <= 1e9 else {
        throw .wrongValue(name)
      }
      let prefix = name.rawValue.utf8.count + 1
      timeLimit = TimeLimit(seconds: seconds, text: argument + prefix)
    }
  }

  private static func nearest(to written: String) -> Name? {
    nearestName(to: written, among: Name.allCases.map(\.rawValue)).flatMap(Name.init)
  }
}
