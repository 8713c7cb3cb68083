/// The texts that describe the program's usage.
enum Usage {
  /// The text that `lua` writes after an unknown option.
  static func ofLua(name: String) -> String {
    """
    usage: \(name) [options] [script [args]]
    Available options are:
      -e stat   execute string 'stat'
      -i        enter interactive mode after executing 'script'
      -l mod    require library 'mod' into global 'mod'
      -l g=mod  require library 'mod' into global 'g'
      -v        show version information
      -E        ignore environment variables
      -W        turn warnings on
      --        stop handling options
      -         stop handling options and execute stdin
    """
  }

  /// The text of `--help`.
  static func help(name: String) -> String {
    let width = Options.Name.allCases.map(\.usage.utf8.count).max() ?? 0
    let lines = Options.Name.allCases.map { option in
      let padding = String(repeating: " ", count: width - option.usage.utf8.count)
      return "  \(option.usage)\(padding)  \(option.summary)\n"
    }
    return ofLua(name: name) + "\nand options that lua doesn't have:\n" + lines.joined()
  }
}
