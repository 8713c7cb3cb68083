/// A record that is in a list by its own field.
protocol Chained {
  var next: UnsafeMutablePointer<Self>? { get }
}

extension Link: Chained {}
extension Wire: Chained {}
extension Slot: Chained {}
extension Node: Chained {}
extension WatcherRecord: Chained {}

/// The records of such a list, from one on.
///
/// The record that is visited may be taken out; code that takes out its successor must not go on.
struct Chain<Record: Chained>: Sequence, IteratorProtocol {
  private var upcoming: UnsafeMutablePointer<Record>?

  @inline(__always)
  init(_ first: UnsafeMutablePointer<Record>?) { upcoming = first }

  @inline(__always)
  mutating func next() -> UnsafeMutablePointer<Record>? {
    guard let record = upcoming else { return nil }
    upcoming = record.pointee.next
    return record
  }
}
