extension Array {
  /// Finds the first index from which on all elements satisfy `predicate`, in an array partitioned
  /// by it.
  ///
  /// - Complexity: O(log n).
  @inlinable func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
