/// Finds the candidate that a misspelt name most likely means (P9); nil if none is similar.
///
/// A name is similar if at most a third of its letters have to be changed, added, removed or
/// swapped: at least one letter for a short name, but never all. Of equally similar names, the
/// alphabetically first one is found. Names of more than 100 bytes are never similar, and only the
/// first 1,000 candidates are compared.
///
/// - Complexity: O(candidates · length²).
package func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
  guard isComparable(name) else { return nil }
  let wanted = Array(name.lowercased().utf8)
  var best: (name: String, distance: Int)?
  for candidate in candidates.prefix(1000) where isComparable(candidate) {
    let bytes = Array(candidate.lowercased().utf8)
    let length = max(wanted.count, bytes.count)
    let most = min(max(1, length / 3), length - 1, best?.distance ?? .max)
    if abs(wanted.count - bytes.count) > most { continue }
    let distance = editDistance(wanted, bytes)
    if distance <= most, (distance, candidate) < (best?.distance ?? .max, best?.name ?? "") {
      best = (candidate, distance)
    }
  }
  return best?.name
}

/// The end of a message about a misspelt name: " (did you mean 'name'?)", or nothing.
package func didYouMean(_ nearest: String?) -> String {
  nearest.map { " (did you mean '\($0)'?)" } ?? ""
}

/// The end of a message about a misspelt name, with the nearest of the candidates.
package func didYouMean(_ name: String, among candidates: some Sequence<String>) -> String {
  didYouMean(nearestName(to: name, among: candidates))
}

/// Whether a name is short enough to be compared letter by letter.
private func isComparable(_ name: String) -> Bool { name.utf8.count <= 100 }

/// The smallest number of insertions, removals, replacements and swaps of neighbours that turn `a`
/// into `b`.
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
  var (beforeLast, last) = (Array(0...b.count), Array(0...b.count))
  var row = last
  for i in 1...a.count {
    row[0] = i
    for j in 1...b.count {
      row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
      if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
        row[j] = min(row[j], beforeLast[j - 2] + 1)
      }
    }
    // The memory of the oldest row is used for the next one.
    (beforeLast, last, row) = (last, row, beforeLast)
  }
  return last[b.count]
}
