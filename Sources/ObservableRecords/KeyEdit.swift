#if Records
  /// How one list of keys becomes another one, found where the database is read.
  struct KeyEdit: Sendable {
    enum Kind: Sendable {
      case none
      /// One row has another place.
      case move(from: Int, to: Int)
      /// Rows have come, gone, or changed places in a range.
      case replace(Range<Int>, with: [RecordKey])
    }

    let kind: Kind
    /// The keys that were not there.
    let newKeys: [RecordKey]

    /// - Complexity: O(n), with O(rows that differ) beyond comparing keys.
    init(from old: [RecordKey], to new: [RecordKey]) {
      var start = 0
      let shorter = min(old.count, new.count)
      while start < shorter, old[start] == new[start] { start += 1 }
      var (oldEnd, newEnd) = (old.count, new.count)
      while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1] {
        (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
      }
      let (gone, come) = (old[start..<oldEnd], new[start..<newEnd])
      if gone.isEmpty, come.isEmpty {
        (kind, newKeys) = (.none, [])
      } else if gone.count == come.count, gone.first == come.last,
        gone.dropFirst() == come.dropLast()
      {
        (kind, newKeys) = (.move(from: start, to: oldEnd - 1), [])
      } else if gone.count == come.count, gone.last == come.first,
        gone.dropLast() == come.dropFirst()
      {
        (kind, newKeys) = (.move(from: oldEnd - 1, to: start), [])
      } else {
        kind = .replace(start..<oldEnd, with: Array(come))
        let known = Set(gone)
        newKeys = come.filter { !known.contains($0) }
      }
    }

    /// The list that `old` becomes.
    func result(of old: [RecordKey]) -> [RecordKey] {
      var keys = old
      switch kind {
      case .none: break
      case .move(let from, let to): keys.insert(keys.remove(at: from), at: to)
      case .replace(let range, let new): keys.replaceSubrange(range, with: new)
      }
      return keys
    }
  }

  /// Reads the keys of rows.
  enum KeyReader {
    /// The values of the first column that are keys.
    static func keys(of statement: Statement, _ collation: Collation) throws -> [RecordKey] {
      let values = try DatabaseValue.fetchCursor(statement)
      var keys: [RecordKey] = []
      while let value = try values.next() {
        if let key = RecordKey(StoredValue(value), collation) { keys.append(key) }
      }
      return keys
    }
  }
#endif
