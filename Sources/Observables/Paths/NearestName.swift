/// Finds the candidate that a misspelt name most likely means (P9); nil if none is similar.
///
/// A name is similar if at most a third of its letters have to be changed, added, removed or
/// swapped: at least one letter for a short name, but never all.
///
/// - Complexity: O(candidates · length²).
package func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
  let wanted = Array(name.lowercased().utf8)
  var best: (name: String, distance: Int)?
  for candidate in candidates {
    let bytes = Array(candidate.lowercased().utf8)
    let (distance, length) = (editDistance(wanted, bytes), max(wanted.count, bytes.count))
    if distance <= max(1, length / 3), distance < min(length, best?.distance ?? .max) {
      best = (candidate, distance)
    }
  }
  return best?.name
}

/// The smallest number of insertions, removals, replacements and swaps of neighbours that turn `a`
/// into `b`.
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
  var beforeLast = [Int](repeating: 0, count: b.count + 1)
  var last = Array(0...b.count)
  for i in 1...a.count {
    var row = [i] + [Int](repeating: 0, count: b.count)
    for j in 1...b.count {
      row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
      if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
        row[j] = min(row[j], beforeLast[j - 2] + 1)
      }
    }
    (beforeLast, last) = (last, row)
  }
  return last[b.count]
}
