#if Records
  internal import Observables

  /// Objects with changes that are not in the database yet, and that can be saved or reverted.
  final class UnsavedRows {
    /// An object that was removed from a list, and whose column cannot be NULL.
    ///
    /// It is deleted unless another row gets it in the same turn.
    private struct Orphan {
      let object: any ObservableRecord
      let column: RecordColumn
      let owner: RecordState
    }

    private unowned let store: RecordStore
    /// The states of changed objects, in the order of their first changes.
    private(set) var states: [RecordState] = []
    private var orphans: [Orphan] = []

    init(_ store: RecordStore) { self.store = store }

    /// Releases all objects when the store is closed.
    func close() { (states, orphans) = ([], []) }

    var isEmpty: Bool { states.isEmpty }

    /// Notes the first change of an object since the last save.
    func note(_ state: RecordState, _ object: any ObservableRecord) {
      if state.hasObject { store.transaction?.cover(object) }
      if !state.isListed {
        state.isListed = true
        states.append(state)
        state.updateKeeping()
      }
      store.saves.askForTurnEnd()
    }

    /// Returns objects that refer to a row, but are not saved with this reference yet.
    func rows<Target: ObservableRecord>(
      _ relation: RecordRelation, in target: RecordTable, of owner: RecordState
    ) -> [Target] {
      guard let column = target.schema.slots[relation.column],
        !owner.isKeyless || owner.hasBeenNewParent
      else { return [] }
      return states.compactMap { state in
        guard state.table === target, !state.isDeleted, let object = state.object as? Target else {
          return nil
        }
        if let parent = state.newParents[column.slot] { return parent === owner ? object : nil }
        return owner.isKey(try? column.read(object)) ? object : nil
      }
    }

    // MARK: Saving

    /// Takes all objects, for a save.
    func takeAll() -> [RecordState] {
      let all = states
      states = []
      for state in all { state.isListed = false }
      return all
    }

    /// Returns changes that were not saved; the next save writes them before later changes.
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

    /// Deletes objects that a list has lost, unless another list has got them in this turn.
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

    /// Whether another list, or the same list, has got the object again.
    private func isListed(_ orphan: Orphan) -> Bool {
      let table = orphan.object.recordState.table
      let value = (try? orphan.column.read(orphan.object)) ?? .null
      let owners = (table?.incoming[orphan.column.slot] ?? []).compactMap { link in
        link.owner.key(value).flatMap(link.owner.state)
      }
      return (owners + [orphan.owner]).contains { owner in
        owner.relations.values.contains { list in
          list.relation.column == orphan.column.name
            && list.contains(orphan.object)
        }
      }
    }

    /// Removes rows that were never saved, and new rows that have to refer to them; other rows that
    /// refer to them get their former value again.
    func withdraw(_ states: [RecordState], isDeletion: Bool) {
      let (gone, isGone) = withDependents(states)
      var areQueriesStale = false
      for state in gone {
        guard let table = state.table, let object = state.object else { continue }
        let hasKey = !state.isKeyless
        if !isDeletion {
          // New rows that are removed together keep their references, as they may be inserted
          // again.
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
        // Another user may have inserted a row with the key.
        areQueriesStale = true
        store.reads.markStale(table)
      }
      if areQueriesStale { store.reads.readAgain() }
    }

    /// Returns the new rows together with new rows that must refer to them; other rows stop
    /// referring to them.
    private func withDependents(
      _ states: [RecordState]
    ) -> (all: [RecordState], identities: Set<ObjectIdentifier>) {
      var children: [ObjectIdentifier: [(state: RecordState, slot: Int)]] = [:]
      for state in states.contains(where: \.hasBeenNewParent) ? self.states : [] {
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

    /// Discards the changes of some objects, or of all.
    func revert(_ wanted: [any ObservableRecord]? = nil) {
      let objects = wanted ?? states.compactMap(\.object) + orphans.map(\.object)
      let identities = Set(objects.map { ObjectIdentifier($0) })
      func isWanted(_ object: any ObservableRecord) -> Bool {
        identities.contains(ObjectIdentifier(object))
      }
      let lost = orphans.filter { isWanted($0.object) }
      orphans.removeAll { isWanted($0.object) }
      let own = objects.filter { $0.recordState.store === store }
      // New rows may have the keys of deleted ones.
      withdraw(own.map(\.recordState).filter { $0.phase == .new }, isDeletion: false)
      var areListsStale = false
      for object in own where object.recordState.phase != .free {
        if revert(object) { areListsStale = true }
      }
      for orphan in lost where orphan.object.recordState.phase == .saved {
        orphan.object.recordState.table?.link(orphan.object, orphan.column.slot)
      }
      forgetUnchanged()
      for list in store.relations.all where list.isReordered {
        let isMeant =
          list.owner?.object.map(isWanted) == true || list.objects.contains(where: isWanted)
        if isEmpty || isMeant { list.restoreOrder() }
      }
      if areListsStale { store.reads.readAgain() }
      if !isEmpty { return }
      store.relations.forgetOrders()
      // The next failure is reported again.
      if store.reads.isNothingPending { store.saves.retry.stop() }
    }

    /// Discards the changes of an object; returns whether lists of queries may lack it.
    private func revert(_ object: any ObservableRecord) -> Bool {
      let state = object.recordState
      guard let table = state.table else { return false }
      let wasDeleted = state.phase == .deleting
      if wasDeleted {
        if let other = state.key.flatMap(table.state), other !== state, !other.isDeleted {
          store.report(
            state.error(.otherStore, "the row stays deleted: there is another one with its key"))
          return false
        }
        state.undelete()
        state.restoreValues(object)
        comeBack(object, table)
      } else if state.phase == .saved {
        state.restoreValues(object)
      }
      state.updateKeeping()
      return wasDeleted
    }

    /// Restores rows that were deleted or changed together with others.
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
      if rows.isEmpty { return }
      forgetUnchanged()
      store.reads.readAgain()
    }

    /// Puts an object whose deletion was cancelled back into lists and properties.
    ///
    /// Queries have to be read again.
    private func comeBack(_ object: any ObservableRecord, _ table: RecordTable) {
      table.link(object)
      object.recordState.invalidateReferrers()
      store.reads.markStale(table)
    }
  }

  /// A row that the store changes because of `owner`: it is deleted, or its column that refers to
  /// `owner` becomes NULL.
  ///
  /// The owner is deleted, or takes the row's unique values.
  struct DependentRow {
    let object: any ObservableRecord
    /// The row that is deleted, or takes the values.
    let owner: RecordState
    let reference: (column: RecordColumn, key: StoredValue)?
  }
#endif
