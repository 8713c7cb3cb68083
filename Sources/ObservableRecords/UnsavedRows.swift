#if Records
  internal import Observables

  /// Objects with changes that are not in the database yet.
  ///
  /// The changes can be saved or reverted.
  final class UnsavedRows {
    /// An object that a list has lost and whose column cannot be NULL.
    ///
    /// It is deleted unless another row gets it in the same turn.
    private struct Orphan {
      let object: any ObservableRecord
      let column: RecordColumn
      let owner: RecordState
    }

    private unowned let store: RecordStore
    /// The objects that have changes, in the order in which they got them.
    private(set) var states: [RecordState] = []
    private var orphans: [Orphan] = []

    init(_ store: RecordStore) { self.store = store }

    /// Releases all objects: the store is closed.
    func close() { (states, orphans) = ([], []) }

    var isEmpty: Bool { states.isEmpty }

    /// An object got its first change since it was saved.
    func note(_ state: RecordState, _ object: any ObservableRecord) {
      if state.hasObject { store.transaction?.cover(object) }
      if !state.isListed {
        state.isListed = true
        states.append(state)
        state.updateKeeping()
      }
      store.saves.askForTurnEnd()
    }

    /// Objects that refer to a row and are not saved so yet.
    func rows<Target: ObservableRecord>(
      _ relation: RecordRelation, in target: RecordTable, of owner: RecordState
    ) -> [Target] {
      guard let column = target.schema.slots[relation.column] else { return [] }
      return states.compactMap { state in
        guard state.table === target, !state.isDeleted, let object = state.object as? Target else {
          return nil
        }
        if let parent = state.newParents[column.slot] { return parent === owner ? object : nil }
        return owner.isKey(try? column.read(object)) ? object : nil
      }
    }

    // MARK: Saving

    /// Takes out what a save handles.
    func takeAll() -> [RecordState] {
      let all = states
      states = []
      for state in all { state.isListed = false }
      return all
    }

    /// The changes of objects were not saved: they wait for the next save, before later ones.
    func putBack(_ states: [RecordState]) {
      var unsaved: [RecordState] = []
      for state in states {
        state.takeBack()
        if !state.isListed, state.hasUnsavedChanges {
          state.isListed = true
          unsaved.append(state)
        }
        state.updateKeeping()
      }
      self.states.insert(contentsOf: unsaved, at: 0)
    }

    private func forgetUnchanged() {
      states.removeAll { state in
        let isDone = !state.hasUnsavedChanges
        if isDone { state.isListed = false }
        return isDone
      }
    }

    func noteOrphan(_ object: any ObservableRecord, _ column: RecordColumn, of owner: RecordState) {
      orphans.append(Orphan(object: object, column: column, owner: owner))
      store.saves.askForTurnEnd()
    }

    /// Deletes objects that a list has lost, and no other one has got in this turn.
    func deleteOrphans() {
      let orphans = orphans
      self.orphans = []
      for orphan in orphans {
        let isLost =
          orphan.object.recordState.newParents[orphan.column.slot] == nil
          && (orphan.owner.isKeyless || orphan.owner.isKey(try? orphan.column.read(orphan.object)))
        if isLost, !isListed(orphan) { store.delete(orphan.object) }
      }
    }

    /// Whether the list of a row has the object that another list, or this one, has lost.
    private func isListed(_ orphan: Orphan) -> Bool {
      let table = orphan.object.recordState.table
      let value = (try? orphan.column.read(orphan.object)) ?? .null
      let owners = (table?.incoming[orphan.column.slot] ?? []).compactMap { link in
        link.owner.key(value).flatMap(link.owner.state)
      }
      return (owners + [orphan.owner]).contains { owner in
        owner.relations.values.contains { list in
          list.relation.column == orphan.column.name
            && list.objects.contains { $0 === orphan.object }
        }
      }
    }

    /// Takes rows out that were never saved, and new ones that have to refer to them; others that
    /// refer to them keep what they had before.
    func withdraw(_ states: [RecordState], isDeletion: Bool) {
      let (gone, isGone) = withDependents(states)
      var areQueriesStale = false
      for state in gone {
        guard let table = state.table, let object = state.object else { continue }
        let hasKey = !state.isKeyless
        if !isDeletion {
          // What goes together stays together: it may be inserted again.
          for (slot, parent) in state.newParents where isGone.contains(ObjectIdentifier(parent)) {
            state.newParents[slot] = nil
          }
        }
        state.phase = .deleted
        table.unlink(object)
        if isDeletion {
          state.newParents = [:]
          for list in state.relations.values { list.set([]) }
          table.forget(state)
        } else {
          state.phase = .free
          state.leave()
        }
        state.updateKeeping()
        if !hasKey { continue }
        // Somebody else may have inserted a row with the key.
        areQueriesStale = true
        store.reads.markStale(table)
      }
      if areQueriesStale { store.reads.readAgain() }
    }

    /// New rows together with new rows that must refer to them; other rows stop referring to them.
    private func withDependents(
      _ states: [RecordState]
    ) -> (all: [RecordState], identities: Set<ObjectIdentifier>) {
      var children: [ObjectIdentifier: [(state: RecordState, slot: Int)]] = [:]
      for state in self.states {
        for (slot, parent) in state.newParents {
          children[ObjectIdentifier(parent), default: []].append((state, slot))
        }
      }
      var gone = states
      var isGone = Set(states.map(ObjectIdentifier.init))
      var place = 0
      while place < gone.count {
        for (child, slot) in children[ObjectIdentifier(gone[place])] ?? [] {
          guard let object = child.object, !isGone.contains(ObjectIdentifier(child)) else {
            continue
          }
          if child.phase == .new, child.table?.column(slot)?.isOptional == false {
            isGone.insert(ObjectIdentifier(child))
            gone.append(child)
          } else {
            child.leaveNewParent(slot, object)
            child.updateKeeping()
          }
        }
        place += 1
      }
      return (gone, isGone)
    }

    // MARK: Reverting

    /// Takes back the changes of objects, or all.
    func revert(_ wanted: [any ObservableRecord]? = nil) {
      let objects = wanted ?? states.compactMap(\.object) + orphans.map(\.object)
      let identities = Set(objects.map { ObjectIdentifier($0) })
      func isWanted(_ object: any ObservableRecord) -> Bool {
        identities.contains(ObjectIdentifier(object))
      }
      let lost = orphans.filter { isWanted($0.object) }
      orphans.removeAll { isWanted($0.object) }
      let own = objects.filter { $0.recordState.store === store }
      // They may have the keys of deleted ones.
      withdraw(own.map(\.recordState).filter { $0.phase == .new }, isDeletion: false)
      for object in own where object.recordState.phase != .free { revert(object) }
      for orphan in lost where orphan.object.recordState.phase == .saved {
        orphan.object.recordState.table?.link(orphan.object, orphan.column.slot)
      }
      forgetUnchanged()
      for list in store.relations.all where list.isReordered {
        let isMeant =
          list.owner?.object.map(isWanted) == true || list.objects.contains(where: isWanted)
        if isEmpty || isMeant { list.restoreOrder() }
      }
      if !isEmpty { return }
      store.relations.forgetOrders()
      // The next failure is reported again.
      if store.reads.isNothingPending { store.saves.retry.stop() }
    }

    private func revert(_ object: any ObservableRecord) {
      let state = object.recordState
      guard let table = state.table else { return }
      if state.phase == .deleting {
        if let other = state.key.flatMap(table.state), other !== state, !other.isDeleted {
          return store.report(
            state.error(.otherStore, "the row stays deleted: there is another one with its key"))
        }
        state.undelete()
        state.restoreValues(object)
        comeBack(object, table)
      } else if state.phase == .saved {
        state.restoreValues(object)
      }
      state.updateKeeping()
    }

    /// Rows that were to go, or to change, with others are as before.
    func restore(_ rows: [DependentRow]) {
      for row in rows.reversed() {
        let state = row.object.recordState
        guard let table = state.table, table.store === store else { continue }
        if let reference = row.reference {
          if state.phase == .saved, (try? reference.column.read(row.object)) == .null {
            _ = reference.column.write?(row.object, reference.key)
          }
        } else if state.phase == .deleting {
          state.undelete()
          comeBack(row.object, table)
          state.updateKeeping()
        }
      }
      if !rows.isEmpty { forgetUnchanged() }
    }

    /// Lists, properties and queries have an object again that is not deleted any more.
    private func comeBack(_ object: any ObservableRecord, _ table: RecordTable) {
      table.link(object)
      object.recordState.invalidateReferrers()
      store.reads.markStale(table)
      store.reads.readAgain()
    }
  }

  /// A row that the store changes because of `owner`: it is deleted, or its column that refers to
  /// `owner` becomes NULL.
  ///
  /// The owner is deleted, or takes the row's unique values.
  struct DependentRow {
    let object: any ObservableRecord
    /// The row that goes, or takes its values.
    let owner: RecordState
    let reference: (column: RecordColumn, key: StoredValue)?
  }
#endif
