#if Records
  /// The operations of a plan in groups that depend on each other: each group is saved as a whole
  /// or not at all.
  ///
  /// Operations belong to one group if one refers to the row of the other, if they have, or had,
  /// the same unique values, or if the plan relates them.
  struct SaveGroups {
    /// A union-find structure: each operation leads to an earlier one of its group, the first one
    /// to itself.
    private var next: [Int]
    private let count: Int

    init(_ plan: SavePlan) {
      count = plan.operations.count
      let last = plan.related.lazy.map { max($0.0, $0.1) }.max() ?? 0
      next = Array(0..<max(count, last + 1))
      for (first, second) in plan.related { unite(first, second) }
      var places: [SaveReference: Int] = [:]
      for (place, operation) in plan.operations.enumerated() {
        for (_, parent) in operation.parents { unite(place, parent) }
        guard let reference = SaveReference(operation) else { continue }
        if let other = places.updateValue(place, forKey: reference) { unite(place, other) }
      }
      var owners: [UniqueValues: Int] = [:]
      for (place, operation) in plan.operations.enumerated() {
        for (column, key) in operation.foreignKeys {
          for value in operation.values(at: column) {
            let target = RecordKey(value, key.collation).map {
              SaveReference(table: key.target, key: $0)
            }
            if let parent = target.flatMap({ places[$0] }) { unite(place, parent) }
          }
        }
        for values in UniqueValues.all(of: operation) {
          if let other = owners.updateValue(place, forKey: values) { unite(place, other) }
        }
      }
    }

    private func first(_ place: Int) -> Int {
      var place = place
      while next[place] != place { place = next[place] }
      return place
    }

    private mutating func unite(_ a: Int, _ b: Int) {
      let (first, second) = (self.first(a), self.first(b))
      next[max(first, second)] = min(first, second)
      // Shortens the next search.
      (next[a], next[b]) = (min(first, second), min(first, second))
    }

    /// The indexes of the operations of each group, in order.
    var groups: [[Int]] {
      var groups: [Int: [Int]] = [:]
      for place in 0..<count { groups[first(place), default: []].append(place) }
      return groups.values.sorted { $0[0] < $1[0] }
    }
  }

  /// A row to which others may refer.
  struct SaveReference: Hashable {
    /// The name of the table, in lower case.
    let table: String
    let key: RecordKey

    init(table: String, key: RecordKey) { (self.table, self.key) = (table, key) }

    /// The row of an operation, if it already has a key.
    init?(_ operation: SavePlan.Operation) {
      guard let key = operation.recordKey else { return nil }
      self.init(table: operation.layout.name.lowercased(), key: key)
    }
  }

  /// Values of a row that are unique in its table.
  private struct UniqueValues: Hashable {
    let table: String
    let columns: [String]
    let values: [StoredValue]

    /// The unique values that an operation writes, and the values that they replace.
    static func all(of operation: SavePlan.Operation) -> [UniqueValues] {
      operation.layout.uniqueKeys.flatMap { key -> [UniqueValues] in
        let places = key.columns.compactMap { operation.place(of: $0.name) }
        let names = places.map { operation.columns[$0].name }
        if places.isEmpty { return [] }
        return [operation.values, operation.former].compactMap { values in
          if places.contains(where: { $0 >= values.count || values[$0].isNull }) { return nil }
          return UniqueValues(
            table: operation.layout.name, columns: names, values: places.map { values[$0] })
        }
      }
    }
  }

  extension SavePlan.Operation {
    /// The index of a column in the written columns.
    func place(of column: String) -> Int? {
      columns.firstIndex { $0.name == column }
        ?? columns.firstIndex { $0.name.lowercased() == column.lowercased() }
    }

    /// The written columns that refer to other rows.
    fileprivate var foreignKeys: [(place: Int, key: ForeignKey)] {
      layout.foreignKeys.compactMap { key in place(of: key.column).map { ($0, key) } }
    }

    /// The value that is written to a column, and the former value.
    fileprivate func values(at place: Int) -> [StoredValue] {
      place < former.count ? [values[place], former[place]] : [values[place]]
    }
  }
#endif
