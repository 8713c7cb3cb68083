internal import CCommandLine

/// An argument that the program cannot use.
enum Misuse: Error {
  /// An unknown option in the style of `lua`.
  case unknownLetter(String)
  /// `-e` or `-l` without its argument.
  case needsArgument(String)
  case unknownOption(String, nearest: Options.Name?)
  case wrongValue(Options.Name)
  /// An option without another option that it needs.
  case needsOption(Options.Name, Options.Name)
  /// An option without the script or tests to which it applies.
  case needsScript(Options.Name)
  /// An option without the recording to which it applies.
  case needsRecording(Options.Name)
  /// An option for something that other systems lack.
  case needsLinux(Options.Name)
  /// An argument that has no meaning together with the option.
  case excluded(String, by: Options.Name)

  /// The exit status: 1 if `lua` would complain as well.
  var status: CInt {
    switch self {
    case .unknownLetter, .needsArgument: 1
    case .unknownOption, .wrongValue, .needsOption, .needsScript, .needsRecording, .needsLinux,
      .excluded:
      2
    }
  }

  /// Writes the error and the correct usage to the standard error stream.
  func report(name: UnsafePointer<CChar>) {
    ccl_writeerror(name, message)
    if status == 1 { ccl_writeerror(nil, Usage.ofLua(name: String(cString: name))) }
  }

  var message: String {
    switch self {
    case .unknownLetter(let option): return "unrecognized option '\(option)'"
    case .needsArgument(let option): return "'\(option)' needs argument"
    case .unknownOption(let option, let nearest):
      let hint = nearest.map { "did you mean '\($0.usage)'?" } ?? "see --help"
      return "unrecognized option '\(option)' (\(hint))"
    case .needsOption(let option, let other): return "'\(option.rawValue)' needs '\(other.usage)'"
    case .needsScript(let option):
      return "'\(option.rawValue)' needs a script, or '--test' with files"
    case .needsRecording(let option): return "'\(option.rawValue)' needs one recording"
    case .needsLinux(let option): return "'\(option.rawValue)' needs Linux"
    case .excluded(let argument, let option):
      return "'\(argument)' cannot be used with '\(option.rawValue)'"
    case .wrongValue(let option):
      let rule = option.value == nil ? "takes no value" : "is written '\(option.usage)'"
      let detail = option.valueRule.map { ", with \($0)" } ?? ""
      return "'\(option.rawValue)' \(rule)\(detail)"
    }
  }
}
