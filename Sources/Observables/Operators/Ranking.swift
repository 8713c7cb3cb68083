/// The current values of one type, with quick access to the least or the greatest.
///
/// A heap contains each value once, including some that were removed. Removed values are dropped
/// when they come to the top, or all together when they outnumber the others.
struct Ranking<Value: Hashable & Comparable> {
  private struct Entry {
    var count = 0
    var isQueued = false
  }

  private var entries: [Value: Entry] = [:]
  private var heap: Heap<Value>
  /// The number of removed values in the heap.
  private var stale = 0
  /// The number of members, including equal ones.
  private(set) var count = 0

  init(isLargest: Bool) { heap = Heap(by: isLargest ? { $0 > $1 } : { $0 < $1 }) }

  /// The number of different values that are kept.
  var size: Int { entries.count }

  /// Changes the number of occurrences of a value by `count`.
  ///
  /// - Complexity: O(log n), amortized.
  mutating func change(_ value: Value, by count: Int) {
    self.count += count
    var entry = entries[value] ?? Entry()
    let wasThere = entry.count > 0
    entry.count += count
    let isThere = entry.count > 0
    if entry.isQueued {
      if wasThere != isThere { stale += isThere ? -1 : 1 }
    } else if isThere {
      heap.insert(value)
      entry.isQueued = true
    }
    entries[value] = entry.isQueued || entry.count != 0 ? entry : nil
    if stale > 32, 2 * stale > heap.count { rebuild() }
  }

  private mutating func rebuild() {
    entries = entries.compactMapValues { entry in
      entry.count == 0 ? nil : Entry(count: entry.count, isQueued: entry.count > 0)
    }
    heap.removeAll { [entries] in entries[$0]?.isQueued != true }
    stale = 0
  }

  /// The least or the greatest value.
  ///
  /// - Complexity: O(log n), amortized.
  var first: Value? {
    mutating get {
      while let value = heap.first {
        guard var entry = entries[value] else { return nil }
        if entry.count > 0 { return value }
        heap.removeFirst()
        entry.isQueued = false
        entries[value] = entry.count == 0 ? nil : entry
        stale -= 1
      }
      return nil
    }
  }
}
