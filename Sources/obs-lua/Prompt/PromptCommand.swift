/// A word that the prompt itself understands if it has no meaning in Lua.
enum PromptCommand: String {
  case help
  case exit

  /// Recognizes a command: the word alone if no global variable has this name, or the word after a
  /// dot, with which no Lua code begins.
  ///
  /// Nil for other entries.
  init?(_ entry: String, isGlobal: (String) -> Bool) {
    let word = entry.drop { $0 == " " || $0 == "\t" }
      .reversed().drop { $0 == " " || $0 == "\t" }.reversed()
    let hasDot = word.first == "."
    guard let command = PromptCommand(rawValue: String(hasDot ? word.dropFirst() : word[...])),
      hasDot || !isGlobal(command.rawValue)
    else { return nil }
    self = command
  }

  /// The text of `help`, at a line of the prompt.
  static func helpText(at line: Int) -> String {
    """
    Lua statements are run, and expressions are printed; an entry may have several lines.
    Tab completes names, key paths in strings, and modules. Up and Ctrl-R find earlier entries.
    Errors and obs.why call this entry prompt:\(line). Ctrl-C drops an entry or stops what runs.
      obs.describe(t)    who observes t
      obs.why(w)         what made a watcher run, obs.whynot(w) why it didn't
      obs.log(print)     all events; obs.log(nil) stops them
    exit or Ctrl-D ends the prompt; timers and tasks go on until a second Ctrl-D.

    """
  }
}
