#if Records
  internal import Observables

  /// Taking changes back.
  extension RecordStore {
    /// Takes back the unsaved changes of objects: they have the values that the database has, new
    /// ones leave the store, and deleted ones are there again.
    ///
    /// Waits for the save under way. Objects of other stores are left alone.
    public func revert(_ objects: [any ObservableRecord]) {
      waitForSave()
      synchronizeLists()
      takeBack(objects)
    }

    /// Takes back all unsaved changes.
    public func revert() {
      waitForSave()
      synchronizeLists()
      takeBack(listed.compactMap(\.object) + orphans.map(\.object))
    }

    private func takeBack(_ objects: [any ObservableRecord]) {
      let wanted = Set(objects.map { ObjectIdentifier($0) })
      let lost = orphans.filter { wanted.contains(ObjectIdentifier($0.object)) }
      orphans.removeAll { wanted.contains(ObjectIdentifier($0.object)) }
      let own = objects.filter { $0.recordState.store === self }
      // They may have the keys of deleted ones.
      withdraw(
        own.map(\.recordState).filter { $0.phase == .new }, isDeletion: false)
      for object in own where object.recordState.phase != .free { revert(object) }
      for orphan in lost where orphan.object.recordState.phase == .saved {
        enterLists(orphan.object, orphan.column.slot)
      }
      forgetUnchanged()
      for list in loadedLists where list.isReordered {
        let isWanted = list.owner?.object.map { wanted.contains(ObjectIdentifier($0)) } ?? false
        if isWanted || listed.isEmpty
          || list.objects.contains(where: { wanted.contains(ObjectIdentifier($0)) })
        {
          list.restoreOrder()
        }
      }
      if listed.isEmpty { forgetOrders() }
      // What fails next is another story.
      if listed.isEmpty, pendingChanges.isEmpty { retry.stop() }
    }

    /// Lists are saved as they are.
    func forgetOrders() { for list in loadedLists { list.forgetOrder() } }

    private func forgetUnchanged() {
      listed.removeAll { state in
        let isDone = !state.hasUnsavedChanges
        if isDone { state.isListed = false }
        return isDone
      }
    }

    private func revert(_ object: any ObservableRecord) {
      let state = object.recordState
      guard let table = state.table else { return }
      switch state.phase {
      case .free, .new, .deleted: break
      case .deleting:
        if let other = state.key.flatMap(table.state), other !== state, !other.isDeleted {
          return report(
            state.error(.otherStore, "the row stays deleted: there is another one with its key"))
        }
        state.phase = .saved
        if let key = state.key { table.enter(state, key) }
        restoreValues(state, table, object)
        comeBack(object, table)
      case .saved: restoreValues(state, table, object)
      }
      state.updateKeeping()
    }

    /// An object is not deleted any more.
    private func comeBack(_ object: any ObservableRecord, _ table: RecordTable) {
      for slot in table.incoming.keys { enterLists(object, slot) }
      invalidateReferrers(of: table, object.recordState)
      for query in queries where query.lists(table) { query.isStale = true }
      readAgain()
    }

    /// Rows that were to go, or to change, with others are as before, where those were not saved.
    func restoreDependentRows(of unsaved: [RecordState]? = nil) {
      let wanted = unsaved.map { Set($0.map(ObjectIdentifier.init)) }
      let rows = dependentRows.filter { row in
        wanted?.contains(ObjectIdentifier(row.owner)) ?? true
      }
      dependentRows = []
      for row in rows.reversed() {
        let state = row.object.recordState
        guard let table = state.table, table.store === self else { continue }
        if let reference = row.reference {
          if state.phase == .saved, (try? reference.column.read(row.object)) == .null {
            _ = reference.column.write?(row.object, reference.key)
          }
        } else if state.phase == .deleting {
          state.phase = .saved
          if let key = state.key { table.enter(state, key) }
          comeBack(row.object, table)
          state.updateKeeping()
        }
      }
      if !rows.isEmpty { forgetUnchanged() }
    }

    /// Puts an object into the lists of the row that one of its columns refers to.
    private func enterLists(_ object: any ObservableRecord, _ slot: Int) {
      guard let table = object.recordState.table else { return }
      let owner = table.column(slot).flatMap { try? $0.read(object) }
      table.relink(object, slot, from: .null, to: owner ?? .null)
    }

    private func restoreValues(
      _ state: RecordState, _ table: RecordTable, _ object: any ObservableRecord
    ) {
      let changed = state.changed
      state.changed = [:]
      for slot in state.newParents.keys { state.leaveNewParent(slot, object) }
      for (slot, value) in changed {
        guard let column = table.column(slot) else { continue }
        let now = (try? column.read(object)) ?? .null
        state.apply { _ = column.write?(object, value) }
        if table.isLink(slot), now != value {
          table.relink(object, slot, from: now, to: value)
        }
      }
    }

    /// Properties that refer to a row which is there again are computed anew.
    private func invalidateReferrers(of table: RecordTable, _ state: RecordState) {
      for referrer in state.takeReferrers() {
        try? referrer.state?.object?.invalidate(referrer.name)
      }
    }

    // MARK: Transactions

    /// Runs `body` and saves what it has changed, or takes all of that back: rows, lists,
    /// insertions and deletions (S8).
    ///
    /// Waits for the database, whatever ``saving`` is. Unsaved changes from before are saved first.
    /// Coalesced watchers are not called for what was taken back; immediate ones are called for the
    /// way back. Changes of other models in `body` stay. `body` must neither flush nor wait, and
    /// has no transaction of the store inside of it.
    ///
    /// - Throws: what `body` throws, and ``SaveError`` where the changes cannot be saved: then they
    ///   are taken back. ``SaveError`` for changes from before, which stay; `body` does not run
    /// then.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
      if transaction != nil {
        throw RecordError(
          .inTransaction, table: "",
          "a transaction of the store is under way: it has none inside of it")
      }
      try checkNoTransaction("saved")
      try saveNow()
      // What others have written is no part of the transaction.
      if areOthersBeingRead || collector.otherTransactions != heardTransactions {
        try catchUp(to: nil)
      }
      guard let transaction = RecordTransaction(loop.engine) else {
        throw RecordError(
          .inTransaction, table: "", "transactions are too many, one inside of the other")
      }
      self.transaction = transaction
      let generation = readGeneration
      for list in loadedLists { list.cover(by: transaction) }
      do {
        let result = try body()
        try saveNow()
        transaction.close(isUndone: false)
        self.transaction = nil
        return result
      } catch {
        revert()
        // What others have written has come in meanwhile: its watchers are called.
        transaction.close(isUndone: readGeneration == generation)
        self.transaction = nil
        throw error
      }
    }

    /// What is written to an object belongs to the transaction under way.
    func coverInTransaction(_ object: any ObservableRecord) { transaction?.cover(object) }
  }

  /// A transaction under way.
  final class RecordTransaction {
    private let engine: ObservationCore.Engine
    private var covered: [(object: any KeyPathObservable, node: ObservationCore.NodeRef)] = []

    /// The number by which the engine knows it.
    private let number: Int

    /// Opens a transaction; nil where there are too many.
    init?(_ engine: ObservationCore.Engine) {
      guard let number = engine.beginTransaction() else { return nil }
      (self.engine, self.number) = (engine, number)
      engine.openTransaction(number)
    }

    /// Watchers that are pending only for writes to this object are not called if those are undone.
    func cover(_ object: any KeyPathObservable) {
      guard let node = object.currentNode(in: engine) else { return }
      engine.cover(node, by: number, true)
      covered.append((object, node))
    }

    func close(isUndone: Bool) {
      engine.closeTransaction(number, isUndone: isUndone)
      // An object may have lost all its watchers meanwhile.
      for (object, node) in covered where object.currentNode(in: engine) == node {
        engine.cover(node, by: number, false)
      }
      engine.endTransaction(number)
    }
  }
#endif
