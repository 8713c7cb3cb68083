/// A recorded write to an observed key, or a recorded invalidation of a lazy one (W4).
public struct RecordedWrite: Sendable {
  /// The key that was written.
  public let key: String
  /// The object that was written, by its name in `describe`.
  public package(set) var object: String?
  /// The value before the write; nil if it is not known.
  public package(set) var old: RecordedValue?
  /// The value after the write; nil if it is not known, and for an invalidation.
  public package(set) var new: RecordedValue?
  /// The place in the program that wrote, as "file:line"; nil if it is not known, as in Swift.
  public let site: String?
  /// The turn of the loop in which the write happened.
  public let turn: Int
  /// The flush of that turn in which it happened, counted from 1; nil outside of flushes.
  public let flush: Int?
  /// Whether the program invalidated the key, which is lazy.
  public let isInvalidation: Bool
  /// The lazy properties through which the write concerns a watcher, the nearest to the write
  /// first.
  public internal(set) var through: [String] = []
  /// Whether the object that was written was no longer on the path when the watcher was called.
  public internal(set) var hasLeft = false
  /// Whether the watched property was computed again, with an equal value.
  var isRecomputed = false

  package init(
    key: String, site: String?, turn: Int, flush: Int? = nil, isInvalidation: Bool = false
  ) {
    (self.key, self.site, self.turn, self.flush) = (key, site, turn, flush)
    self.isInvalidation = isInvalidation
  }
}

extension RecordedWrite {
  /// The approximate number of bytes that the record takes.
  var size: Int {
    let texts = key.heapSize + (object?.heapSize ?? 0) + (site?.heapSize ?? 0)
    let values = (old?.heapSize ?? 0) + (new?.heapSize ?? 0)
    let names = through.reduce(0) { $0 + MemoryLayout<String>.stride + $1.heapSize }
    return MemoryLayout<RecordedWrite>.stride + texts + values + names
  }
}

extension RecordedWrite: CustomStringConvertible {
  /// "'first' was written at x.lua:3 in turn 2 ("Ann" → "Bob"), which changed 'full', 'shout'".
  public var description: String {
    var text = "'\(key)' was \(isInvalidation ? "invalidated" : "written")\(place)"
    text += " in \(turnText(turn, flush: flush))"
    if let change = RecordedValue.text(from: old, to: new) { text += " (\(change))" }
    if hasLeft { text += ", to an object that had left the path" }
    return through.isEmpty ? text : "\(text), which changed \(throughText)"
  }

  /// The reason why a watcher was not called for this write.
  var reasonForSilence: String {
    guard isRecomputed else {
      let value = new.map { ": \($0)" } ?? ""
      return "'\(key)' was written\(place), with the value it already had\(value)"
    }
    let event = isInvalidation ? "'\(key)' was invalidated" : "'\(key)' was written"
    let last = through.last ?? (isInvalidation ? key : nil)
    let subject = last.map { "'\($0)'" } ?? "what it watches"
    return "\(subject) was recomputed, with an equal value, after \(event)\(place)"
  }

  private var place: String { site.map { " at \($0)" } ?? "" }

  /// The lazy properties as text; a long chain is shortened to its two ends.
  private var throughText: String {
    let names = through.map { "'\($0)'" }
    if names.count <= 8 { return names.joined(separator: ", ") }
    return
      "\(names.prefix(3).joined(separator: ", ")), … \(names.last!) (\(names.count) properties)"
  }
}
