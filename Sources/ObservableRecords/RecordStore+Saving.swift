#if Records
  internal import Observables

  /// Inserting, deleting, saving and reverting.
  extension RecordStore {
    /// Whether any change is not in the database yet.
    public var hasUnsavedChanges: Bool { !unsaved.isEmpty || saves.isWriting }

    /// Inserts an object as a row of its table, at the end of the turn.
    ///
    /// The objects of its lists, and the objects to which it refers, are inserted, too. An object
    /// that is in the store already stays as it is. A deleted object cannot be inserted again.
    ///
    /// - Throws: ``RecordError`` for an object of another store, a deleted object, an object with
    ///   the key of another one, and a class that does not match its table.
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
      unsaved.note(state, object)
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
      table.link(object)
      // A row that is in lists of several rows belongs to the last one.
      if !lists.isEmpty { relations.synchronizeEdited() }
      for list in lists {
        _ = try self.table(of: list.relation.target)
        try list.watch(in: loop)
        relations.note(list)
        list.synchronize()
      }
      if let key { table.answer(key) }
    }

    /// Deletes the row of an object at the end of the turn.
    ///
    /// The object leaves lists at once, and its `isDeleted` is true. Does nothing for an object
    /// that is not in the store, or that is deleted already.
    public func delete(_ object: some ObservableRecord) {
      let state = object.recordState
      guard let table = state.table, table.store === self, !state.isDeleted else { return }
      // Earlier edits of lists count: rows that were put into the object's lists refer to it, rows
      // that were removed from them do not, and lists that got the object lose it.
      relations.synchronizeEdited()
      transaction?.cover(object)
      if state.phase == .new {
        unsaved.withdraw([state], isDeletion: true)
      } else {
        state.phase = .deleting
        unsaved.note(state, object)
        table.unlink(object)
      }
      reads.remove(object, of: table)
      state.updateKeeping()
    }

    // MARK: Saving

    /// Saves all changes now, in one transaction, and waits for it.
    ///
    /// - Throws: ``SaveError`` for rows that could not be saved; they stay changed, and all rows
    ///   that do not depend on them are saved. Further errors go to ``onError``. ``RecordError``
    ///   for a closed store.
    public func save() throws {
      try checkOpen()
      try checkNoTransaction("saved")
      try saves.saveNow()
    }

    /// Saves all changes, and waits without blocking the loop.
    ///
    /// It also waits for changes of earlier turns that are being saved.
    ///
    /// - Throws: ``SaveError`` for rows that could not be saved, as ``save()`` does.
    public func flush(isolation: isolated (any Actor)? = #isolation) async throws {
      try checkOpen()
      try await withCheckedThrowingContinuation { continuation in
        saves.whenSaved { continuation.resume(with: $0) }
      }
    }

    /// Runs `body` without saving its changes, even if a turn ends in it.
    ///
    /// They are saved at the end of the turn in which `body` returns.
    @discardableResult
    public func pauseSaving<Result>(_ body: () throws -> Result) rethrows -> Result {
      try saves.pause(body)
    }

    /// Recomputes the stored properties of all rows, and saves those whose value has changed.
    ///
    /// Use it for rows that were written by code that does not know the class, such as migrations
    /// or other programs. It waits for the database.
    ///
    /// - Returns: the number of rows whose values have changed.
    /// - Throws: ``SaveError``, and errors of reading.
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
        let objects = try table.rows(Array(part))
        for object in objects { saves.stored.compute(of: object.recordState) }
        count += objects.count { $0.hasUnsavedChanges }
        try save()
        relations.forgetPrefetched()
      }
      return count
    }

    // MARK: Reverting

    /// Discards the unsaved changes of objects.
    ///
    /// The objects get the values that the database has, new objects leave the store, and deleted
    /// ones are restored. The call waits for the save under way. Objects of other stores are
    /// ignored.
    public func revert(_ objects: [any ObservableRecord]) {
      saves.wait()
      relations.synchronize()
      unsaved.revert(objects)
    }

    /// Discards all unsaved changes.
    public func revert() {
      saves.wait()
      relations.synchronize()
      unsaved.revert()
    }
  }
#endif
