/// The changes of one dictionary or set, for several readers that each remember a position (C10).
package struct KeyedJournal<Key: Hashable, Value> {
  private struct Entry {
    let position: Int
    let key: Key
    let old: Value?
    let new: Value?
  }

  private var entries: [Entry] = []
  private var next = 0
  /// The number of entries beyond which they are combined.
  private var limit: Int
  private let minimalLimit: Int

  /// Makes a journal without entries; fewer than `minimalLimit` elements are always kept.
  package init(minimalLimit: Int = 1024) {
    (self.minimalLimit, limit) = (minimalLimit, minimalLimit)
  }

  package var count: Int { entries.count }

  /// The position after the last entry, for a reader that has read everything.
  package var end: Int { next }

  package mutating func record(_ key: Key, from old: Value?, to new: Value?) {
    entries.append(Entry(position: next, key: key, old: old, new: new))
    next += 1
  }

  // MARK: Trimming

  /// Removes the entries before `position`, which all readers have passed.
  package mutating func trim(before position: Int) {
    let count = index(of: position)
    if count == entries.count, count > minimalLimit {
      // An array keeps the capacity that it once needed.
      entries = []
    } else {
      entries.removeFirst(count)
    }
    if entries.isEmpty { limit = minimalLimit }
  }

  /// Combines the entries of each key if readers lag behind; `readers` are the positions of all
  /// readers.
  package mutating func compact(for readers: [Int], keyCount: Int) {
    if entries.count <= max(limit, 4 * keyCount + minimalLimit) { return }
    var kept: [Entry] = []
    var starts = readers.sorted()[...]
    var segment = entries[...]
    while let first = segment.first {
      // A reader may be at the next position, so entries are not combined across it.
      starts = starts.drop { $0 <= first.position }
      let end = starts.first ?? next
      let part = segment.prefix { $0.position < end }
      kept += KeyedJournal.puttingTogether(part)
      segment = segment[part.endIndex...]
    }
    entries = kept
    limit = max(limit, 2 * entries.count)
  }

  /// Returns one entry per key, in the order of first changes; a key that was added and removed
  /// again has no entry.
  private static func puttingTogether(
    _ part: ArraySlice<Entry>, unless isStopped: () -> Bool = { false }
  ) -> [Entry] {
    var net: [Entry] = []
    var places: [Key: Int] = [:]
    for entry in part {
      if isStopped() { return [] }
      if let place = places[entry.key] {
        let first = net[place]
        net[place] = Entry(position: first.position, key: first.key, old: first.old, new: entry.new)
      } else {
        places[entry.key] = net.count
        net.append(entry)
      }
    }
    return net.filter { $0.old != nil || $0.new != nil }
  }

  // MARK: Reading

  private func entries(since position: Int) -> ArraySlice<Entry> {
    entries[index(of: position)...]
  }

  private func index(of position: Int) -> Int {
    entries.partitioningIndex { $0.position >= position }
  }

  /// Returns the change of each key since `position`, in the order of first changes.
  ///
  /// A key that has its former value is left out. There are no changes if `isStopped` becomes true.
  package func edits(
    since position: Int, same: (Value, Value) -> Bool, unless isStopped: () -> Bool = { false }
  ) -> [KeyedEdit<Key, Value>] {
    let net = KeyedJournal.puttingTogether(entries(since: position), unless: isStopped)
    if isStopped() { return [] }
    let edits = net.map { KeyedEdit(key: $0.key, old: $0.old, new: $0.new) }
    return edits.filter { edit in
      switch (edit.old, edit.new) {
      case (let old?, let new?): !same(old, new)
      default: true
      }
    }
  }

  /// Whether there are edits since `position`; false if `isStopped` becomes true.
  package func hasEdits(
    since position: Int, same: (Value, Value) -> Bool, unless isStopped: () -> Bool = { false }
  ) -> Bool {
    !edits(since: position, same: same, unless: isStopped).isEmpty
  }

  /// Calls `visit` with each value that was added (+1) or removed (-1) since `position`, until
  /// `visit` returns false.
  package func forEachMemberChange(
    since position: Int, _ visit: (Key, Value, _ count: Int) -> Bool
  ) {
    for entry in entries(since: position) {
      if let old = entry.old, !visit(entry.key, old, -1) { return }
      if let new = entry.new, !visit(entry.key, new, 1) { return }
    }
  }
}
