#if Records
  /// Which operations of a plan depend on each other, and are saved together or not at all.
  ///
  /// They do where one refers to the row of another one, where they have, or had, the same unique
  /// values, and where the plan says so.
  struct SaveGroups {
    /// The nearest operation of the same group on the way to the one that stands for the group.
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
      // The next way from there is short.
      (next[a], next[b]) = (min(first, second), min(first, second))
    }

    /// The places of the operations of each group, in their order.
    var groups: [[Int]] {
      var groups: [Int: [Int]] = [:]
      for place in 0..<count { groups[first(place), default: []].append(place) }
      return groups.values.sorted { $0[0] < $1[0] }
    }
  }

  /// A row that others may refer to.
  struct SaveReference: Hashable {
    /// The name of the table, in lower case.
    let table: String
    let key: RecordKey

    init(table: String, key: RecordKey) { (self.table, self.key) = (table, key) }

    /// The row of an operation, if it has a key already.
    init?(_ operation: SavePlan.Operation) {
      guard let key = operation.recordKey else { return nil }
      self.init(table: operation.layout.name.lowercased(), key: key)
    }
  }

  /// Values of a row that no other row may have.
  private struct UniqueValues: Hashable {
    let table: String
    let columns: [String]
    let values: [StoredValue]

    /// Those that an operation writes, and those from before.
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
    /// The place of a column among those that are written.
    func place(of column: String) -> Int? {
      columns.firstIndex { $0.name == column }
        ?? columns.firstIndex { $0.name.lowercased() == column.lowercased() }
    }

    /// The columns that are written and refer to other rows.
    fileprivate var foreignKeys: [(place: Int, key: ForeignKey)] {
      layout.foreignKeys.compactMap { key in place(of: key.column).map { ($0, key) } }
    }

    /// What is written to a column, and what it had before.
    fileprivate func values(at place: Int) -> [StoredValue] {
      place < former.count ? [values[place], former[place]] : [values[place]]
    }
  }
#endif
