/// The values that an operator cannot take, in the order in which they came.
struct Failures {
  private struct Entry {
    var count: Int
    /// The number that says when the value came.
    let stamp: Int
  }

  private var entries: [Operand: Entry] = [:]
  /// The values in the order in which they came; some have left.
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

  /// The first of the values that have not left.
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
