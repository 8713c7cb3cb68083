/// What happened to one dictionary or set, for several readers that each remember a position (C10).
package struct KeyedJournal<Key: Hashable, Value> {
  private struct Entry {
    let position: Int
    let key: Key
    let old: Value?
    let new: Value?
  }

  private var entries: [Entry] = []
  private var next = 0

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }
  package var count: Int { entries.count }

  /// The position behind the last entry, for a reader that knows all.
  package var end: Int { next }

  package mutating func record(_ key: Key, from old: Value?, to new: Value?) {
    entries.append(Entry(position: next, key: key, old: old, new: new))
    next += 1
  }

  /// All readers know what is before `position`.
  package mutating func trim(before position: Int) {
    entries.removeFirst(entries.firstIndex { $0.position >= position } ?? entries.count)
  }

  /// Puts the entries of each key together where readers lag behind; `readers` are all their
  /// positions.
  package mutating func compact(for readers: [Int], keyCount: Int) {
    if entries.count <= 4 * keyCount + 1024 { return }
    let starts = readers.sorted()
    var kept: [Entry] = []
    var places: [Key: Int] = [:]
    var start = starts.startIndex
    for entry in entries {
      while start < starts.endIndex, starts[start] <= entry.position {
        // A reader may stand here: nothing is put together across its position.
        places = [:]
        start += 1
      }
      if let place = places[entry.key] {
        let first = kept[place]
        kept[place] = Entry(
          position: first.position, key: first.key, old: first.old, new: entry.new)
      } else {
        places[entry.key] = kept.count
        kept.append(entry)
      }
    }
    entries = kept
  }

  private func entries(since position: Int) -> ArraySlice<Entry> {
    entries[(entries.firstIndex { $0.position >= position } ?? entries.count)...]
  }

  /// What became of each key since `position`, in the order of their first changes; a key that has its
  /// former value is left out.
  package func edits(
    since position: Int, same: (Value, Value) -> Bool
  ) -> [KeyedEdit<Key, Value>] {
    var edits: [KeyedEdit<Key, Value>] = []
    var places: [Key: Int] = [:]
    for entry in entries(since: position) {
      if let place = places[entry.key] {
        edits[place] = KeyedEdit(key: entry.key, old: edits[place].old, new: entry.new)
      } else {
        places[entry.key] = edits.count
        edits.append(KeyedEdit(key: entry.key, old: entry.old, new: entry.new))
      }
    }
    return edits.filter { edit in
      switch (edit.old, edit.new) {
      case (nil, nil): false
      case (let old?, let new?): !same(old, new)
      default: true
      }
    }
  }

  /// Whether there are any.
  package func hasEdits(since position: Int, same: (Value, Value) -> Bool) -> Bool {
    !edits(since: position, same: same).isEmpty
  }

  /// Calls `visit` with each value that came (+1) or left (-1) since `position`.
  package func forEachMemberChange(
    since position: Int, _ visit: (Key, Value, _ count: Int) -> Void
  ) {
    for entry in entries(since: position) {
      if let old = entry.old { visit(entry.key, old, -1) }
      if let new = entry.new { visit(entry.key, new, 1) }
    }
  }
}
