/// Something that happened in a loop, as ``Loop/log(_:)`` reports it.
public struct LoopEvent: Sendable {
  /// What happened.
  public enum Kind: String, Sendable {
    /// An observed key was written.
    case write
    /// A watcher is called.
    case call
    /// A path was registered.
    case observe
    /// A watcher ended.
    case end
    /// A lazy property became invalid.
    case invalidate
    /// The getter of a lazy property has run.
    case compute
  }

  /// What happened.
  public let kind: Kind
  /// The key that was written, or the lazy property.
  public package(set) var key: String?
  /// The name of the watcher.
  public package(set) var name: String?
  /// Where the watcher was registered, the lazy property is declared, or, in a script, the write
  /// is.
  public package(set) var site: String?
  /// The path that was registered.
  public package(set) var path: String?
  /// The turn of the loop in which it happened.
  public let turn: Int
  /// Whether the value is the one from before.
  public package(set) var isEqual = false
  /// Whether the getter has thrown an error.
  public package(set) var hasFailed = false

  package init(_ kind: Kind, turn: Int) { (self.kind, self.turn) = (kind, turn) }
}

extension LoopEvent: CustomStringConvertible {
  /// "turn 3: write 'name'", with what else is known.
  public var description: String {
    var words = ["turn \(turn): \(kind.rawValue)"]
    if let key { words.append("'\(key)'") }
    if let name { words.append(name) }
    if let path { words.append("on '\(path)'") }
    if let site, site != name { words.append("at \(site)") }
    if isEqual { words.append("(equal)") }
    if hasFailed { words.append("(failed)") }
    return words.joined(separator: " ")
  }
}
