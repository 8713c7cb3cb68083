/// The changes of one list, for several readers that each remember a position (C10).
///
/// Positions only grow. Entries that all readers have passed are removed.
@frozen @usableFromInline package struct Journal<Element> {
  @frozen @usableFromInline enum Entry {
    case edit(CollectionEdit<Element>)
    /// The list was sorted, reversed or assigned; `old` is the previous contents.
    case whole(old: [Element], isPermutation: Bool)

    @inlinable var size: Int {
      switch self {
      case .edit: 1
      case .whole(let old, _): old.count + 1
      }
    }
  }

  @usableFromInline var entries: [Entry] = []
  /// The position of each entry; there are gaps after entries were combined.
  @usableFromInline var positions: [Int] = []
  /// The growth of the list before each entry, and up to now.
  @usableFromInline var growths: [Int] = []
  @usableFromInline var growth = 0
  /// The position of the last entry that is not an edit.
  @usableFromInline var lastWhole = -1
  @usableFromInline var next = 0
  /// The highest position that a reader may have.
  @usableFromInline var read = 0
  /// The number of elements that the entries hold.
  @usableFromInline package var size = 0
  /// The size beyond which entries are combined.
  @usableFromInline var limit: Int
  @usableFromInline let minimalLimit: Int

  /// Makes a journal without entries; fewer than `minimalLimit` elements are always kept.
  @inlinable package init(minimalLimit: Int = 1024) {
    (self.minimalLimit, limit) = (minimalLimit, minimalLimit)
  }

  @inlinable package var isEmpty: Bool { entries.isEmpty }
  @inlinable package var count: Int { entries.count }

  /// The position after the last entry, for a reader that has read everything.
  @inlinable package var end: Int {
    mutating get {
      read = next
      return next
    }
  }

  @inlinable package mutating func record(_ edit: CollectionEdit<Element>) {
    if covers(isPermutation: edit.isMove) { return }
    append(.edit(edit))
  }

  /// Records a change of the list as a whole; `old` is the previous contents.
  @inlinable package mutating func rearranged(
    from old: @autoclosure () -> [Element], isPermutation: Bool
  ) {
    if covers(isPermutation: isPermutation) { return }
    append(.whole(old: old(), isPermutation: isPermutation))
  }

  @inlinable mutating func append(_ entry: Entry) {
    size += entry.size
    entries.append(entry)
    positions.append(next)
    growths.append(growth)
    switch entry {
    case .edit(let edit): growth += edit.isInsertion ? 1 : edit.isRemoval ? -1 : 0
    case .whole: lastWhole = next
    }
    next += 1
  }

  /// Whether an unread change of the whole list covers the next change.
  @inlinable mutating func covers(isPermutation: Bool) -> Bool {
    guard let last = entries.last, positions[positions.count - 1] >= read,
      case .whole(let old, let wasPermutation) = last
    else { return false }
    if wasPermutation, !isPermutation {
      entries[entries.count - 1] = .whole(old: old, isPermutation: false)
    }
    return true
  }

  // MARK: Trimming

  /// Removes the entries before `position`, which all readers have passed.
  @inlinable package mutating func trim(before position: Int) {
    let count = index(of: position)
    if count == 0 { return }
    if count == entries.count, size > minimalLimit {
      // Arrays keep the capacity that they once needed.
      (entries, positions, growths, size) = ([], [], [], 0)
    } else {
      for entry in entries[..<count] { size -= entry.size }
      entries.removeFirst(count)
      positions.removeFirst(count)
      growths.removeFirst(count)
    }
    if entries.isEmpty { limit = minimalLimit }
  }

  /// Combines entries between readers, if they hold much more than the list and readers lag behind.
  ///
  /// `readers` are the positions of all readers. Nothing changes if `isStopped` becomes true.
  ///
  /// - Complexity: O(1) as long as the entries hold little; otherwise O(n · entries).
  @inlinable package mutating func compact(
    for readers: [Int], current: () -> [Element], unless isStopped: () -> Bool = { false }
  ) {
    if size <= limit { return }
    var state = current()
    limit = 4 * state.count + minimalLimit
    if size <= limit { return }
    let starts = Set(readers)
    var compacted: [(position: Int, old: [Element])] = []
    for (entry, position) in zip(entries, positions).reversed() {
      if isStopped() {
        limit = 2 * size
        return
      }
      Journal.undo(entry, in: &state)
      if starts.contains(position) || position == positions[0] {
        compacted.append((position, state))
      }
    }
    entries = compacted.reversed().map { .whole(old: $0.old, isPermutation: false) }
    positions = compacted.reversed().map(\.position)
    growths = Array(repeating: growth, count: entries.count)
    lastWhole = positions.last ?? -1
    size = entries.reduce(0) { $0 + $1.size }
    // If readers need different contents, the next pass waits until it is worthwhile.
    limit = max(limit, 2 * size)
    read = next
  }

  @inlinable static func undo(_ entry: Entry, in state: inout [Element]) {
    switch entry {
    case .edit(let edit): edit.undo(in: &state)
    case .whole(let old, _): state = old
    }
  }

  // MARK: Reading

  @inlinable func entries(since position: Int) -> ArraySlice<Entry> {
    entries[index(of: position)...]
  }

  @inlinable func index(of position: Int) -> Int { positions.partitioningIndex { $0 >= position } }

  /// Returns the contents at `position`.
  ///
  /// They are arbitrary if `isStopped` becomes true.
  ///
  /// - Complexity: O(n · entries since).
  @inlinable package func former<List: RandomAccessCollection<Element>>(
    at position: Int, current: () -> List, unless isStopped: () -> Bool = { false }
  ) -> [Element] where List.Index == Int {
    let unread = entries(since: position)
    let whole = unread.firstIndex {
      if case .whole = $0 { return true }
      return false
    }
    var state: [Element]
    var rest = unread
    if let whole, case .whole(let old, _) = unread[whole] {
      state = old
      rest = unread[..<whole]
    } else {
      state = Array(current())
    }
    for entry in rest.reversed() {
      if isStopped() { break }
      Journal.undo(entry, in: &state)
    }
    return state
  }

  /// Returns the edits from the contents at `position` to the current ones, in order of
  /// application.
  ///
  /// There are none if both contents are the same, or if `isStopped` becomes true. If comparisons
  /// are slow, `numbers` gives each element of two lists a number from 0, the same to elements that
  /// are the same; the numbers are then compared instead.
  ///
  /// - Complexity: O(edits) for insertions only, for removals only, for one or two replacements,
  ///   and for one move of an element among others; otherwise O(n + n·d).
  @inlinable package func edits<List: RandomAccessCollection<Element>>(
    since position: Int, current: () -> List, same: (Element, Element) -> Bool,
    numbers: (([Element], [Element]) -> (old: [Int], new: [Int])?) = { _, _ in nil },
    unless isStopped: () -> Bool = { false }
  ) -> [CollectionEdit<Element>] where List.Index == Int {
    let unread = entries(since: position)
    var recorded: [CollectionEdit<Element>] = []
    for case .edit(let edit) in unread {
      if isStopped() { return [] }
      recorded.append(edit)
    }
    let isComplete = recorded.count == unread.count
    if isComplete,
      recorded.allSatisfy({ $0.isInsertion }) || recorded.allSatisfy({ $0.isRemoval })
    {
      return recorded
    }
    if let replacements = Journal.replacements(unread, same) { return replacements }
    // No shorter script has the effect of one move.
    if isComplete, recorded.count == 1,
      Journal.changes(recorded[0], a: current(), same)
    {
      return recorded
    }
    let (old, new) = (former(at: position, current: current, unless: isStopped), current())
    if isStopped() { return [] }
    // A script longer than the recorded edits is useless.
    let limit = isComplete ? min(recorded.count, EditScript.limit) : EditScript.limit
    let script =
      if let numbers = numbers(old, Array(new)) {
        EditScript(from: numbers.old, to: numbers.new, limit: limit, unless: isStopped)
      } else {
        EditScript(
          from: old.count, to: new.count, limit: limit, same: { same(old[$0], new[$1]) },
          unless: isStopped)
      }
    if isStopped() { return [] }
    if isComplete, !script.steps.isEmpty, recorded.count <= script.steps.count { return recorded }
    return script.steps.map { step in
      switch step {
      case .insert(let position, let index): .insert(new[index], at: position)
      case .remove(let position, let index): .remove(old[index], at: position)
      case .replace(let position, let index, let other):
        .replace(old[index], with: new[other], at: position)
      }
    }
  }

  /// The replacements that change an element, if the entries are one replacement or two in
  /// different places, such as those of a swap; otherwise nil.
  ///
  /// No shorter script has their effect.
  @inlinable static func replacements(
    _ entries: ArraySlice<Entry>, _ same: (Element, Element) -> Bool
  ) -> [CollectionEdit<Element>]? {
    guard (1...2).contains(entries.count) else { return nil }
    var (changes, former) = ([CollectionEdit<Element>](), Int?.none)
    for entry in entries {
      guard case .edit(let edit) = entry, case .replace(let old, let new, let place) = edit,
        place != former
      else { return nil }
      former = place
      if !same(old, new) { changes.append(edit) }
    }
    return changes
  }

  /// Whether the last edit is a move that has changed the list.
  @inlinable static func changes<List: RandomAccessCollection<Element>>(
    _ edit: CollectionEdit<Element>, a list: List, _ same: (Element, Element) -> Bool
  ) -> Bool where List.Index == Int {
    guard case .move(let element, let from, let place) = edit else { return false }
    return list[min(from, place)...max(from, place)].contains { !same($0, element) }
  }

  /// Whether there are edits since `position`; the result is arbitrary if `isStopped` becomes true.
  @inlinable package func hasEdits<List: RandomAccessCollection<Element>>(
    since position: Int, current: () -> List, same: (Element, Element) -> Bool,
    unless isStopped: () -> Bool = { false }
  ) -> Bool where List.Index == Int {
    let first = index(of: position)
    if first == entries.count { return false }
    let unread = entries[first...]
    let isComplete = lastWhole < position
    // A list of another length has changed.
    if isComplete, growth != growths[first] { return true }
    if let replacements = Journal.replacements(unread, same) { return !replacements.isEmpty }
    if isComplete, unread.count == 1, case .edit(let edit) = unread.first!,
      Journal.changes(edit, a: current(), same)
    {
      return true
    }
    let (old, new) = (former(at: position, current: current, unless: isStopped), current())
    if isStopped() || old.count != new.count { return true }
    return zip(old, new).contains { isStopped() || !same($0, $1) }
  }

  /// Calls `visit` with each element that was added (+1) or removed (-1) since `position`, until
  /// `visit` returns false.
  ///
  /// Returns false if this is not known, because the list was assigned as a whole.
  @inlinable package func forEachMemberChange(
    since position: Int, _ visit: (Element, _ count: Int) -> Bool
  ) -> Bool {
    let unread = entries(since: position)
    for entry in unread {
      if case .whole(_, isPermutation: false) = entry { return false }
    }
    for entry in unread {
      guard case .edit(let edit) = entry else { continue }
      let goesOn =
        switch edit {
        case .insert(let element, _): visit(element, 1)
        case .remove(let element, _): visit(element, -1)
        case .replace(let old, let new, _): visit(old, -1) && visit(new, 1)
        case .move: true
        }
      if !goesOn { break }
    }
    return true
  }
}

extension CollectionEdit {
  @inlinable var isInsertion: Bool {
    if case .insert = self { return true }
    return false
  }

  @inlinable var isRemoval: Bool {
    if case .remove = self { return true }
    return false
  }

  @inlinable var isMove: Bool {
    if case .move = self { return true }
    return false
  }
}
