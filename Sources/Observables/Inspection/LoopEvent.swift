/// An event in a loop, as ``Loop/log(_:)`` reports it.
///
/// It has properties for all kinds of events. A property that does not apply is nil or false.
public struct LoopEvent: Sendable {
  /// The kinds of events.
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

  /// The kind of the event.
  public let kind: Kind
  /// The object that was written, has the lazy property, or is observed, by its name in `describe`.
  public package(set) var object: String?
  /// The key that was written, or the lazy property.
  public package(set) var key: String?
  /// The name of the watcher.
  public package(set) var name: String?
  /// The place where the watcher was registered or the lazy property is declared.
  ///
  /// For a script, also the place of a write.
  public package(set) var site: String?
  /// The path that was registered.
  public package(set) var path: String?
  /// The value before a write or a computation; nil if it is not known.
  public package(set) var old: RecordedValue?
  /// The value after a write or a computation; nil if it is not known.
  public package(set) var new: RecordedValue?
  /// The turn of the loop in which it happened.
  public let turn: Int
  /// The flush within the turn, counted from 1; nil outside of flushes.
  public let flush: Int?
  /// Whether the value is the same as before.
  public package(set) var isEqual = false
  /// Whether the getter threw an error.
  public package(set) var hasFailed = false

  /// The part of the program to which the event belongs, determined when it happens; 0 for the rest
  /// of the program.
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
  /// The approximate number of bytes that they take outside the memory of their language.
  var size: Int { get }
}

extension LoopEvent {
  /// The approximate number of bytes that the event takes.
  package var size: Int {
    let texts = [object, key, name, site, path].reduce(0) { $0 + ($1?.heapSize ?? 0) }
    let values = (old?.heapSize ?? 0) + (new?.heapSize ?? 0) + (self.values?.size ?? 0)
    return MemoryLayout<LoopEvent>.stride + texts + values
  }
}

extension LoopEvent: CustomStringConvertible {
  /// "turn 3, flush 1: write 'name' of Person ("Ann" → "Bob")", plus other known details.
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
