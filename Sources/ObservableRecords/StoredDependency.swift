#if Records
  internal import Observables

  /// A dependency of a `@Stored` property on the rows of a table, with the path to them.
  struct StoredDependency {
    /// A step from one row to related rows.
    struct Hop {
      unowned let owner: RecordTable
      unowned let target: RecordTable
      let relation: RecordRelation
    }

    /// The class of the property.
    unowned let root: RecordTable
    let column: RecordColumn
    /// The steps from the class of the property to the class of the rows; empty for its own
    /// columns.
    let hops: [Hop]
    /// The slots in the rows on which the property depends.
    let slots: Set<Int>
  }

  /// Finds the dependencies in the key paths of a stored property.
  struct StoredPathReader {
    let tables: RecordTables
    let root: RecordTable
    let column: RecordColumn
    private(set) var found: [StoredDependency] = []

    init(_ tables: RecordTables, _ root: RecordTable, _ column: RecordColumn) {
      (self.tables, self.root, self.column) = (tables, root, column)
    }

    /// Reads the paths that the property declares.
    mutating func read() throws {
      for path in root.schema.computed[column.name] ?? [] {
        try read(path, from: root, [], depth: 0)
      }
    }

    private func components(_ path: String) throws(RecordError) -> [Path.Component] {
      do {
        return try Path(path).components
      } catch {
        throw RecordError(.wrongDependency, table: root.name, column: column.name, "\(error)")
      }
    }

    private mutating func read(
      _ path: String, from start: RecordTable, _ steps: [StoredDependency.Hop], depth: Int
    ) throws {
      let components = try components(path)
      var (table, hops) = (start, steps)
      var isList = false
      for (place, component) in components.enumerated() {
        let name = component.name
        // A name after a wildcard or an operator is a property of the rows, even if it is 'count'.
        let wasList = isList
        isList = false
        switch (component.kind, wasList) {
        case (.operation, _), (.every, true), (.slot, true), (.element, true): continue
        case (.name, true) where component.isCount: continue
        case (.name, _): break
        default: throw noProperty(component, path, table)
        }
        if let relation = table.schema.relation(name) {
          let target = try tables.table(of: relation.target)
          if relation.kind == .reference {
            add(hops, table, [relation.column])
          }
          hops.append(StoredDependency.Hop(owner: table, target: target, relation: relation))
          if relation.kind != .reference {
            add(hops, target, [relation.column])
            isList = true
          } else {
            // The row may be inserted or deleted.
            add(hops, target, [])
          }
          table = target
          continue
        }
        let isLast = components[(place + 1)...].allSatisfy { $0.kind == .operation }
        if table.schema.slots[name] != nil {
          // A value has no columns.
          guard isLast || table.schema.slots[name]?.isComputed == false else {
            throw wrong(path, component, table, "is a value: the path must end there")
          }
          if table.layout.isGenerated(name) {
            throw wrong(
              path, component, table, "is GENERATED: its value is known only after the save")
          }
          add(hops, table, [name])
          return
        }
        if let paths = table.schema.computed[name] {
          if depth > 100 { throw wrong(path, component, table, "depends on itself") }
          for path in paths { try read(path, from: table, hops, depth: depth + 1) }
          return
        }
        throw noProperty(component, path, table)
      }
    }

    private mutating func add(
      _ hops: [StoredDependency.Hop], _ table: RecordTable, _ names: [String]
    ) {
      let slots = Set(names.compactMap { table.schema.slots[$0]?.slot })
      found.append(StoredDependency(root: root, column: column, hops: hops, slots: slots))
    }

    private func noProperty(
      _ component: Path.Component, _ path: String, _ table: RecordTable
    ) -> RecordError {
      wrong(
        path, component, table,
        "is not a column, a relation, or computed from these by declared key paths")
    }

    private func wrong(
      _ path: String, _ component: Path.Component, _ table: RecordTable, _ detail: String
    ) -> RecordError {
      RecordError(
        .wrongDependency, table: root.name, column: column.name,
        "its key path '\(path)': '\(component)' of '\(table.record)' \(detail)")
    }
  }
#endif
