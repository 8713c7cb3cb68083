/// The values that an operator cannot accept, in order of arrival.
struct Failures {
  private struct Entry {
    var count: Int
    /// A number that orders the values by arrival.
    let stamp: Int
  }

  private var entries: [Operand: Entry] = [:]
  /// The values in order of arrival, including some that were removed.
  private var queue: [(operand: Operand, stamp: Int)] = []
  private var start = 0
  private var next = 0

  mutating func change(_ operand: Operand, by count: Int) {
    if var entry = entries[operand] {
      entry.count += count
      entries[operand] = entry.count == 0 ? nil : entry
    } else if count != 0 {
      entries[operand] = Entry(count: count, stamp: next)
      queue.append((operand, next))
      next += 1
    }
    if queue.count > 2 * entries.count + 32 {
      queue = queue[start...].filter { entries[$0.operand]?.stamp == $0.stamp }
      start = 0
    }
  }

  /// The first value that was not removed.
  ///
  /// - Complexity: O(1), amortized.
  var first: Operand? {
    mutating get {
      if entries.isEmpty { return nil }
      while start < queue.count {
        let (operand, stamp) = queue[start]
        if entries[operand]?.stamp == stamp { return operand }
        start += 1
      }
      return nil
    }
  }
}
