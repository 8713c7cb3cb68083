#if Records
  internal import Observables

  /// Computes `@Stored` properties, which are written in the same transaction as their
  /// dependencies.
  final class StoredProperties {
    /// A row with a stored property at the end of a hop, and the changed rows to which the hop
    /// leads.
    private typealias Step = (owner: RecordState, others: [RecordState])

    private unowned let store: RecordStore
    /// Whether the properties are being computed for a save.
    private(set) var areBeingSettled = false
    /// Pairs of a changed row and a row whose stored properties depend on it, in the save under
    /// preparation.
    private(set) var related: [(RecordState, RecordState)] = []
    /// Objects that were fetched for a save, and are kept until all properties are computed.
    private var held: [any ObservableRecord] = []

    init(_ store: RecordStore) { self.store = store }

    /// Computes the stored properties that depend on changes, also of rows that are not in memory.
    ///
    /// A property with a new value is a change, too.
    ///
    /// Each property of a row becomes a change at most once. The properties that depend on it are
    /// computed in the next round.
    ///
    /// - Returns: whether any property was computed.
    func settle() throws -> Bool {
      if areBeingSettled || !store.tables.all.contains(where: { !$0.schema.stored.isEmpty }) {
        return false
      }
      areBeingSettled = true
      related = []
      defer { (areBeingSettled, held) = (false, []) }
      var hasComputed = false
      try deleteDependents()
      var states = store.unsaved.states
      while !states.isEmpty {
        var next: [RecordState] = []
        for table in store.tables.all {
          let changed = states.filter { $0.table === table }
          if changed.isEmpty { continue }
          for dependency in table.dependents {
            let relevant = changed.filter { $0.affects(dependency) }
            if relevant.isEmpty { continue }
            for root in try climb(dependency.hops, from: relevant) {
              hasComputed = true
              if compute(dependency.column, of: root) { next.append(root) }
            }
          }
        }
        states = next
      }
      return hasComputed
    }

    /// Computes all stored properties of a row; new values are changes.
    func compute(of state: RecordState) {
      for column in state.table?.schema.stored ?? [] { _ = compute(column, of: state) }
    }

    /// Computes one property; returns true if it has become a change, as its value differs.
    private func compute(_ column: RecordColumn, of state: RecordState) -> Bool {
      guard let table = state.table, let object = state.object, state.phase == .saved else {
        return false
      }
      let saved = state.storedValues[column.slot] ?? .null
      // A value that cannot be stored is an error of the row, reported by the save.
      let value = try? table.value(of: column, object)
      if value == saved || state.changed[column.slot] != nil { return false }
      state.changed[column.slot] = saved
      store.unsaved.note(state, object)
      return true
    }

    /// Performs the database's actions on rows that refer to deleted ones, if stored properties of
    /// other rows depend on them.
    private func deleteDependents() throws {
      var place = 0
      while place < store.unsaved.states.count {
        let states = store.unsaved.states[place...].filter { $0.phase == .deleting }
        place = store.unsaved.states.count
        let groups = Dictionary(grouping: states) { $0.table.map(ObjectIdentifier.init) }
        for group in groups.values {
          guard let owner = group.first?.table else { continue }
          for table in store.tables.all {
            for (column, key) in table.foreignKeys
            where key.action != .other && key.target == owner.name.lowercased()
              && table.isNeeded(by: column, key.action, of: owner)
            {
              try deleteRows(of: table, column, key, referringTo: group, of: owner)
            }
          }
        }
      }
    }

    /// Deletes the rows of one table that refer to deleted ones, or sets their reference to NULL.
    private func deleteRows(
      of table: RecordTable, _ column: RecordColumn, _ key: ForeignKey,
      referringTo deleted: [RecordState], of owner: RecordTable
    ) throws {
      let objects =
        try table.rows(deleted.compactMap(\.key), in: column.name, key.collation)
        + store.unsaved.states.filter { $0.table === table }.compactMap(\.object)
      held += objects
      let owners = byKey(deleted)
      for object in objects {
        let (state, value) = (object.recordState, try column.read(object))
        guard state.phase == .saved, state.newParents[column.slot] == nil,
          let owner = owner.key(value).flatMap({ owners[$0] })
        else { continue }
        let isCascade = key.action == .cascade
        store.saves.note(
          DependentRow(object: object, owner: owner, reference: isCascade ? nil : (column, value)))
        if isCascade { store.delete(object) } else { _ = column.write?(object, .null) }
      }
    }

    private func byKey(_ states: [RecordState]) -> [RecordKey: RecordState] {
      Dictionary(
        states.compactMap { state in state.key.map { ($0, state) } },
        uniquingKeysWith: { first, _ in first })
    }

    /// Follows the steps backwards, from these rows to the rows where the steps begin.
    private func climb(
      _ hops: [StoredDependency.Hop], from states: [RecordState]
    ) throws -> [RecordState] {
      var states = states
      for hop in hops.reversed() {
        let isReference = hop.relation.kind == .reference
        let found = try isReference ? referring(hop, states) : referred(hop, states)
        var owners: [RecordState] = []
        var seen: Set<ObjectIdentifier> = []
        for (owner, others) in found where !owner.isDeleted {
          related += others.map { ($0, owner) }
          if seen.insert(ObjectIdentifier(owner)).inserted { owners.append(owner) }
        }
        states = owners
      }
      return states
    }

    /// Returns the rows that refer to these rows, each with the rows to which it refers.
    private func referring(_ hop: StoredDependency.Hop, _ states: [RecordState]) throws -> [Step] {
      guard let column = hop.owner.schema.slots[hop.relation.column] else { return [] }
      let targets = byKey(states)
      let objects = try hop.owner.rows(
        states.compactMap(\.key), in: column.name, hop.target.layout.collation)
      held += objects
      func target(of object: any ObservableRecord) -> RecordState? {
        (try? column.read(object)).flatMap(hop.target.key).flatMap { targets[$0] }
      }
      let saved = objects.map { object -> Step in
        (object.recordState, target(of: object).map { [$0] } ?? [])
      }
      return saved
        + store.unsaved.states.filter { $0.table === hop.owner }.compactMap { state in
          state.object.flatMap(target).map { (state, [$0]) }
        }
    }

    /// Returns the rows to which these rows refer, or have referred, each with the rows that refer
    /// to it.
    private func referred(_ hop: StoredDependency.Hop, _ states: [RecordState]) throws -> [Step] {
      guard let column = hop.target.schema.slots[hop.relation.column] else { return [] }
      var found: [Step] = []
      var keys: [RecordKey] = []
      var members: [RecordKey: [RecordState]] = [:]
      for state in states {
        let parent = state.newParents[column.slot]
        if let parent { found.append((parent, [state])) }
        // A new row that refers to another new one has no key in the column until both are saved.
        guard let object = state.object, parent == nil || state.phase != .new else { continue }
        let values = [state.changed[column.slot], try? column.read(object)]
        for key in values.compactMap({ $0.flatMap(hop.owner.key) }) {
          if members[key] == nil { keys.append(key) }
          members[key, default: []].append(state)
        }
      }
      let missing = keys.filter { hop.owner.state($0) == nil }
      held += try hop.owner.rows(missing)
      return found
        + keys.compactMap { key in hop.owner.state(key).map { ($0, members[key] ?? []) } }
    }
  }

  extension RecordTable {
    /// Whether stored properties of rows other than the deleted row of `owner` depend on rows that
    /// are deleted, or lose a reference, with it.
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
