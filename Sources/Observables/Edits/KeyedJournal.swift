/// The changes of one dictionary or set, for several readers that each remember a position (C10).
@frozen @usableFromInline package struct KeyedJournal<Key: Hashable, Value> {
  @frozen @usableFromInline struct Entry {
    @usableFromInline let position: Int
    @usableFromInline let key: Key
    @usableFromInline let old: Value?
    @usableFromInline let new: Value?

    @inlinable init(position: Int, key: Key, old: Value?, new: Value?) {
      (self.position, self.key, self.old, self.new) = (position, key, old, new)
    }

    @inlinable func isChange(_ same: (Value, Value) -> Bool) -> Bool {
      switch (old, new) {
      case (let old?, let new?): !same(old, new)
      default: old != nil || new != nil
      }
    }
  }

  @usableFromInline var entries: [Entry] = []
  @usableFromInline var next = 0
  /// The number of entries beyond which they are combined.
  @usableFromInline var limit: Int
  @usableFromInline let minimalLimit: Int

  /// Makes a journal without entries; fewer than `minimalLimit` elements are always kept.
  @inlinable package init(minimalLimit: Int = 1024) {
    (self.minimalLimit, limit) = (minimalLimit, minimalLimit)
  }

  @inlinable package var count: Int { entries.count }

  /// The position after the last entry, for a reader that has read everything.
  @inlinable package var end: Int { next }

  @inlinable package mutating func record(_ key: Key, from old: Value?, to new: Value?) {
    entries.append(Entry(position: next, key: key, old: old, new: new))
    next += 1
  }

  // MARK: Trimming

  /// Removes the entries before `position`, which all readers have passed.
  @inlinable package mutating func trim(before position: Int) {
    let count = index(of: position)
    if count == 0 { return }
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
  @inlinable package mutating func compact(for readers: [Int], keyCount: Int) {
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

  /// Returns one entry per key, in the order of first changes.
  ///
  /// A key that several entries add and remove again has none.
  @inlinable static func puttingTogether(
    _ part: ArraySlice<Entry>, unless isStopped: () -> Bool = { false }
  ) -> [Entry] {
    if part.count == 1 { return Array(part) }
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

  @inlinable func entries(since position: Int) -> ArraySlice<Entry> {
    entries[index(of: position)...]
  }

  @inlinable func index(of position: Int) -> Int {
    entries.partitioningIndex { $0.position >= position }
  }

  /// Returns the change of each key since `position`, in the order of first changes.
  ///
  /// A key that has its former value is left out. There are no changes if `isStopped` becomes true.
  @inlinable package func edits(
    since position: Int, same: (Value, Value) -> Bool, unless isStopped: () -> Bool = { false }
  ) -> [KeyedEdit<Key, Value>] {
    let net = KeyedJournal.puttingTogether(entries(since: position), unless: isStopped)
    if isStopped() { return [] }
    return net.compactMap { entry in
      entry.isChange(same) ? KeyedEdit(key: entry.key, old: entry.old, new: entry.new) : nil
    }
  }

  /// Whether there are edits since `position`; false if `isStopped` becomes true.
  @inlinable package func hasEdits(
    since position: Int, same: (Value, Value) -> Bool, unless isStopped: () -> Bool = { false }
  ) -> Bool {
    let unread = entries(since: position)
    if unread.count == 1 { return !isStopped() && unread.first!.isChange(same) }
    return !edits(since: position, same: same, unless: isStopped).isEmpty
  }

  /// Calls `visit` with each value that was added (+1) or removed (-1) since `position`, until
  /// `visit` returns false.
  @inlinable package func forEachMemberChange(
    since position: Int, _ visit: (Key, Value, _ count: Int) -> Bool
  ) {
    for entry in entries(since: position) {
      if let old = entry.old, !visit(entry.key, old, -1) { return }
      if let new = entry.new, !visit(entry.key, new, 1) { return }
    }
  }
}
