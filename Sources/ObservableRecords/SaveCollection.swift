#if Records
  internal import Observables

  /// The operations of a save, in order.
  struct SaveCollection {
    private(set) var plan = SavePlan()
    private(set) var states: [RecordState] = []
    /// The indexes of the operations, by state.
    private(set) var places: [ObjectIdentifier: Int] = [:]
    private let listed: [RecordState]
    /// Objects whose operations are being added.
    private var underway: Set<ObjectIdentifier> = []
    /// Columns that refer to rows whose insertion comes later.
    private var later: [(operation: Int, value: Int, parent: RecordState)] = []
    /// Objects that refer to a row, in the database or after the save.
    private var referring: [SaveReference: [RecordState]] = [:]

    /// Creates a collection for the changed objects.
    init(_ listed: [RecordState]) { self.listed = listed }

    /// Makes the save depend on writes of others: it must not run if they have written rows that
    /// are not in memory yet.
    mutating func needPresent() { plan.needsPresent = true }

    /// Adds the operations of all objects.
    ///
    /// Deletions come first, as other operations may use the keys and values that they free. A
    /// deletion comes after the rows that no longer refer to its row. If a row starts to refer to
    /// it only now, the database decides. All other operations follow in the order of the changes,
    /// each after the rows to which it refers. A value that cannot be stored makes a refused
    /// operation.
    mutating func addAll() {
      if listed.contains(where: { $0.phase == .deleting }) {
        findReferring()
        for state in listed where state.phase == .deleting { add(state) }
      }
      for state in listed { add(state) }
      for (operation, value, parent) in later {
        guard let place = places[ObjectIdentifier(parent)] else { continue }
        plan.operations[operation].parents.append((value: value, operation: place))
      }
    }

    /// Notes rows that are saved together or not at all; rows without operations may connect them.
    mutating func relate(_ pairs: [(RecordState, RecordState)]) {
      var places = places
      func place(_ state: RecordState) -> Int {
        let identity = ObjectIdentifier(state)
        if let known = places[identity] { return known }
        let new = states.count + places.count
        places[identity] = new
        return new
      }
      plan.related += pairs.map { (place($0), place($1)) }
    }

    private mutating func findReferring() {
      for state in listed {
        guard let table = state.table, let object = state.object else { continue }
        for (column, key) in table.foreignKeys {
          let values = [state.changed[column.slot], try? column.read(object)]
          for target in Set(values.compactMap { $0.flatMap { RecordKey($0, key.collation) } }) {
            referring[SaveReference(table: key.target, key: target), default: []].append(state)
          }
        }
      }
    }

    /// Adds the operation of an object, after the operations that have to precede it.
    private mutating func add(_ state: RecordState) {
      guard let table = state.table, let object = state.object,
        places[ObjectIdentifier(state)] == nil,
        underway.insert(ObjectIdentifier(state)).inserted
      else { return }
      defer { underway.remove(ObjectIdentifier(state)) }
      do {
        switch state.phase {
        case .free, .deleted: return
        case .new: try addInsert(state, table, object)
        case .saved: try addUpdate(state, table, object)
        case .deleting: addDeletion(state, table)
        }
      } catch {
        append(
          state,
          SavePlan.Operation(
            kind: .refused(error), layout: table.layout, key: state.key?.value))
        relate(state.newParents.values.map { (state, $0) })
      }
    }

    private mutating func addDeletion(_ state: RecordState, _ table: RecordTable) {
      if let key = state.key {
        let reference = SaveReference(table: table.name.lowercased(), key: key)
        for other in referring[reference] ?? [] { add(other) }
      }
      append(
        state,
        SavePlan.Operation(kind: .delete, layout: table.layout, key: state.key?.value))
    }

    /// Whether a new row can be inserted only after a row whose operation is being added.
    private func waits(_ state: RecordState, _ seen: inout Set<ObjectIdentifier>) -> Bool {
      let identity = ObjectIdentifier(state)
      guard state.phase == .new, let table = state.table, places[identity] == nil else {
        return false
      }
      if underway.contains(identity) { return true }
      if !seen.insert(identity).inserted { return false }
      return state.newParents.contains { slot, parent in
        table.column(slot)?.isOptional == false && waits(parent, &seen)
      }
    }

    /// Adds the row to which a column of a new row refers; returns false if it comes later, as the
    /// rows refer to each other.
    private mutating func addParent(
      _ parent: RecordState, of column: RecordColumn, in table: RecordTable
    ) throws -> Bool {
      var seen: Set<ObjectIdentifier> = []
      if waits(parent, &seen) {
        if column.isOptional { return false }
        throw RecordError(
          .notStorable, table: table.name, column: column.name,
          "new rows refer to each other in a cycle, and this column cannot be NULL at first")
      }
      add(parent)
      return true
    }

    private mutating func append(_ state: RecordState, _ operation: SavePlan.Operation) {
      places[ObjectIdentifier(state)] = states.count
      states.append(state)
      plan.operations.append(operation)
    }

    private mutating func addInsert(
      _ state: RecordState, _ table: RecordTable, _ object: any ObservableRecord
    ) throws {
      var operation = SavePlan.Operation(kind: .insert, layout: table.layout)
      var waiting: [(value: Int, parent: RecordState)] = []
      for column in table.schema.columns where !table.generated.contains(column.slot) {
        let value = try table.value(of: column, object)
        if column.name == table.record.primaryKeyName {
          if value.isNull {
            if table.hasAutomaticKey { continue }
            throw RecordError(
              .notStorable, table: table.name, column: column.name,
              "the key is nil, and SQLite generates no keys for this table")
          }
          operation.key = value
        }
        if let parent = state.newParents[column.slot] {
          if try !addParent(parent, of: column, in: table) {
            waiting.append((value: operation.values.count, parent: parent))
          } else if let place = places[ObjectIdentifier(parent)],
            case .insert = plan.operations[place].kind
          {
            operation.parents.append((value: operation.values.count, operation: place))
          }
        }
        if column.isComputed { needPresent() }
        operation.columns.append(column)
        operation.values.append(state.newParents[column.slot]?.key?.value ?? value)
      }
      later += waiting.map { (operation: states.count, value: $0.value, parent: $0.parent) }
      append(state, operation)
    }

    private mutating func addUpdate(
      _ state: RecordState, _ table: RecordTable, _ object: any ObservableRecord
    ) throws {
      // The row is being inserted, and has no key yet.
      guard let key = state.key else { return }
      var operation = SavePlan.Operation(
        kind: .update, layout: table.layout, key: key.value)
      for column in table.schema.columns {
        var value: StoredValue?
        var former = state.changed[column.slot]
        if let parent = state.newParents[column.slot] {
          add(parent)
          value = parent.key?.value ?? .null
          former = try former ?? table.value(of: column, object)
          if let place = places[ObjectIdentifier(parent)] {
            operation.parents.append((value: operation.values.count, operation: place))
          }
        } else if let former {
          let now = try table.value(of: column, object)
          if now == former { continue }
          if column.name == table.record.primaryKeyName {
            throw RecordError(
              .keyChanged, table: table.name, column: column.name, row: key.description,
              "the key of a saved row cannot be changed; revert(_:) restores it")
          }
          value = now
        }
        guard let value else { continue }
        if column.isComputed { needPresent() }
        operation.columns.append(column)
        operation.values.append(value)
        operation.former.append(former ?? .null)
      }
      if operation.columns.isEmpty { return }
      append(state, operation)
    }
  }
#endif
