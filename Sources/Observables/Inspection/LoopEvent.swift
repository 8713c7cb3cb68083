/// Something that happened in a loop, as ``Loop/log(_:)`` reports it.
///
/// It has a property for each thing that some kind of event tells.
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
  /// The object that was written, has the lazy property, or is observed, as `describe` names it.
  public package(set) var object: String?
  /// The key that was written, or the lazy property.
  public package(set) var key: String?
  /// The name of the watcher.
  public package(set) var name: String?
  /// Where the watcher was registered, the lazy property is declared, or, in a script, the write
  /// is.
  public package(set) var site: String?
  /// The path that was registered.
  public package(set) var path: String?
  /// The value of before, of a write or a computation; nil where it is not known.
  public package(set) var old: RecordedValue?
  /// The value of afterwards, of a write or a computation; nil where it is not known.
  public package(set) var new: RecordedValue?
  /// The turn of the loop in which it happened.
  public let turn: Int
  /// The flush within the turn, counted from 1; nil outside of flushes.
  public let flush: Int?
  /// Whether the value is the one from before.
  public package(set) var isEqual = false
  /// Whether the getter has thrown an error.
  public package(set) var hasFailed = false

  /// The part of the program to which it belongs, decided when it happens; 0 for the rest of it.
  package var owner: UInt32 = 0
  /// Whether another part of the program has caused it.
  package var isCausedByOthers = false
  /// The values themselves, in a form of the bridge that reports the event.
  package var values: (any EventValues)?

  package init(_ kind: Kind, turn: Int, flush: Int?) {
    (self.kind, self.turn, self.flush) = (kind, turn, flush)
  }
}

/// The values of an event, in a form of a bridge.
package protocol EventValues: AnyObject, Sendable {
  /// About how many bytes they take outside of the memory of their language.
  var size: Int { get }
}

extension LoopEvent {
  /// About how many bytes it takes.
  package var size: Int {
    let texts = [object, key, name, site, path].reduce(0) { $0 + ($1?.heapSize ?? 0) }
    let values = (old?.heapSize ?? 0) + (new?.heapSize ?? 0) + (self.values?.size ?? 0)
    return MemoryLayout<LoopEvent>.stride + texts + values
  }
}

extension LoopEvent: CustomStringConvertible {
  /// "turn 3, flush 1: write 'name' of Person ("Ann" → "Bob")", with what else is known.
  public var description: String {
    var words = [turnText(turn, flush: flush) + ": \(kind.rawValue)"]
    if let key { words.append("'\(key)'") }
    if let name { words.append(name) }
    if let path { words.append("on '\(path)'") }
    if let object { words.append("of \(object)") }
    if let change = RecordedValue.text(from: old, to: new) { words.append("(\(change))") }
    if let site, site != name { words.append("at \(site)") }
    if isEqual { words.append("(equal)") }
    if hasFailed { words.append("(failed)") }
    return words.joined(separator: " ")
  }
}

/// "turn 3", or "turn 3, flush 2".
package func turnText(_ turn: Int, flush: Int?) -> String {
  "turn \(turn)" + (flush.map { ", flush \($0)" } ?? "")
}
