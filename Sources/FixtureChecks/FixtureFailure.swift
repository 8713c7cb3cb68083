/// A failure that a run of a fixture found, and its place.
package struct FixtureFailure: Equatable {
  /// The path of the file as it is shown; it may be a file that the fixture loaded.
  package let file: String
  package let line: Int
  package let message: String

  /// The message with the place in front, unless Lua has put it there.
  package var text: String {
    message.hasPrefix("\(file):\(line):") ? message : "\(file):\(line): \(message)"
  }
}

/// The line of a script that an error's texts name.
///
/// `name` is the name of the script in messages. The position in front of the message is the one
/// that the script blames; else it is the innermost line of the traceback; else where the failing
/// callback was registered, or what else the message names.
func line(of name: String, message: String, traceback: String?, site: String = "") -> Int? {
  func line(_ text: Substring) -> Int? {
    guard text.hasPrefix("\(name):") else { return nil }
    return Int(text.dropFirst(name.count + 1).prefix { $0.isASCII && $0.isNumber })
  }
  if let found = line(message[...]) { return found }
  for entry in (traceback ?? "").split(separator: "\n") {
    if let found = line(entry.drop { $0 == "\t" }) { return found }
  }
  return line(site[...])
    ?? message.firstRange(of: "\(name):").flatMap { line(message[$0.lowerBound...]) }
}
