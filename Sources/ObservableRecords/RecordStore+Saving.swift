#if Records
  internal import Observables

  /// Saving: what has changed is collected on the loop's thread, written where GRDB writes, and the
  /// outcome comes back to the loop's thread.
  extension RecordStore {
    /// Whether there is anything that is not in the database yet.
    public var hasUnsavedChanges: Bool { !listed.isEmpty || runningSave != nil }

    /// Makes an object a row of its table, at the end of the turn.
    ///
    /// So it does with the objects of its lists, and with those that it refers to. An object that
    /// is in the store already stays as it is; one that was deleted is not inserted again.
    ///
    /// - Throws: ``RecordError`` for an object of another store, a deleted one, one with the key of
    ///   another object, and a class that does not match its table.
    public func insert(_ object: some ObservableRecord) throws {
      try checkOpen()
      let state = object.recordState
      if state.isDeleted { throw state.error(.deleted, "a deleted row cannot be inserted again") }
      if let other = state.store {
        if other === self { return }
        throw state.error(.otherStore, "the object belongs to another store")
      }
      let table = try table(of: type(of: object))
      let key = table.key(of: object)
      if let known = key.flatMap(table.state), !known.isDeleted, let key {
        throw RecordError(
          .otherStore, table: table.name, row: key.description,
          "there is another object with this key")
      }
      let lists = state.relations.values
      state.join(table, object, .new, key: key)
      noteChange(of: state, object)
      state.updateKeeping()
      let parents = state.keptParents
      state.keptParents = [:]
      for (slot, parent) in state.newParents {
        if parent.table == nil, let parent = parent.object { try insert(parent) }
        if let key = parent.key, let column = table.column(slot) {
          _ = column.write?(object, key.value)
        } else {
          for link in table.incoming[slot] ?? [] { parent.gained(object, link.relation) }
        }
      }
      withExtendedLifetime(parents) {}
      for (slot, _) in table.incoming {
        let owner = table.column(slot).flatMap { try? $0.read(object) }
        table.relink(object, slot, from: .null, to: owner ?? .null)
      }
      // A row that is in lists of several rows belongs to the last.
      if !lists.isEmpty { synchronizeEditedLists() }
      for list in lists {
        _ = try self.table(of: list.relation.target)
        try list.watch(in: loop)
        note(list)
        list.synchronize()
      }
      if let key { table.answer(key) }
    }

    /// Deletes the row of an object at the end of the turn; the object leaves lists at once, and
    /// says that it is deleted.
    ///
    /// Does nothing for one that is in no store, or deleted already.
    public func delete(_ object: some ObservableRecord) {
      let state = object.recordState
      guard let table = state.table, table.store === self, !state.isDeleted else { return }
      // What was put into its lists before goes with it, and what was taken out does so by itself;
      // lists that it was put into lose it.
      synchronizeEditedLists()
      coverInTransaction(object)
      if state.phase == .new {
        withdraw([state], isDeletion: true)
      } else {
        state.phase = .deleting
        noteChange(of: state, object)
        table.unlink(object)
      }
      for query in queries where query.lists(table) { query.removeDeleted() }
      state.updateKeeping()
    }

    /// Takes rows out that were never saved, and new ones that have to refer to them; others that
    /// refer to them keep what they had before.
    func withdraw(_ states: [RecordState], isDeletion: Bool) {
      var children: [ObjectIdentifier: [(state: RecordState, slot: Int)]] = [:]
      for state in listed {
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
        for query in queries where query.lists(table) { query.isStale = true }
      }
      if areQueriesStale { readAgain() }
    }

    func noteOrphan(_ object: any ObservableRecord, _ column: RecordColumn, of owner: RecordState) {
      orphans.append(Orphan(object: object, column: column, owner: owner))
      askForTurnEnd()
    }

    /// Deletes objects that a list has lost, and no other one has got in this turn.
    func removeOrphans() {
      let orphans = orphans
      self.orphans = []
      for orphan in orphans {
        let state = orphan.object.recordState
        let isLost: Bool
        if state.newParents[orphan.column.slot] != nil {
          isLost = false
        } else {
          isLost =
            orphan.owner.isKeyless || orphan.owner.isKey(try? orphan.column.read(orphan.object))
        }
        if isLost, !isListed(orphan) { delete(orphan.object) }
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

    // MARK: Saving now

    /// Saves all changes now, in one transaction, and waits for it.
    ///
    /// - Throws: ``SaveError`` for rows that could not be saved, which stay changed; all that does
    ///   not depend on them is saved. Where there are several errors, the others go to
    ///   ``onError``. ``RecordError`` for a closed store.
    public func save() throws {
      try checkOpen()
      try checkNoTransaction("saved")
      try saveNow()
    }

    /// Saves all changes, also those of a transaction of the store.
    func saveNow() throws {
      try checkOpen()
      waitForSave()
      isSaveDue = false
      synchronizeLists()
      removeOrphans()
      do {
        while let save = try collected() {
          runningSave = save
          save.end.arrive(database.writeWithoutTransaction { save.plan.run($0, collector) })
          switch finish(save) {
          case .saved, nil: return
          case .outdated: isSaveDue = false
          case .failed(let error): throw error
          }
        }
      } catch {
        retry.noteFailure(error, self)
        throw error
      }
    }

    /// Whatever a transaction could take back is not in the database before its end.
    func checkNoTransaction(_ what: String) throws(RecordError) {
      if transaction != nil {
        throw RecordError(
          .inTransaction, table: "",
          "a transaction of the store is under way: nothing is \(what) inside of it")
      }
      if loop.engine.isInTransaction {
        throw RecordError(
          .inTransaction, table: "",
          "a transaction is under way that could take changes back: nothing is \(what) inside of it"
        )
      }
    }

    /// Saves all changes, and waits for that without keeping the loop.
    ///
    /// Changes of earlier turns that are being saved are waited for, too.
    ///
    /// - Throws: ``SaveError`` for rows that could not be saved, as ``save()`` does.
    public func flush(isolation: isolated (any Actor)? = #isolation) async throws {
      try checkOpen()
      try await withCheckedThrowingContinuation { continuation in
        whenSaved { continuation.resume(with: $0) }
      }
    }

    /// Saves all changes, and calls `body` when that is done.
    func whenSaved(_ body: @escaping RunningSave.Waiter) {
      waiters.append(body)
      if runningSave == nil { beginSave() } else { isSaveDue = true }
    }

    private func takeWaiters() -> [RunningSave.Waiter] {
      defer { waiters = [] }
      return waiters
    }

    /// Begins to save in the background.
    func beginSave() {
      isSaveDue = false
      synchronizeLists()
      removeOrphans()
      let hasWaiters = !waiters.isEmpty
      do {
        guard let save = try collected() else { return }
        runningSave = save
        loop.retain()
        let (home, collector, inbox) = (Parcel((self, loop, save)), collector, loop.inbox)
        let (plan, end) = (save.plan, save.end)
        database.asyncWriteWithoutTransaction { db in
          end.arrive(plan.run(db, collector))
          inbox.post {
            let (store, loop, save) = home.open()
            loop.release()
            store.saved(save)
          }
        }
      } catch {
        failed(error, isTold: hasWaiters)
      }
    }

    /// The save of the background is done.
    private func saved(_ save: RunningSave) {
      // Code that could not wait for the message may have handled the result.
      guard runningSave === save else { return }
      if case .failed(let error)? = finish(save) { failed(error, isTold: !save.waiters.isEmpty) }
      continueSaving()
    }

    private func continueSaving() {
      guard isSaveDue, !isClosed else { return }
      // The turn under way belongs to the save as a whole.
      if waiters.isEmpty || loop.engine.isInTransaction {
        askForTurnEnd()
      } else {
        beginSave()
      }
    }

    /// Waits for the save under way, if there is one, and for those that wait for it.
    func waitForSave() {
      while let save = runningSave {
        // What the thread of the database was given before is done then.
        database.writeWithoutTransaction { _ in }
        guard save.end.result != nil else { return }
        switch finish(save) {
        case .outdated where !loop.engine.isInTransaction: beginSave()
        case .failed(let error)?:
          failed(error, isTold: !save.waiters.isEmpty)
          continueSaving()
        default: continueSaving()
        }
      }
    }

    /// A save of the background has failed; those who wait for it get the error.
    private func failed(_ error: SaveError, isTold: Bool) {
      retry.noteFailure(error, self)
      if !isTold, retry.isNews { report(error) }
    }

    // MARK: Before and after

    /// What is to be saved now, with those who wait for it; nil where nothing is, which they hear.
    private func collected() throws(SaveError) -> RunningSave? {
      let waiters = takeWaiters()
      do {
        // What was loaded for others does not have what is saved now.
        prefetched = [:]
        let hasComputed = try settleStored()
        saveNumber += 1
        var collection = SaveCollection(listed)
        collection.addAll()
        collection.relate(relatedRows)
        collection.relate(dependentRows.map { ($0.object.recordState, $0.owner) })
        if hasComputed { collection.needPresent() }
        if let save = finishCollecting(collection, waiters) { return save }
        for waiter in waiters { waiter(.success(())) }
        return nil
      } catch {
        restoreDependentRows()
        let failure = SaveError(
          underlying: error, statement: nil, objects: listed.compactMap(\.object))
        for waiter in waiters { waiter(.failure(failure)) }
        throw failure
      }
    }

    private func finishCollecting(
      _ collection: SaveCollection, _ waiters: [RunningSave.Waiter]
    ) -> RunningSave? {
      let all = listed
      listed = []
      for state in all {
        state.isListed = false
        if collection.places[ObjectIdentifier(state)] == nil { state.changed = [:] }
      }
      var plan = collection.plan
      plan.knownOthers = heardTransactions
      // While rows of others are being read, those in memory are older than what was heard of.
      plan.knownVersion = areOthersBeingRead ? nil : polling.version
      // Who writes all the time cannot keep the store from saving.
      plan.needsPresent = plan.needsPresent && outdatedSaves < 20
      plan.findsReplaced = outdatedSaves < 20
      plan.isWhole = transaction != nil
      for (state, operation) in zip(collection.states, plan.operations) {
        state.begin(operation.kind, saveNumber)
      }
      for state in all { state.updateKeeping() }
      return plan.isEmpty ? nil : RunningSave(collection.states, plan, waiters)
    }

    private enum Outcome {
      case saved
      /// Others had written before: what they wrote is in memory now, and the changes wait for
      /// another save.
      case outdated
      case failed(SaveError)
    }

    /// Notes the outcome of a save; nil where there is none yet.
    private func finish(_ save: RunningSave) -> Outcome? {
      guard let result = save.end.result else { return nil }
      runningSave = nil
      defer { useHeldRows() }
      if result.isOutdated {
        return repeatLater(save) { try catchUp(to: result.version) }
      }
      if !result.replaced.isEmpty {
        return repeatLater(save) { try deleteReplaced(result, save) }
      }
      outdatedSaves = 0
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
      putBack(unsaved)
      if !errors.isEmpty { restoreDependentRows(of: unsaved) }
      dependentRows = []
      if errors.isEmpty {
        retry.stop()
        if listed.isEmpty { forgetOrders() }
      }
      if let version = result.version { polling.note(version) }
      let saved = save.states.indices.filter { !failed.contains($0) }
      for place in saved {
        if let key = result.keys[place] { save.states[place].inserted(as: key) }
      }
      for place in saved { save.states[place].end(save.plan.operations[place], result.keys) }
      for place in result.missing { vanished(save.states[place]) }
      for place in saved { save.states[place].updateKeeping() }
      // The program may read and save in its hook: the objects know their rows by now.
      tell(of: result, save)
      if !errors.isEmpty { for query in queries { query.isStale = true } }
      if !saved.isEmpty { changed(by: result.changes, saved.map { save.states[$0] }) }
      for error in errors.dropFirst() { report(error) }
      for waiter in save.waiters {
        waiter(errors.first.map { .failure($0) } ?? .success(()))
      }
      return errors.first.map { .failed($0) } ?? .saved
    }

    /// Prepares for another save of the same changes, which are what `body` makes of them.
    private func repeatLater(_ save: RunningSave, _ body: () throws -> Void) -> Outcome {
      putBack(save.states)
      do {
        try body()
      } catch {
        restoreDependentRows()
        let failure = SaveError(
          underlying: error, statement: nil, objects: save.states.compactMap(\.object))
        for waiter in save.waiters { waiter(.failure(failure)) }
        return .failed(failure)
      }
      outdatedSaves += 1
      waiters.insert(contentsOf: save.waiters, at: 0)
      isSaveDue = true
      return .outdated
    }

    /// Deletes the rows here that constraints delete for rows of a save: lists lose them, and
    /// stored properties that depend on them are computed.
    private func deleteReplaced(_ result: SaveResult, _ save: RunningSave) throws {
      for replaced in result.replaced {
        let state = save.states[replaced.operation]
        if let insertion = replaced.insertion {
          if let object = save.states[insertion].object { delete(object) }
          continue
        }
        guard let table = state.table, let key = table.key(replaced.key) else { continue }
        for object in try rows(of: table.record, table, table.record.primaryKeyName, [key]) {
          dependentRows.append(DependentRow(object: object, owner: state, reference: nil))
          delete(object)
        }
      }
    }

    private func tell(of result: SaveResult, _ save: RunningSave) {
      for (place, columns) in result.conflicts.sorted(by: { $0.key < $1.key }) {
        if let object = save.states[place].object { onConflict?(object, columns) }
      }
      for place in result.missing {
        let columns = save.plan.operations[place].columns.filter { !$0.isComputed }.map(\.name)
        if let object = save.states[place].object, !columns.isEmpty {
          onConflict?(object, columns)
        }
      }
    }

    /// The changes of objects were not saved: they wait for the next save, before later ones.
    private func putBack(_ states: [RecordState]) {
      var unsaved: [RecordState] = []
      for state in states {
        state.takeBack()
        if !state.isListed, state.hasUnsavedChanges {
          state.isListed = true
          unsaved.append(state)
        }
        state.updateKeeping()
      }
      listed.insert(contentsOf: unsaved, at: 0)
    }
  }

  extension RecordState {
    func error(
      _ code: RecordError.Code, column: String? = nil, _ detail: String
    ) -> RecordError {
      RecordError(
        code, table: table?.name ?? "", column: column, row: key?.description, detail)
    }

    /// A save has begun that writes the row.
    func begin(_ kind: SavePlan.Operation.Kind, _ number: Int) {
      savedNumber = number
      inFlight = changed
      changed = [:]
      switch kind {
      case .insert:
        flight = .insert
        phase = .saved
      case .update: flight = .update
      case .delete:
        flight = .delete
        phase = .deleted
      case .refused: flight = .refused
      }
    }

    /// The row has been inserted.
    func inserted(as value: StoredValue) {
      guard let table, let object, let key = table.key(value) else { return }
      if key != self.key {
        setKey(key)
        apply { _ = table.schema.key?.write?(object, value) }
      }
      table.answer(key)
    }

    /// The save has succeeded; `keys` are those of the rows that it has inserted.
    func end(_ operation: SavePlan.Operation, _ keys: [Int: StoredValue]) {
      flight = .none
      inFlight = [:]
      guard let table, let object else { return }
      if case .delete = operation.kind {
        table.forget(self)
        for list in relations.values { list.set([]) }
        return
      }
      var values = operation.values
      for (value, parent) in operation.parents {
        values[value] = keys[parent] ?? values[value]
        // What the program has written meanwhile differs from the key that was saved.
        let slot = operation.columns[value].slot
        if changed[slot] != nil { changed[slot] = values[value] }
      }
      for column in table.schema.stored {
        if let place = operation.columns.firstIndex(where: { $0 === column }) {
          storedValues[column.slot] = values[place]
        }
      }
      for (slot, parent) in newParents {
        guard let key = parent.key?.value, let column = table.column(slot) else { continue }
        let isSaved =
          operation.columns.firstIndex { $0 === column }.map { values[$0] == key } ?? false
        newParents[slot] = nil
        if isSaved {
          apply { _ = column.write?(object, key) }
        } else {
          _ = column.write?(object, key)
        }
      }
    }

    /// The save has failed: what it was to write is unsaved again.
    func takeBack() {
      changed.merge(inFlight) { $1 }
      inFlight = [:]
      switch flight {
      case .insert: phase = phase == .deleting ? .deleted : .new
      case .delete: phase = .deleting
      case .update, .refused, .none: break
      }
      flight = .none
    }
  }
#endif
