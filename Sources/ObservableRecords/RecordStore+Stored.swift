#if Records
  internal import Observables

  /// `@Stored` properties: written in the same transaction as what they depend on.
  extension RecordStore {
    /// Finds what the stored properties of a class depend on.
    func checkStored(_ table: RecordTable) throws {
      for column in table.schema.stored {
        var reader = StoredPathReader(self, table, column)
        try reader.read()
        for dependency in reader.found {
          (dependency.hops.last?.target ?? table).add(dependency)
        }
      }
    }

    /// Computes the stored properties that depend on what has changed, also of rows that are not in
    /// memory: those that differ are changes, too.
    ///
    /// Each property of a row becomes a change at most once, and is looked at with what depends on
    /// it in the next round.
    ///
    /// - Returns: whether any property was computed.
    func settleStored() throws -> Bool {
      if isSettling || !tables.values.contains(where: { !$0.schema.stored.isEmpty }) {
        return false
      }
      isSettling = true
      defer { isSettling = false }
      relatedRows = []
      // Objects that were fetched for this stay until it is done.
      var held: [any ObservableRecord] = []
      var hasComputed = false
      try deleteDependents(&held)
      var states = listed
      while !states.isEmpty {
        var next: [RecordState] = []
        for table in tables.values.sorted(by: { $0.name < $1.name }) {
          let changed = states.filter { $0.table === table }
          if changed.isEmpty { continue }
          for dependency in table.dependents {
            let relevant = changed.filter { $0.affects(dependency) }
            if relevant.isEmpty { continue }
            let roots = try climb(dependency.hops, from: relevant, &held)
            for root in roots {
              hasComputed = true
              if compute(dependency.column, of: root) { next.append(root) }
            }
          }
        }
        states = next
      }
      return hasComputed
    }

    private func computeStored(of state: RecordState) {
      guard let table = state.table, state.phase == .saved else { return }
      for column in table.schema.stored { compute(column, of: state) }
    }

    /// Computes one property; true where it has become a change, as the row has another value.
    @discardableResult
    private func compute(_ column: RecordColumn, of state: RecordState) -> Bool {
      guard let table = state.table, let object = state.object, state.phase == .saved else {
        return false
      }
      let saved = state.storedValues[column.slot] ?? .null
      // A value that cannot be stored is an error of the row when it is saved.
      let value = try? table.value(of: column, object)
      if value == saved || state.changed[column.slot] != nil { return false }
      state.changed[column.slot] = saved
      noteChange(of: state, object)
      return true
    }

    /// Does here what the database would do with rows that refer to deleted ones, where stored
    /// properties of others depend on those.
    private func deleteDependents(_ held: inout [any ObservableRecord]) throws {
      var place = 0
      while place < listed.count {
        let states = listed[place...].filter { $0.phase == .deleting }
        place = listed.count
        let groups = Dictionary(grouping: states) { $0.table.map(ObjectIdentifier.init) }
        for group in groups.values {
          guard let owner = group.first?.table else { continue }
          for table in tables.values.sorted(by: { $0.name < $1.name }) {
            for (column, key) in table.foreignKeys
            where key.action != .other && key.target == owner.name.lowercased()
              && table.isNeeded(by: column, key.action, of: owner)
            {
              let objects =
                try rows(
                  of: table.record, table, column.name, group.compactMap(\.key),
                  key.collation)
                + listed.filter { $0.table === table }.compactMap(\.object)
              held.append(contentsOf: objects)
              let wanted = Dictionary(
                group.compactMap { state in state.key.map { ($0, state) } },
                uniquingKeysWith: { first, _ in first })
              for object in objects {
                let (state, value) = (object.recordState, try column.read(object))
                guard state.phase == .saved, state.newParents[column.slot] == nil,
                  let owner = owner.key(value).flatMap({ wanted[$0] })
                else { continue }
                let isCascade = key.action == .cascade
                dependentRows.append(
                  DependentRow(
                    object: object, owner: owner, reference: isCascade ? nil : (column, value)))
                if isCascade { delete(object) } else { _ = column.write?(object, .null) }
              }
            }
          }
        }
      }
    }

    /// The rows from which the steps lead to these ones.
    private func climb(
      _ hops: [StoredDependency.Hop], from states: [RecordState],
      _ held: inout [any ObservableRecord]
    ) throws -> [RecordState] {
      var states = states
      for hop in hops.reversed() {
        var owners: [RecordState] = []
        var seen: Set<ObjectIdentifier> = []
        func add(_ owner: RecordState, for others: [RecordState]) {
          if owner.isDeleted { return }
          relatedRows += others.map { ($0, owner) }
          if seen.insert(ObjectIdentifier(owner)).inserted { owners.append(owner) }
        }
        if hop.relation.kind == .reference {
          guard let column = hop.owner.schema.slots[hop.relation.column] else { return [] }
          let targets = Dictionary(
            states.compactMap { state in state.key.map { ($0, state) } },
            uniquingKeysWith: { first, _ in first })
          let keys = states.compactMap(\.key)
          let objects = try rows(
            of: hop.owner.record, hop.owner, column.name, keys, hop.target.layout.collation)
          held.append(contentsOf: objects)
          func target(of object: any ObservableRecord) -> [RecordState] {
            (try? column.read(object)).flatMap(hop.target.key).flatMap { targets[$0] }.map { [$0] }
              ?? []
          }
          for object in objects { add(object.recordState, for: target(of: object)) }
          for state in listed where state.table === hop.owner {
            let found = state.object.map(target) ?? []
            if !found.isEmpty { add(state, for: found) }
          }
        } else {
          guard let column = hop.target.schema.slots[hop.relation.column] else { return [] }
          var keys: [RecordKey] = []
          var members: [RecordKey: [RecordState]] = [:]
          for state in states {
            let parent = state.newParents[column.slot]
            if let parent { add(parent, for: [state]) }
            // A new row that refers to a new one has no key in the column until both are saved.
            guard let object = state.object, parent == nil || state.phase != .new else {
              continue
            }
            let values = [state.changed[column.slot], try? column.read(object)]
            for key in values.compactMap({ $0.flatMap(hop.owner.key) }) {
              if members[key] == nil { keys.append(key) }
              members[key, default: []].append(state)
            }
          }
          let missing = keys.filter { hop.owner.state($0) == nil }
          held.append(
            contentsOf: try rows(
              of: hop.owner.record, hop.owner, hop.owner.record.primaryKeyName, missing))
          for key in keys {
            if let owner = hop.owner.state(key) { add(owner, for: members[key] ?? []) }
          }
        }
        states = owners
      }
      return states
    }

    func rows<Record: ObservableRecord>(
      of record: Record.Type, _ table: RecordTable, _ column: String, _ keys: [RecordKey],
      _ collation: Collation = .binary
    ) throws -> [any ObservableRecord] {
      var objects: [any ObservableRecord] = []
      for part in keys.parts(of: 10_000) {
        let request = record.filter(keys: part, in: column, collation)
        let rows: [Record] = try read { try RowReader.fetch($0, request) }
        objects += adopt(rows, table, readAfter: saveNumber) as [any ObservableRecord]
      }
      return objects
    }

    /// Computes the stored properties of all rows anew, and saves those that differ.
    ///
    /// This is for rows that were written by code which knows nothing of them: migrations, other
    /// programs. Waits for the database.
    ///
    /// - Returns: how many rows were different.
    /// - Throws: ``SaveError``, and what reading throws.
    @discardableResult
    public func refreshStored<Record: ObservableRecord>(_ record: Record.Type) throws -> Int {
      try checkNoTransaction("saved")
      let table = try table(of: record)
      if table.schema.stored.isEmpty { return 0 }
      try save()
      var count = 0
      let keys = try read { db in
        try record.select(Column(record.primaryKeyName), as: DatabaseValue.self).fetchAll(db)
      }
      for part in keys.compactMap({ table.key(StoredValue($0)) }).parts(of: 1_000) {
        let objects = try rows(
          of: record, table, record.primaryKeyName, Array(part))
        for object in objects { computeStored(of: object.recordState) }
        count += objects.count { $0.hasUnsavedChanges }
        try save()
        prefetched = [:]
      }
      return count
    }
  }

  /// A row that goes with a deleted one, or for one that takes its unique values, or whose column
  /// that refers to a deleted one is to be NULL.
  struct DependentRow {
    let object: any ObservableRecord
    /// The row that goes, or takes its values.
    let owner: RecordState
    let reference: (column: RecordColumn, key: StoredValue)?
  }

  extension RecordTable {
    /// Whether stored properties, of others than a row of `owner`, depend on rows that go, or lose
    /// a reference, with that row.
    fileprivate func isNeeded(
      by column: RecordColumn, _ action: ForeignKey.Action, of owner: RecordTable
    ) -> Bool {
      dependents.contains { dependency in
        if let hop = dependency.hops.first, dependency.hops.count == 1, hop.owner === owner,
          hop.relation.column == column.name
        {
          return false
        }
        return action == .cascade
          ? !dependency.hops.isEmpty : dependency.slots.contains(column.slot)
      }
    }
  }

  extension RecordState {
    /// Whether the changes of the row may change a stored property.
    func affects(_ dependency: StoredDependency) -> Bool {
      if phase != .saved { return true }
      return changed.keys.contains { dependency.slots.contains($0) }
        || newParents.keys.contains { dependency.slots.contains($0) }
    }
  }
#endif
