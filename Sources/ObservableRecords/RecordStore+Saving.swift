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
      let key = table.schema.key(of: object)
      if let key, table.state(key) != nil {
        throw RecordError(
          .otherStore, table: table.name, row: key.description,
          "there is another object with this key")
      }
      let lists = state.relations.values
      state.join(table, object, .new, key: key)
      noteChange(of: state, object)
      state.updateKeeping()
      for (slot, parent) in state.newParents {
        if parent.table == nil, let parent = parent.object { try insert(parent) }
        if let key = parent.key, let column = table.column(slot) {
          _ = column.write?(object, key.databaseValue)
          state.newParents[slot] = nil
        }
      }
      for (slot, _) in table.incoming {
        guard let key = table.column(slot).flatMap({ try? $0.read(object) }).flatMap(RecordKey.init)
        else { continue }
        table.relink(object, slot, from: nil, to: key)
      }
      for list in lists {
        _ = try self.table(of: list.relation.target)
        try list.watch(in: loop)
        note(list)
        for object in list.objects { state.take(object, list.relation) }
      }
    }

    /// Deletes the row of an object at the end of the turn; the object leaves lists at once, and
    /// says that it is deleted.
    ///
    /// Does nothing for one that is in no store, or deleted already.
    public func delete(_ object: some ObservableRecord) {
      let state = object.recordState
      guard let table = state.table, table.store === self, !state.isDeleted else { return }
      coverInTransaction(object)
      if state.phase == .new {
        state.phase = .deleted
      } else {
        state.phase = .deleting
        noteChange(of: state, object)
      }
      table.unlink(object)
      for query in queries where query.lists(table) { query.removeDeleted() }
      state.updateKeeping()
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
        } else if let key = orphan.owner.key {
          isLost = (try? orphan.column.read(orphan.object)) == key.databaseValue
        } else {
          isLost = true
        }
        let isListed = orphan.owner.relations.values.contains { list in
          list.relation.column == orphan.column.name
            && list.objects.contains { $0 === orphan.object }
        }
        if isLost, !isListed { delete(orphan.object) }
      }
    }

    // MARK: Saving now

    /// Saves all changes now, in one transaction, and waits for it.
    ///
    /// - Throws: ``SaveError``, where nothing was saved; the objects stay changed. ``RecordError``
    ///   for
    ///   a closed store.
    public func save() throws {
      try checkOpen()
      waitForSave()
      synchronizeLists()
      removeOrphans()
      guard let save = try collected() else { return answerWaiters(.success(())) }
      runningSave = save
      save.finish(database.writeWithoutTransaction { save.plan.run($0, collector) })
      if let error = finish(save) { throw error }
    }

    /// Saves all changes, and waits for that without keeping the loop.
    ///
    /// Changes of earlier turns that are being saved are waited for, too.
    ///
    /// - Throws: ``SaveError``, where nothing was saved; the objects stay changed.
    public func flush(isolation: isolated (any Actor)? = #isolation) async throws {
      try checkOpen()
      try await withCheckedThrowingContinuation { continuation in
        whenSaved { continuation.resume(with: $0) }
      }
    }

    /// Saves all changes, and calls `body` when that is done.
    func whenSaved(_ body: @escaping (Result<Void, SaveError>) -> Void) {
      waiters.append(body)
      if runningSave == nil { beginSave() } else { isSaveDue = true }
    }

    func answerWaiters(_ result: Result<Void, SaveError>) {
      let waiters = waiters
      self.waiters = []
      for waiter in waiters { waiter(result) }
    }

    /// Begins to save in the background.
    func beginSave() {
      isSaveDue = false
      synchronizeLists()
      removeOrphans()
      do {
        guard let save = try collected() else { return answerWaiters(.success(())) }
        runningSave = save
        loop.retain()
        let (home, collector, inbox) = (Handed((self, loop)), collector, loop.inbox)
        database.asyncWriteWithoutTransaction { db in
          save.finish(save.plan.run(db, collector))
          inbox.post {
            home.value.1.release()
            home.value.0.saved(save)
          }
        }
      } catch {
        failed(error)
      }
    }

    /// The save of the background is done.
    private func saved(_ save: RunningSave) {
      // Code that could not wait for the message may have handled the result.
      guard runningSave === save else { return }
      if let error = finish(save) { report(error) }
      continueSaving()
    }

    private func continueSaving() {
      guard isSaveDue, !isClosed else { return }
      // The turn under way belongs to the save as a whole.
      isSaveDue = false
      if waiters.isEmpty { askForTurnEnd() } else { beginSave() }
    }

    /// Waits for the save under way, if there is one.
    func waitForSave() {
      guard let save = runningSave else { return }
      // What the thread of the database was given before is done then.
      database.writeWithoutTransaction { _ in }
      if let error = finish(save) { report(error) }
      continueSaving()
    }

    private func failed(_ error: any Error) {
      let failure =
        error as? SaveError
        ?? SaveError(underlying: error, statement: nil, objects: listed.compactMap(\.object))
      if waiters.isEmpty { report(failure) } else { answerWaiters(.failure(failure)) }
    }

    // MARK: Before and after

    /// What is to be saved now; nil where nothing is.
    private func collected() throws -> RunningSave? {
      do {
        try settleStored()
        saveNumber += 1
        var collection = SaveCollection()
        for state in listed { try collection.add(state) }
        return finishCollecting(collection)
      } catch {
        throw SaveError(
          underlying: error, statement: nil, objects: listed.compactMap(\.object))
      }
    }

    private func finishCollecting(_ collection: SaveCollection) -> RunningSave? {
      let all = listed
      listed = []
      for state in all {
        state.isListed = false
        if collection.places[ObjectIdentifier(state)] == nil { state.changed = [:] }
      }
      var plan = collection.plan
      plan.knownOthers = heardTransactions
      plan.knownVersion = polling.version
      for (state, operation) in zip(collection.states, plan.operations) {
        state.begin(operation.kind, saveNumber)
      }
      for state in all { state.updateKeeping() }
      return plan.isEmpty ? nil : RunningSave(collection.states, plan)
    }

    /// Notes the outcome of a save.
    private func finish(_ save: RunningSave) -> SaveError? {
      guard let result = save.take() else { return nil }
      runningSave = nil
      if let failure = result.failure {
        let objects = failure.operation.map { [save.states[$0]] } ?? []
        let others = save.states.filter { $0 !== objects.first }
        for state in save.states { putBack(state) }
        let error = SaveError(
          underlying: failure.error, statement: (failure.error as? DatabaseError)?.sql,
          objects: (objects + others).compactMap(\.object))
        for query in queries { query.isStale = true }
        if !waiters.isEmpty { answerWaiters(.failure(error)) }
        return error
      }
      if let version = result.version { polling.note(version) }
      tell(of: result, save)
      for (place, state) in save.states.enumerated() {
        state.end(save.plan.operations[place].kind, key: result.keys[place].flatMap(RecordKey.init))
      }
      for (place, state) in save.states.enumerated() where result.missing.contains(place) {
        vanished(state)
      }
      for state in save.states { state.updateKeeping() }
      changed(by: result.changes, save)
      if listed.isEmpty || !isSaveDue { answerWaiters(.success(())) }
      return nil
    }

    private func tell(of result: SaveResult, _ save: RunningSave) {
      for (place, columns) in result.conflicts.sorted(by: { $0.key < $1.key }) {
        if let object = save.states[place].object { onConflict?(object, columns) }
      }
      for place in result.missing {
        if let object = save.states[place].object {
          onConflict?(object, save.plan.operations[place].columns)
        }
      }
    }

    /// The changes of an object were not saved: they wait for the next save.
    private func putBack(_ state: RecordState) {
      state.takeBack()
      if !state.isListed, state.hasUnsavedChanges {
        state.isListed = true
        listed.append(state)
      }
      state.updateKeeping()
    }
  }

  extension RecordState {
    func error(_ code: RecordError.Code, _ detail: String) -> RecordError {
      RecordError(code, table: table?.name ?? "", row: key?.description, detail)
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
      }
    }

    /// The save has succeeded.
    func end(_ kind: SavePlan.Operation.Kind, key: RecordKey?) {
      flight = .none
      inFlight = [:]
      guard let table, let object else { return }
      if kind == .insert, let key, isKeyless {
        setKey(key)
        apply { _ = table.schema.key?.write?(object, key.databaseValue) }
      }
      if kind == .delete { table.forget(self) }
      if kind == .delete {
        for list in relations.values { list.set([]) }
        return
      }
      for (slot, parent) in newParents {
        guard let key = parent.key else { continue }
        newParents[slot] = nil
        apply { _ = table.column(slot)?.write?(object, key.databaseValue) }
      }
    }

    /// The save has failed: what it was to write is unsaved again.
    func takeBack() {
      changed.merge(inFlight) { $1 }
      inFlight = [:]
      switch flight {
      case .insert: phase = phase == .deleting ? .deleted : .new
      case .delete: phase = .deleting
      case .update, .none: break
      }
      flight = .none
    }
  }

  /// The operations of a save, in their order.
  struct SaveCollection {
    private(set) var plan = SavePlan()
    private(set) var states: [RecordState] = []
    /// The places of the operations.
    private(set) var places: [ObjectIdentifier: Int] = [:]

    /// Adds what of an object is to be saved, after the rows that it refers to.
    mutating func add(_ state: RecordState) throws {
      guard let table = state.table, let object = state.object,
        places[ObjectIdentifier(state)] == nil
      else { return }
      switch state.phase {
      case .free, .deleted: return
      case .new: try addInsert(state, table, object)
      case .saved: try addUpdate(state, table, object)
      case .deleting:
        append(
          state,
          SavePlan.Operation(
            kind: .delete, table: table.name, keyName: table.record.primaryKeyName,
            key: state.key?.databaseValue, columns: [], values: []))
      }
    }

    private mutating func append(_ state: RecordState, _ operation: SavePlan.Operation) {
      places[ObjectIdentifier(state)] = states.count
      states.append(state)
      plan.operations.append(operation)
    }

    private mutating func addInsert(
      _ state: RecordState, _ table: RecordTable, _ object: any ObservableRecord
    ) throws {
      var operation = SavePlan.Operation(
        kind: .insert, table: table.name, keyName: table.record.primaryKeyName, key: nil,
        columns: [], values: [])
      for column in table.schema.columns {
        let value = try table.value(of: column, object)
        if column.name == table.record.primaryKeyName {
          if value.isNull, table.hasAutomaticKey { continue }
          operation = SavePlan.Operation(
            kind: .insert, table: table.name, keyName: operation.keyName, key: value,
            columns: operation.columns, values: operation.values, parents: operation.parents)
        }
        if let parent = state.newParents[column.slot] {
          try add(parent)
          if let place = places[ObjectIdentifier(parent)],
            plan.operations[place].kind == .insert
          {
            operation.parents.append((value: operation.values.count, operation: place))
          }
        }
        if column.isComputed { state.storedValues[column.slot] = value }
        operation.columns.append(column.name)
        operation.values.append(parentKey(state, column) ?? value)
      }
      append(state, operation)
    }

    private func parentKey(_ state: RecordState, _ column: RecordColumn) -> DatabaseValue? {
      state.newParents[column.slot]?.key?.databaseValue
    }

    private mutating func addUpdate(
      _ state: RecordState, _ table: RecordTable, _ object: any ObservableRecord
    ) throws {
      // The row is on the way: it has no key yet.
      guard let key = state.key else { return }
      var operation = SavePlan.Operation(
        kind: .update, table: table.name, keyName: table.record.primaryKeyName,
        key: key.databaseValue, columns: [], values: [])
      for column in table.schema.columns {
        var value: DatabaseValue?
        if let parent = state.newParents[column.slot] {
          try add(parent)
          value = parent.key?.databaseValue ?? .null
          if let place = places[ObjectIdentifier(parent)] {
            operation.parents.append((value: operation.values.count, operation: place))
          }
        } else if let former = state.changed[column.slot] {
          let now = try table.value(of: column, object)
          if now == former { continue }
          if column.name == table.record.primaryKeyName {
            throw RecordError(
              .keyChanged, table: table.name, column: column.name, row: key.description,
              "the key of a saved row cannot be changed; revert(_:) gives the object its own again")
          }
          value = now
          if column.isComputed { state.storedValues[column.slot] = now }
        }
        guard let value else { continue }
        operation.columns.append(column.name)
        operation.values.append(value)
        operation.former.append(state.changed[column.slot] ?? .null)
      }
      if operation.columns.isEmpty { return }
      append(state, operation)
    }
  }

  extension RecordTable {
    /// The value of a column as it is stored.
    func value(of column: RecordColumn, _ object: any ObservableRecord) throws -> DatabaseValue {
      do {
        return try column.read(object)
      } catch {
        throw RecordError(
          .notStorable, table: name, column: column.name,
          row: object.recordState.key?.description, "\(error)")
      }
    }
  }
#endif
