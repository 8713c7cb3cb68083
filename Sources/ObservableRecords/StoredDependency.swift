#if Records
  internal import Observables

  /// A `@Stored` property that depends on the rows of a table, and the way there.
  struct StoredDependency {
    /// A step from one row to others.
    struct Hop {
      unowned let owner: RecordTable
      unowned let target: RecordTable
      let relation: RecordRelation
    }

    /// The class of the property.
    unowned let root: RecordTable
    let column: RecordColumn
    /// The steps from the class of the property to that of the rows; none for its own columns.
    let hops: [Hop]
    /// The slots of the rows that the property depends on.
    let slots: Set<Int>
  }

  /// Finds what the key paths of a stored property depend on.
  struct StoredPathReader {
    let store: RecordStore
    let root: RecordTable
    let column: RecordColumn
    private(set) var found: [StoredDependency] = []

    init(_ store: RecordStore, _ root: RecordTable, _ column: RecordColumn) {
      (self.store, self.root, self.column) = (store, root, column)
    }

    /// Reads the paths that the property declares.
    mutating func read() throws {
      for path in root.schema.computed[column.name] ?? [] {
        try read(Self.components(path), path, from: root, [], depth: 0)
      }
    }

    private static func components(_ path: String) -> [String] {
      path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    private mutating func read(
      _ components: [String], _ path: String, from start: RecordTable,
      _ steps: [StoredDependency.Hop],
      depth: Int
    ) throws {
      var (table, hops) = (start, steps)
      var isList = false
      for (place, name) in components.enumerated() {
        if isList, name == "count" { continue }
        // What comes behind is a name of the rows, even if that is 'count'.
        let wasList = isList
        isList = false
        if name.hasPrefix("@") || wasList && (name == "*" || name.hasPrefix("#")) { continue }
        if let relation = table.schema.relation(name) {
          let target = try store.table(of: relation.target)
          if relation.kind == .reference {
            add(hops, table, [relation.column])
          }
          hops.append(StoredDependency.Hop(owner: table, target: target, relation: relation))
          if relation.kind != .reference {
            add(hops, target, [relation.column])
            isList = true
          } else {
            // The row may come and go.
            add(hops, target, [])
          }
          table = target
          continue
        }
        let isLast = !components[(place + 1)...].contains { !$0.hasPrefix("@") }
        if table.schema.slots[name] != nil {
          // A value has no parts that are columns.
          guard isLast || table.schema.slots[name]?.isComputed == false else {
            throw wrong(path, name, table, "is a value, which the path ends at")
          }
          add(hops, table, [name])
          return
        }
        if let paths = table.schema.computed[name] {
          if depth > 100 { throw wrong(path, name, table, "depends on itself") }
          for path in paths {
            try read(Self.components(path), path, from: table, hops, depth: depth + 1)
          }
          return
        }
        throw wrong(
          path, name, table,
          "is no column, no relation, and not computed from those by declared key paths")
      }
    }

    private mutating func add(
      _ hops: [StoredDependency.Hop], _ table: RecordTable, _ names: [String]
    ) {
      let slots = Set(names.compactMap { table.schema.slots[$0]?.slot })
      found.append(StoredDependency(root: root, column: column, hops: hops, slots: slots))
    }

    private func wrong(
      _ path: String, _ name: String, _ table: RecordTable, _ detail: String
    ) -> RecordError {
      RecordError(
        .wrongDependency, table: root.name, column: column.name,
        "its key path '\(path)': '\(name)' of '\(table.record)' \(detail)")
    }
  }
#endif
