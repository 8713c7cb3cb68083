/// The record next to another one in a list.
///
/// Only this file can read it, so `Records.forEach` and `Records.first` are the only ways to walk a
/// list.
struct Neighbour<Record> {
  fileprivate var record: UnsafeMutablePointer<Record>?
}

/// A record that is in a list from its creation until its end.
protocol Chained {
  var next: Neighbour<Self> { get set }
  /// Whether the record was removed from its list.
  var hasLeft: Bool { get }
}

/// A record that is removed from its list in constant time.
protocol DoublyChained: Chained {
  var previous: Neighbour<Self> { get set }
}

extension Link: DoublyChained {
  @inline(__always) var hasLeft: Bool { slot == nil }
}
extension Wire: DoublyChained {
  var hasLeft: Bool { phase == .ended }
}
extension Node: DoublyChained {
  var hasLeft: Bool { isBuried }
}
extension WatcherRecord: DoublyChained {
  var hasLeft: Bool { root == nil }
}
extension Slot: Chained {
  var hasLeft: Bool { isDead }
}

/// Records in the order in which they were added.
struct RecordList<Record: DoublyChained> {
  private(set) var first: UnsafeMutablePointer<Record>?
  private(set) var last: UnsafeMutablePointer<Record>?

  @inline(__always) var isEmpty: Bool { first == nil }
  @inline(__always) var hasSeveral: Bool { first != last }

  @inline(__always)
  mutating func append(_ record: UnsafeMutablePointer<Record>) {
    record.pointee.previous.record = last
    if let last { last.pointee.next.record = record } else { first = record }
    last = record
  }

  /// Removes a record; its own fields stay unchanged, for walks that are under way.
  @inline(__always)
  mutating func remove(_ record: UnsafeMutablePointer<Record>) {
    let (previous, next) = (record.pointee.previous.record, record.pointee.next.record)
    if let previous { previous.pointee.next.record = next } else { first = next }
    if let next { next.pointee.previous.record = previous } else { last = previous }
  }
}

/// Unordered records, with one pointer per record.
struct RecordStack<Record: Chained> {
  private(set) var first: UnsafeMutablePointer<Record>?

  @inline(__always) var isEmpty: Bool { first == nil }

  mutating func add(_ record: UnsafeMutablePointer<Record>) {
    record.pointee.next.record = first
    first = record
  }

  /// Removes the records for which `isLeaving` is true, and passes each to `end`.
  mutating func removeAll(
    where isLeaving: (UnsafeMutablePointer<Record>) -> Bool,
    _ end: (UnsafeMutablePointer<Record>) -> Void
  ) {
    var (kept, next) = (UnsafeMutablePointer<Record>?.none, first)
    while let record = next {
      next = record.pointee.next.record
      if isLeaving(record) {
        if let kept { kept.pointee.next.record = next } else { first = next }
        end(record)
      } else {
        kept = record
      }
    }
  }
}

/// Walks along lists. Their bodies may end any record: the walk holds the memory of all records,
/// and skips records that were removed before their turn.
extension Records {
  @inline(__always)
  func forEach<Record>(
    from first: UnsafeMutablePointer<Record>?, _ body: (UnsafeMutablePointer<Record>) -> Void
  ) where Record: Chained {
    guard var record = first else { return }
    hold {
      while true {
        let next = record.pointee.next.record
        if !record.pointee.hasLeft { body(record) }
        guard let next else { return }
        record = next
      }
    }
  }

  /// The first record for which `isWanted` is true.
  @inline(__always)
  func first<Record>(
    from first: UnsafeMutablePointer<Record>?,
    where isWanted: (UnsafeMutablePointer<Record>) -> Bool
  ) -> UnsafeMutablePointer<Record>? where Record: Chained {
    guard var record = first else { return nil }
    return hold {
      while true {
        let next = record.pointee.next.record
        if !record.pointee.hasLeft, isWanted(record) { return record }
        guard let next else { return nil }
        record = next
      }
    }
  }
}
