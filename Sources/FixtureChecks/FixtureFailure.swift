/// A failure that a run of a fixture found, and its place.
package struct FixtureFailure: Equatable {
  /// The displayed path of the file, which may be a file that the fixture loaded.
  package let file: String
  package let line: Int
  package let message: String

  /// The message with the place in front, unless Lua has already added it.
  package var text: String {
    message.hasPrefix("\(file):\(line):") ? message : "\(file):\(line): \(message)"
  }
}

/// The line of a script that an error blames.
///
/// `name` is the name of the script in messages. The position in front of the message is used
/// first, then the innermost line of the traceback, then the place where the failing callback was
/// registered, then any other line in the message.
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
