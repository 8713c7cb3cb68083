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
    func settleStored() throws {
      if isSettling || !tables.values.contains(where: { !$0.schema.stored.isEmpty }) { return }
      isSettling = true
      defer { isSettling = false }
      // Objects that were fetched for this stay until it is done.
      var held: [any ObservableRecord] = []
      var done = 0
      var rounds = 0
      while done < listed.count {
        rounds += 1
        if rounds > 1_000 {
          throw RecordError(
            .wrongDependency, table: "", "stored properties change each other without end")
        }
        let states = Array(listed[done...])
        done = listed.count
        for table in tables.values.sorted(by: { $0.name < $1.name }) {
          let changed = states.filter { $0.table === table }
          if changed.isEmpty { continue }
          for dependency in table.dependents {
            let relevant = changed.filter { $0.affects(dependency) }
            if relevant.isEmpty { continue }
            let roots = try climb(dependency.hops, from: relevant, &held)
            for root in roots { try compute(dependency.column, of: root) }
          }
        }
      }
    }

    private func computeStored(of state: RecordState) throws {
      guard let table = state.table, state.phase == .saved else { return }
      for column in table.schema.stored { try compute(column, of: state) }
    }

    /// Computes one property, which is a change if the row has another value.
    private func compute(_ column: RecordColumn, of state: RecordState) throws {
      guard let table = state.table, let object = state.object, state.phase == .saved else {
        return
      }
      let value = try table.value(of: column, object)
      let saved = state.storedValues[column.slot] ?? .null
      if value == saved || state.changed[column.slot] != nil { return }
      state.changed[column.slot] = saved
      noteChange(of: state, object)
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
        func add(_ state: RecordState) {
          if !state.isDeleted, seen.insert(ObjectIdentifier(state)).inserted {
            owners.append(state)
          }
        }
        let objects: [any ObservableRecord]
        if hop.relation.kind == .reference {
          guard let column = hop.owner.schema.slots[hop.relation.column] else { return [] }
          let keys = states.compactMap(\.key)
          objects = try rows(of: hop.owner.record, hop.owner, column.name, keys)
          let wanted = Set(keys.map(\.databaseValue))
          for state in listed where state.table === hop.owner {
            guard let object = state.object, wanted.contains(try column.read(object)) else {
              continue
            }
            add(state)
          }
        } else {
          guard let column = hop.target.schema.slots[hop.relation.column] else { return [] }
          var keys: [RecordKey] = []
          var wanted: Set<RecordKey> = []
          for state in states {
            let parent = state.newParents[column.slot]
            if let parent { add(parent) }
            // A new row that refers to a new one has no key in the column until both are saved.
            guard let object = state.object, parent == nil || state.phase == .saved else {
              continue
            }
            let values = [state.changed[column.slot], try column.read(object)]
            for key in values.compactMap({ $0.flatMap(RecordKey.init) }) {
              if wanted.insert(key).inserted { keys.append(key) }
            }
          }
          for key in keys { if let known = hop.owner.state(key) { add(known) } }
          let missing = keys.filter { hop.owner.state($0) == nil }
          objects = try rows(
            of: hop.owner.record, hop.owner, hop.owner.record.primaryKeyName, missing)
        }
        held.append(contentsOf: objects)
        for object in objects { add(object.recordState) }
        states = owners
      }
      return states
    }

    private func rows<Record: ObservableRecord>(
      of record: Record.Type, _ table: RecordTable, _ column: String, _ keys: [RecordKey]
    ) throws -> [any ObservableRecord] {
      var objects: [any ObservableRecord] = []
      for part in keys.parts(of: 10_000) {
        let values = part.map(\.databaseValue)
        let request = record.filter(values.contains(Column(column)))
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
      for part in keys.compactMap(RecordKey.init).parts(of: 1_000) {
        let objects = try rows(
          of: record, table, record.primaryKeyName, Array(part))
        for object in objects { try computeStored(of: object.recordState) }
        count += objects.count { $0.hasUnsavedChanges }
        try save()
        prefetched = [:]
      }
      return count
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
