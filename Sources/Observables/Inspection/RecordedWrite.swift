/// One write of an observed key, or the invalidation of a lazy one, as it was recorded (W4).
public struct RecordedWrite: Sendable {
  /// The key that was written.
  public let key: String
  /// Where the program wrote it, "file:line"; nil where that is not known, as in Swift.
  public let site: String?
  /// The turn of the loop in which the write was.
  public let turn: Int
  /// Whether a program invalidated the key, which is lazy.
  public let isInvalidation: Bool
  /// The lazy properties through which it concerns a watcher, the nearest to the write first.
  public internal(set) var through: [String] = []
  /// Whether the watched property was computed again, with an equal value.
  package internal(set) var isRecomputed = false

  package init(key: String, site: String?, turn: Int, isInvalidation: Bool = false) {
    (self.key, self.site, self.turn) = (key, site, turn)
    self.isInvalidation = isInvalidation
  }
}

extension RecordedWrite: CustomStringConvertible {
  /// "'first' was written at x.lua:3 in turn 2, which changed 'full', 'shout'".
  public var description: String {
    let event = "'\(key)' was \(isInvalidation ? "invalidated" : "written")\(place) in turn \(turn)"
    return through.isEmpty ? event : "\(event), which changed \(throughText)"
  }

  /// Why a watcher was not called for this write.
  package var reasonForSilence: String {
    guard isRecomputed else {
      return "'\(key)' was written\(place), with the value that it had"
    }
    let event = isInvalidation ? "'\(key)' was invalidated" : "'\(key)' was written"
    let last = through.last ?? (isInvalidation ? key : nil)
    let subject = last.map { "'\($0)'" } ?? "what it watches"
    return "\(subject) was recomputed, with an equal value, after \(event)\(place)"
  }

  private var place: String { site.map { " at \($0)" } ?? "" }

  /// The lazy properties as text; only both ends of a long chain.
  private var throughText: String {
    let names = through.map { "'\($0)'" }
    if names.count <= 8 { return names.joined(separator: ", ") }
    return
      "\(names.prefix(3).joined(separator: ", ")), … \(names.last!) (\(names.count) properties)"
  }
}
