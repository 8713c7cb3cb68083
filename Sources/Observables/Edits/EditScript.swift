/// A shortest script of single insertions, removals and replacements from one list to another.
///
/// The algorithm finds the furthest-reaching points of the diagonals for 0, 1, 2 … edits, starting
/// at the end of the lists. So each edit is at the earliest place that a shortest script allows. At
/// the same place, replacements precede insertions, and insertions precede removals. It takes O(n +
/// n·d) time and O(d²) memory for d edits. If more than `limit` edits were necessary, everything
/// before the common end is replaced position by position.
@usableFromInline package struct EditScript {
  /// The maximum number of edits for which a script is searched.
  @usableFromInline package static let limit = 256

  @frozen @usableFromInline package enum Step: Equatable {
    case insert(at: Int, new: Int)
    case remove(at: Int, old: Int)
    case replace(at: Int, old: Int, new: Int)
  }

  /// The steps in order of application; each position is valid at the time when its step is
  /// applied.
  @usableFromInline package private(set) var steps: [Step] = []

  /// Makes the script from `old` elements to `new` ones.
  ///
  /// `same` receives an index into each list. If `isStopped` becomes true, the script has no steps.
  @usableFromInline package init(
    from old: Int, to new: Int, limit: Int = EditScript.limit,
    same: (_ old: Int, _ new: Int) -> Bool, unless isStopped: () -> Bool = { false }
  ) {
    // Points count from the end: point (i, j) has i old and j new elements behind it.
    func slide(_ point: Int, _ diagonal: Int) -> Int {
      var i = point
      while i < old, i + diagonal < new, !isStopped(),
        same(old - 1 - i, new - 1 - i - diagonal)
      {
        i += 1
      }
      return i
    }
    let goal = new - old
    // furthest[d][k + d] is the largest number of old elements that d edits pass on the diagonal k
    // = j - i.
    var furthest: [[Int]] = [[slide(0, 0)]]
    let suffix = furthest[0][0]
    if goal.magnitude > limit {
      replaceAll(old - suffix, new - suffix) { isStopped() || same($0, $1) }
      return
    }
    var edits = 0
    while goal.magnitude > edits || furthest[edits][goal + edits] < old {
      if isStopped() { return }
      edits += 1
      if edits > limit {
        replaceAll(old - suffix, new - suffix) { isStopped() || same($0, $1) }
        return
      }
      let last = furthest[edits - 1]
      var row = [Int](repeating: -1, count: 2 * edits + 1)
      for diagonal in -edits...edits {
        let point = EditScript.step(to: diagonal, edits, after: last, old, new).point
        if point >= 0 { row[diagonal + edits] = slide(point, diagonal) }
      }
      furthest.append(row)
    }
    var diagonal = goal
    while edits > 0 {
      let (point, kind) = EditScript.step(
        to: diagonal, edits, after: furthest[edits - 1], old, new)
      // The point behind the edit, as indices from the front.
      let (i, j) = (old - point, new - point - diagonal)
      switch kind {
      case .replacement: steps.append(.replace(at: j, old: i, new: j))
      case .insertion:
        steps.append(.insert(at: j, new: j))
        diagonal -= 1
      case .removal:
        steps.append(.remove(at: j, old: i))
        diagonal += 1
      }
      edits -= 1
    }
  }

  /// Makes the script between two lists of numbers.
  ///
  /// It does not search for a script if `limit` edits cannot suffice.
  @usableFromInline package init(
    from old: [Int], to new: [Int], limit: Int = EditScript.limit,
    unless isStopped: () -> Bool = { false }
  ) {
    // With a limit below 0, everything before the common end is replaced.
    let limit = EditScript.leastEdits(from: old, to: new) > limit ? -1 : limit
    self.init(
      from: old.count, to: new.count, limit: limit, same: { (i: Int, j: Int) in old[i] == new[j] },
      unless: isStopped)
  }

  /// A lower bound of the number of edits: elements that stay keep their order.
  ///
  /// - Complexity: O(n log n).
  private static func leastEdits(from old: [Int], to new: [Int]) -> Int {
    // The last index and the number of occurrences of each element of the old list.
    var places = [(index: Int, count: Int)](repeating: (0, 0), count: (old.max() ?? -1) + 1)
    for (index, element) in old.enumerated() {
      places[element] = (index, places[element].count + 1)
    }
    // Of the elements that occur once in the old list, no more can stay than the longest ascending
    // sequence of their indices has. `ends[n]` is the lowest end of a sequence of n + 1.
    var (ends, others) = ([Int](), 0)
    for element in new {
      guard element < places.count, places[element].count > 0 else { continue }
      let place = places[element]
      if place.count > 1 {
        others += 1
        continue
      }
      let length = ends.partitioningIndex { $0 >= place.index }
      if length == ends.count { ends.append(place.index) } else { ends[length] = place.index }
    }
    return max(old.count, new.count) - ends.count - others
  }

  private enum Kind {
    case replacement, insertion, removal
  }

  /// The furthest point that one more edit reaches on a diagonal, before sliding on, and the kind
  /// of that edit; the point is below 0 if no edit reaches the diagonal.
  private static func step(
    to diagonal: Int, _ edits: Int, after last: [Int], _ old: Int, _ new: Int
  ) -> (point: Int, kind: Kind) {
    func reached(_ diagonal: Int) -> Int {
      let index = diagonal + edits - 1
      return last.indices.contains(index) ? last[index] : -1
    }
    func valid(_ point: Int) -> Int {
      point >= 0 && point <= old && point + diagonal <= new && point + diagonal >= 0 ? point : -1
    }
    var best = (point: -1, kind: Kind.replacement)
    if reached(diagonal) >= 0 { best.point = valid(reached(diagonal) + 1) }
    if reached(diagonal - 1) >= 0 {
      let point = valid(reached(diagonal - 1))
      if point > best.point { best = (point, .insertion) }
    }
    if reached(diagonal + 1) >= 0 {
      let point = valid(reached(diagonal + 1) + 1)
      if point > best.point { best = (point, .removal) }
    }
    return best
  }

  /// Replaces everything before the common end, position by position.
  private mutating func replaceAll(_ old: Int, _ new: Int, _ same: (Int, Int) -> Bool) {
    for index in 0..<min(old, new) where !same(index, index) {
      steps.append(.replace(at: index, old: index, new: index))
    }
    if new > old { for index in old..<new { steps.append(.insert(at: index, new: index)) } }
    if old > new {
      for index in (new..<old).reversed() { steps.append(.remove(at: index, old: index)) }
    }
  }
}
