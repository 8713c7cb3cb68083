#if Records
  internal import Observables

  /// Saves the changes: it collects them on the loop's thread, writes them on GRDB's thread, and
  /// handles the outcome on the loop's thread again.
  final class SaveCycle {
    private enum Phase {
      case idle
      /// The changes of a turn that has ended wait for a save.
      case due
      case writing(RunningSave)
    }

    private enum Outcome {
      case saved
      /// Others had written before. Their changes are in memory now, and the save is to be
      /// repeated.
      case outdated
      case failed(SaveError)
    }

    private unowned let store: RecordStore
    private var phase = Phase.idle
    /// The number of saves that have begun.
    private(set) var number = 0
    private var pauses = 0
    private var hasAskedForTurnEnd = false
    /// The callbacks of the next save.
    private var waiters: [RunningSave.Waiter] = []
    /// Rows that the save under way, or one that was given up, deletes or changes together with
    /// deleted rows.
    private var dependentRows: [DependentRow] = []
    /// Whether the last save was given up because others had written in the meantime.
    ///
    /// The next one locks the database first. Otherwise, others that write all the time could keep
    /// the store from saving.
    private var locksFirst = false
    /// Whether a save is given up if constraints delete rows.
    private var findsReplaced = true
    /// The database, while it is locked for a save that is being prepared.
    private(set) var locked: Database?
    let stored: StoredProperties
    let retry: SaveRetry

    init(_ store: RecordStore, retryInterval: Double?) {
      self.store = store
      stored = StoredProperties(store)
      retry = SaveRetry(retryInterval)
    }

    /// Ends the cycle; the store may be about to be released.
    func end() {
      retry.stop()
      dependentRows = []
    }

    /// Whether a save is under way.
    var isWriting: Bool { if case .writing = phase { true } else { false } }

    /// The number of the last save whose rows every read finds.
    ///
    /// A read may or may not see the rows of a save that is under way.
    var endedNumber: Int { isWriting ? number - 1 : number }

    // MARK: Turns

    func askForTurnEnd() {
      // Changes found while a save is being prepared become part of it.
      if hasAskedForTurnEnd || store.isClosed || stored.areBeingSettled { return }
      hasAskedForTurnEnd = true
      store.loop.whenTurnEnds { [weak store] in
        guard let store else { return }
        store.saves.turnEnded()
      }
    }

    private func turnEnded() {
      hasAskedForTurnEnd = false
      store.relations.forgetPrefetched()
      if store.isClosed { return }
      store.relations.endTurn()
      store.unsaved.deleteOrphans()
      if store.transaction != nil { return }
      if case .due = phase, !waiters.isEmpty { return begin() }
      if pauses > 0 { return }
      switch store.saving {
      case .explicit: break
      case .synchronous:
        do { try saveNow() } catch  where retry.isNews { store.report(error) } catch {}
      case .asynchronous: saveSoon()
      }
    }

    /// Runs `body` without saving at the ends of turns in it.
    func pause<Result>(_ body: () throws -> Result) rethrows -> Result {
      pauses += 1
      defer {
        pauses -= 1
        if pauses == 0, !store.unsaved.isEmpty { askForTurnEnd() }
      }
      return try body()
    }

    /// Repeats failed saves and reads.
    func tryAgain() {
      if store.isClosed { return }
      if !store.unsaved.isEmpty { askForTurnEnd() }
      store.reads.readPending()
    }

    // MARK: Saving

    /// Saves all changes, and waits for the end of the save.
    func saveNow() throws {
      try store.checkOpen()
      if locked != nil {
        throw RecordError(
          .inTransaction, table: "", "a save is under way: a getter cannot save anything")
      }
      wait()
      forgetDue()
      synchronize()
      do {
        while let (_, outcome) = try locksFirst ? saveLocked() : saveWaiting() {
          switch outcome {
          case .saved: return
          case .outdated:
            // An observer of the newly read changes may have begun a save.
            wait()
            forgetDue()
          case .failed(let error): throw error
          }
        }
      } catch {
        retry.noteFailure(error, store)
        throw error
      }
    }

    /// Saves all changes, waiting for the database; returns nil if there are none.
    private func saveWaiting() throws -> (save: RunningSave, outcome: Outcome)? {
      guard let save = try collect() else { return nil }
      phase = .writing(save)
      let collector = store.reads.collector
      let result = store.database.writeWithoutTransaction { save.plan.run($0, collector) }
      return (save, finish(save, result))
    }

    /// Saves all changes while no one else can write; returns nil if there are none.
    ///
    /// The lock is taken first. Then rows of others are read, and values are computed from them.
    /// Code of the program is called when the lock is released, except for getters.
    private func saveLocked() throws -> (save: RunningSave, outcome: Outcome)? {
      try store.delayingCallbacks {
        try store.database.writeWithoutTransaction(lockAndSave).map { save, result in
          (save: save, outcome: finish(save, result))
        }
      }
    }

    private func lockAndSave(_ db: Database) throws -> (RunningSave, SaveResult)? {
      let collector = store.reads.collector
      var save: RunningSave?
      var result = SaveResult()
      var hasLostTransaction = false
      do {
        try db.inTransaction(.immediate) {
          locked = db
          defer { locked = nil }
          try store.reads.catchUp(to: db.dataVersion())
          save = try collect()
          guard let save else { return .commit }
          collector.beginOwn(save.plan.operations.count)
          result = save.plan.write(db, collector)
          hasLostTransaction = !db.isInsideTransaction
          return hasLostTransaction ? .rollback : .commit
        }
      } catch let error as SaveError {
        throw error
      } catch {
        guard let save else {
          restoreDependentRows()
          let waiters = waiters
          self.waiters = []
          throw fail(store.unsaved.states, error, waiters)
        }
        result = SaveResult(failures: [
          SaveResult.Failure(
            error: error, operation: nil, group: Array(save.plan.operations.indices))
        ])
      }
      guard let save else { return nil }
      result.changes = collector.endOwn()
      // A trigger has ended the transaction. Others may have written since.
      if hasLostTransaction { result = save.plan.run(db, collector) }
      return (save, result)
    }

    /// Saves all changes, and calls `body` when they are saved.
    func whenSaved(_ body: @escaping RunningSave.Waiter) {
      waiters.append(body)
      saveSoon()
    }

    /// Saves in the background, after the save under way.
    private func saveSoon() {
      noteDue()
      if case .due = phase, locked == nil { begin() }
    }

    private func noteDue() {
      if case .writing(let save) = phase { save.isFollowed = true } else { phase = .due }
    }

    private func forgetDue() { if case .due = phase { phase = .idle } }

    /// Begins a save in the background; no save may be under way.
    private func begin() {
      phase = .idle
      synchronize()
      let hasWaiters = !waiters.isEmpty
      do {
        if locksFirst {
          if let (save, outcome) = try saveLocked() { conclude(save, outcome, isAwaited: true) }
          return
        }
        guard let save = try collect() else { return }
        phase = .writing(save)
        store.loop.retain()
        let (home, inbox) = (Parcel((store, save)), store.loop.inbox)
        let (plan, end, collector) = (save.plan, save.end, store.reads.collector)
        store.database.asyncWriteWithoutTransaction { db in
          end.arrive(plan.run(db, collector))
          inbox.post {
            let (store, save) = home.open()
            store.loop.release()
            store.saves.saved(save)
          }
        }
      } catch {
        failed(error, isTold: hasWaiters)
      }
    }

    private func synchronize() {
      store.relations.synchronize()
      store.unsaved.deleteOrphans()
    }

    /// Handles the end of a save in the background.
    private func saved(_ save: RunningSave) {
      // Code that could not wait for the message may have handled the result.
      guard case .writing(let running) = phase, running === save, let result = save.end.result
      else { return }
      conclude(save, finish(save, result), isAwaited: false)
    }

    /// Waits for the save under way, and for the saves that follow it.
    func wait() {
      while case .writing(let save) = phase {
        // Earlier work of the database's thread is done when this returns.
        store.database.writeWithoutTransaction { _ in }
        guard let result = save.end.result else { return }
        conclude(save, finish(save, result), isAwaited: true)
      }
    }

    /// Ends a save in the background, and begins the next one.
    private func conclude(_ save: RunningSave, _ outcome: Outcome, isAwaited: Bool) {
      var isWanted = false
      switch outcome {
      case .saved: break
      case .outdated: isWanted = isAwaited
      case .failed(let error): failed(error, isTold: !save.waiters.isEmpty)
      }
      guard case .due = phase, !store.isClosed else { return }
      // The turn under way is saved as a whole.
      if store.loop.engine.transactions.isOpen || waiters.isEmpty && !isWanted {
        askForTurnEnd()
      } else {
        begin()
      }
    }

    /// Handles the error of background work; `isTold` if a callback gets it.
    func failed(_ error: any Error, isTold: Bool = false) {
      retry.noteFailure(error, store)
      if !isTold, retry.isNews { store.report(error) }
    }

    /// Collects all changes into a save, with its callbacks.
    ///
    /// Returns nil if there are no changes, after calling the callbacks.
    private func collect() throws(SaveError) -> RunningSave? {
      let waiters = waiters
      self.waiters = []
      do {
        // Prefetched rows do not have the values that are saved now.
        store.relations.forgetPrefetched()
        let known = store.reads.known
        let hasComputed = try stored.settle()
        number += 1
        var collection = SaveCollection(store.unsaved.states)
        collection.addAll()
        collection.relate(stored.related)
        collection.relate(dependentRows.map { ($0.object.recordState, $0.owner) })
        if hasComputed { collection.needPresent() }
        let all = store.unsaved.takeAll()
        for state in all where collection.places[ObjectIdentifier(state)] == nil {
          state.changed = [:]
        }
        var plan = collection.plan
        (plan.knownOthers, plan.knownVersion) = known
        plan.findsReplaced = findsReplaced
        plan.isWhole = store.transaction != nil
        for (state, operation) in zip(collection.states, plan.operations) {
          state.begin(operation.kind, number)
        }
        for state in all { state.updateKeeping() }
        if !plan.isEmpty { return RunningSave(collection.states, plan, waiters) }
        for waiter in waiters { waiter(.success(())) }
        return nil
      } catch {
        restoreDependentRows()
        throw fail(store.unsaved.states, error, waiters)
      }
    }

    /// Makes the error of a save that wrote nothing, and calls the callbacks with it.
    private func fail(
      _ states: [RecordState], _ error: any Error, _ waiters: [RunningSave.Waiter]
    ) -> SaveError {
      let failure = SaveError(
        underlying: error, statement: nil, objects: states.compactMap(\.object))
      for waiter in waiters { waiter(.failure(failure)) }
      return failure
    }

    /// Notes a row that the next save deletes or changes together with another row.
    func note(_ row: DependentRow) { dependentRows.append(row) }

    /// Restores the rows that were deleted or changed together with rows that were not saved.
    private func restoreDependentRows(of unsaved: [RecordState]? = nil) {
      let wanted = unsaved.map { Set($0.map(ObjectIdentifier.init)) }
      let rows = dependentRows.filter { wanted?.contains(ObjectIdentifier($0.owner)) ?? true }
      dependentRows = []
      store.unsaved.restore(rows)
    }

    /// Handles the outcome of a save.
    private func finish(_ save: RunningSave, _ result: SaveResult) -> Outcome {
      phase = save.isFollowed ? .due : .idle
      defer { store.reads.useHeldRows() }
      if result.isOutdated { return repeatLater(save) { locksFirst = true } }
      if !result.replaced.isEmpty {
        return repeatLater(save) { findsReplaced = try deleteReplaced(result, save) }
      }
      (locksFirst, findsReplaced) = (false, true)
      let failed = result.failed
      let errors = result.failures.map { failure in
        let first = failure.operation.map { [$0] } ?? []
        let objects = (first + failure.group.filter { $0 != failure.operation }).compactMap {
          save.states[$0].object
        }
        return SaveError(
          underlying: failure.error, statement: (failure.error as? DatabaseError)?.sql,
          objects: objects)
      }
      let unsaved = failed.sorted().map { save.states[$0] }
      store.unsaved.putBack(unsaved)
      restoreDependentRows(of: unsaved)
      if errors.isEmpty {
        retry.stop()
        if store.unsaved.isEmpty { store.relations.forgetOrders() }
      }
      if let version = result.version { store.reads.polling.note(version) }
      let saved = save.states.indices.filter { !failed.contains($0) }
      for place in saved {
        if let key = result.keys[place] { save.states[place].inserted(as: key) }
      }
      for place in saved { save.states[place].end(save.plan.operations[place], result.keys) }
      for place in result.missing { save.states[place].vanished() }
      for place in saved { save.states[place].updateKeeping() }
      // The program may read and save in its handler: the objects know their rows by now.
      reportConflicts(result, save)
      if !errors.isEmpty { store.reads.markStale() }
      if !saved.isEmpty { store.reads.changed(by: result.changes, saved.map { save.states[$0] }) }
      for error in errors.dropFirst() { store.report(error) }
      for waiter in save.waiters {
        waiter(errors.first.map { .failure($0) } ?? .success(()))
      }
      return errors.first.map { .failed($0) } ?? .saved
    }

    /// Prepares a repetition of the save; `body` may change the changes.
    private func repeatLater(_ save: RunningSave, _ body: () throws -> Void) -> Outcome {
      store.unsaved.putBack(save.states)
      do {
        try body()
      } catch {
        restoreDependentRows()
        return .failed(fail(save.states, error, save.waiters))
      }
      waiters.insert(contentsOf: save.waiters, at: 0)
      noteDue()
      return .outdated
    }

    /// Deletes the rows that constraints delete for rows of a save: lists lose them, and stored
    /// properties that depend on them are computed.
    ///
    /// - Returns: whether there was any such row.
    private func deleteReplaced(_ result: SaveResult, _ save: RunningSave) throws -> Bool {
      var hasDeleted = false
      func delete(_ object: any ObservableRecord) {
        hasDeleted = hasDeleted || !object.isDeleted
        store.delete(object)
      }
      for replaced in result.replaced {
        let state = save.states[replaced.operation]
        if let insertion = replaced.insertion {
          if let object = save.states[insertion].object { delete(object) }
          continue
        }
        guard let table = state.table, let key = table.key(replaced.key) else { continue }
        for object in try table.rows([key]) {
          note(DependentRow(object: object, owner: state, reference: nil))
          delete(object)
        }
      }
      return hasDeleted
    }

    private func reportConflicts(_ result: SaveResult, _ save: RunningSave) {
      for (place, columns) in result.conflicts.sorted(by: { $0.key < $1.key }) {
        if let object = save.states[place].object { store.reportConflict(object, columns) }
      }
      for place in result.missing {
        let columns = save.plan.operations[place].columns.filter { !$0.isComputed }.map(\.name)
        if let object = save.states[place].object, !columns.isEmpty {
          store.reportConflict(object, columns)
        }
      }
    }
  }
#endif
