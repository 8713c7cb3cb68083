#if Records
  internal import Observables

  /// Changes by others: the rows that are in memory, lists and queries are read again, and come in
  /// as one turn.
  extension RecordStore {
    /// Other transactions of this process have changed rows; called in a turn of its own.
    func hearChanges() {
      if let changes = takeMail() { readChanges(changes) }
    }

    /// What other transactions of this process have changed since the last call.
    private func takeMail() -> DatabaseChanges? {
      var (changes, count) = collector.mail.take()
      heardTransactions += count
      changes.isOfOthers = true
      return count > 0 ? changes : nil
    }

    /// Whether rows in memory are older than what the store has heard of.
    var areOthersBeingRead: Bool {
      pendingChanges.isOfOthers || isReading && changesBeingRead.isOfOthers
    }

    /// The store's own save has changed rows: those of the objects in `saved`, and those that
    /// triggers and foreign keys have changed.
    func changed(by changes: DatabaseChanges, _ saved: [RecordState]) {
      var changes = changes
      for state in saved {
        guard let table = state.table?.name.lowercased() else { continue }
        guard case .integer(let number)? = state.key, let rows = changes.tables[table],
          !rows.isAll, !rows.repeated.contains(number)
        else { continue }
        changes.tables[table]?.numbers.remove(number)
        // A save finds out by itself what its own statements replace.
        if changes.tables[table]?.numbers.isEmpty == true {
          changes.tables[table]?.mayHaveReplaced = false
        }
      }
      readChanges(changes)
    }

    /// Another process has written: any row may be another one.
    func everythingChanged() { readChanges(DatabaseChanges(isEverything: true, isOfOthers: true)) }

    /// Reads what others have written so far, waiting for the database; a read under way is made
    /// again.
    func catchUp(to version: Int?) throws {
      if let changes = takeMail() { pendingChanges.add(changes) }
      if let version, version != polling.version {
        polling.update(version)
        pendingChanges.isEverything = true
      }
      if isReading { pendingChanges.add(changesBeingRead) }
      changesBeingRead = DatabaseChanges()
      readGeneration += 1
      let changes = takePendingChanges()
      do {
        let jobs = jobs(for: changes, readAfter: saveNumber)
        for use in try readDatabase({ db in try jobs.map { try $0(db) } }) { use() }
      } catch {
        putBack(changes)
        throw error
      }
    }

    private func takePendingChanges() -> DatabaseChanges {
      defer { pendingChanges = DatabaseChanges() }
      return pendingChanges
    }

    /// What could not be read is read with the next change.
    private func putBack(_ changes: DatabaseChanges) {
      pendingChanges.add(changes)
      for query in queries { query.isStale = query.isStale || query.isConcerned(by: changes) }
    }

    /// Reads what is stale.
    func readAgain() { readChanges(DatabaseChanges()) }

    private func readChanges(_ changes: DatabaseChanges) {
      if isClosed { return }
      pendingChanges.add(changes)
      if !isReading { beginReading() }
    }

    private func beginReading() {
      let changes = takePendingChanges()
      // What the save under way writes may be seen by the read, or not.
      let number = runningSave == nil ? saveNumber : saveNumber - 1
      let jobs = jobs(for: changes, readAfter: number)
      if jobs.isEmpty { return }
      isReading = true
      changesBeingRead = changes
      let (heard, generation) = (heardTransactions, readGeneration)
      if saving == .synchronous || saving == .explicit {
        let results = Result { try readDatabase { db in try jobs.map { try $0(db) } } }
        finishReading(
          results, changes, generation, isWhole: collector.otherTransactions == heard)
        return
      }
      loop.retain()
      // Jobs hold the store: the loop's thread has them, too, until the end.
      let (home, inbox) = (Parcel((self, loop, jobs)), loop.inbox)
      let (work, collector) = (Parcel(jobs), collector)
      readDatabaseLater { db in
        let results = Parcel(Result { try work.open().map { try $0(db.get()) } })
        let isWhole = collector.otherTransactions == heard
        inbox.post {
          let (store, loop, _) = home.open()
          loop.release()
          store.finishReading(results.open(), changes, generation, isWhole: isWhole)
        }
      }
    }

    private func jobs(for changes: DatabaseChanges, readAfter number: Int) -> [ReadJob] {
      queries.removeAll { !$0.isNeeded }
      var jobs: [ReadJob] = []
      for table in tables.values.sorted(by: { $0.name < $1.name })
      where changes.concerns(table.name) {
        jobs.append(contentsOf: reloads(of: table, changes, readAfter: number))
      }
      for query in queries where query.isConcerned(by: changes) {
        if let job = query.job(readAfter: number, fail: nil) { jobs.append(job) }
      }
      return jobs
    }

    private func finishReading(
      _ results: Result<[() -> Void], any Error>, _ changes: DatabaseChanges, _ generation: Int,
      isWhole: Bool, isHeld: Bool = false
    ) {
      if runningSave != nil, !isHeld, !isClosed {
        // Rows may be among them that the save inserts, whose objects do not know their keys yet.
        loop.retain()
        heldRows = { [unowned self] in
          loop.release()
          finishReading(results, changes, generation, isWhole: isWhole, isHeld: true)
        }
        return
      }
      isReading = false
      changesBeingRead = DatabaseChanges()
      if isClosed { return }
      if generation != readGeneration || !isWhole && rereads < 10 {
        // What is in memory may be newer; or a part of a transaction may have been read that was
        // not heard of: it comes in as a whole.
        if generation == readGeneration { rereads += 1 }
        putBack(changes)
        return readChanges(takeMail() ?? DatabaseChanges())
      }
      rereads = 0
      switch results {
      case .success(let uses):
        for use in uses { use() }
        if !hasUnsavedChanges { retry.stop() }
      case .failure(let error):
        putBack(changes)
        retry.noteFailure(error, self)
        if retry.isNews { report(error) }
        return
      }
      if !pendingChanges.isEmpty { beginReading() }
    }

    /// Uses what was read while a save was under way, in a turn of its own.
    func useHeldRows() {
      guard let use = heldRows else { return }
      heldRows = nil
      let (home, inbox) = (Handed((self, use)), loop.inbox)
      inbox.post {
        home.value.1()
        withExtendedLifetime(home.value.0) {}
      }
    }

    /// Brings one query up to date, waiting for the database.
    func readNow(_ query: LiveQuery) throws {
      waitForSave()
      guard let job = query.job(readAfter: saveNumber, fail: { throw $0 }) else { return }
      try read(job)()
    }

    // MARK: Rows in memory

    private func reloads(
      of table: RecordTable, _ changes: DatabaseChanges, readAfter number: Int
    ) -> [ReadJob] {
      let rows = changes.tables[table.name.lowercased()]
      let isAll = changes.isEverything || rows?.isAll == true
      let lists = loadedLists.filter { $0.relation.target == table.record && $0.owner?.key != nil }
      var jobs: [ReadJob] = []
      if isAll || !table.hasAutomaticKey {
        let keys = Array(Set(table.liveKeys + table.awaitedKeys))
        if !keys.isEmpty { jobs.append(reload(table.record, table, keys, readAfter: number)) }
      } else if let rows {
        let keys = rows.numbers.map(RecordKey.integer)
        let wanted =
          lists.isEmpty ? keys.filter { table.state($0) != nil || table.isAwaited($0) } : keys
        if !wanted.isEmpty {
          jobs.append(reload(table.record, table, wanted.sorted(), readAfter: number))
        }
        if rows.mayHaveReplaced {
          jobs.append(findReplaced(table, Array(Set(table.liveKeys).subtracting(wanted)), number))
        }
      }
      if isAll || !table.hasAutomaticKey {
        for (name, lists) in Dictionary(grouping: lists, by: { $0.relation.column }) {
          jobs.append(relist(table.record, table, name, lists, readAfter: number))
        }
      }
      return jobs
    }

    private func reload<Record: ObservableRecord>(
      _ record: Record.Type, _ table: RecordTable, _ keys: [RecordKey], readAfter number: Int
    ) -> ReadJob {
      { db in
        let (rows, errors) = try Self.rows(record, keys, in: record.primaryKeyName, .binary, db)
        return { [weak self, weak table] in
          guard let self, let table else { return }
          for error in errors { report(error) }
          // Rows that do not fit are still there.
          let broken = Set(errors.compactMap { ($0 as? RecordError)?.row })
          let found = take(rows, table, readAfter: number)
          let missing = keys.filter {
            !found.contains($0) && !broken.contains($0.description)
          }
          vanished(missing, table, readAfter: number)
        }
      }
    }

    /// Finds rows that a constraint, or a statement that replaces, has deleted.
    private func findReplaced(
      _ table: RecordTable, _ keys: [RecordKey], _ number: Int
    ) -> ReadJob {
      let layout = table.layout
      return { db in
        var missing = Set(keys)
        for part in keys.parts(of: 10_000) {
          let marks = repeatElement("?", count: part.count).joined(separator: ", ")
          let key = layout.keyName.quotedDatabaseIdentifier
          let statement = try db.makeStatement(
            sql: """
              SELECT \(key) FROM \(layout.name.quotedDatabaseIdentifier) WHERE \(key) IN (\(marks))
              """)
          statement.arguments = StatementArguments(part.map(\.databaseValue))
          missing.subtract(try KeyReader.keys(of: statement, layout.collation))
        }
        return { [weak self, weak table] in
          guard let self, let table else { return }
          vanished(keys.filter(missing.contains), table, readAfter: number)
        }
      }
    }

    /// Rows are not there any more, where the database was read.
    private func vanished(_ keys: [RecordKey], _ table: RecordTable, readAfter number: Int) {
      for key in keys {
        if let state = table.state(key), state.flight == .none, state.savedNumber <= number,
          state.phase == .saved || state.phase == .deleting
        {
          vanished(state)
        }
      }
    }

    /// Takes over rows that may be in memory, or belong to a list that is; returns their keys.
    private func take(
      _ rows: [some ObservableRecord], _ table: RecordTable, readAfter number: Int
    ) -> Set<RecordKey> {
      var found: Set<RecordKey> = []
      for row in rows {
        guard let key = table.key(of: row) else { continue }
        found.insert(key)
        let isKnown = table.state(key) != nil
        guard let object = table.adopt(row, readAfter: number),
          !isKnown || object.recordState.mayBeUnlisted
        else { continue }
        object.recordState.mayBeUnlisted = false
        table.answer(key)
        for slot in table.incoming.keys {
          let owner = table.column(slot).flatMap { try? $0.read(object) }
          table.relink(object, slot, from: .null, to: owner ?? .null)
        }
      }
      return found
    }

    /// Reads the lists of rows again that refer to rows by one column.
    private func relist<Record: ObservableRecord>(
      _ record: Record.Type, _ table: RecordTable, _ name: String, _ lists: [LoadedRelation],
      readAfter number: Int
    ) -> ReadJob {
      let owners = lists.compactMap { $0.owner?.key }
      let collation = lists.lazy.compactMap { $0.owner?.table?.layout.collation }
        .first { $0 != .binary }
      return { db in
        let (rows, errors) = try Self.rows(record, owners, in: name, collation, db)
        return { [weak self, weak table] in
          guard let self, let table else { return }
          for error in errors { report(error) }
          _ = take(rows, table, readAfter: number)
        }
      }
    }

    private static func rows<Record: ObservableRecord>(
      _ record: Record.Type, _ keys: [RecordKey], in column: String, _ collation: Collation?,
      _ db: Database
    ) throws -> (rows: [Record], errors: [any Error]) {
      var rows: [Record] = []
      var errors: [any Error] = []
      for part in keys.parts(of: 10_000) {
        let request = record.filter(keys: part, in: column, collation ?? .binary)
          .order(Column(record.primaryKeyName))
        rows += try RowReader.fetch(db, request) { errors.append($0) }
      }
      return (rows, errors)
    }

    /// An object gets the values that its row has now; unsaved changes stay, column by column.
    func refresh(_ state: RecordState, from fresh: any ObservableRecord, readAfter number: Int) {
      // A new object is no row, even if somebody else has inserted one with its key.
      guard let table = state.table, let object = state.object, !state.isDeleted,
        state.phase != .new
      else { return }
      if state.savedNumber > number {
        // The row was read before the object was saved.
        if case .integer(let number)? = state.key, table.hasAutomaticKey {
          let rows = DatabaseChanges.Rows(numbers: [number])
          pendingChanges.add(DatabaseChanges(tables: [table.name.lowercased(): rows]))
        } else {
          pendingChanges.add(DatabaseChanges(tables: [table.name.lowercased(): .init(isAll: true)]))
        }
        return
      }
      var conflicts: [String] = []
      for column in table.schema.plain {
        let slot = column.slot
        guard state.inFlight[slot] == nil, let value = try? column.read(fresh),
          let now = try? column.read(object)
        else { continue }
        if let former = state.changed[slot] {
          if value == former { continue }
          state.changed[slot] = value
          if value != now { conflicts.append(column.name) }
        } else if value != now {
          state.apply { column.copy?(fresh, object) }
          if table.isLink(slot) {
            table.relink(object, slot, from: now, to: value)
          }
        }
      }
      for (slot, value) in fresh.recordState.storedValues {
        state.storedValues[slot] = value
        if state.changed[slot] != nil { state.changed[slot] = value }
      }
      if !conflicts.isEmpty { onConflict?(object, conflicts) }
    }

    /// The row of an object is not there any more: somebody else has deleted it.
    func vanished(_ state: RecordState) {
      guard let table = state.table, let object = state.object else { return }
      let hadChanges =
        state.phase == .saved && table.schema.plain.contains { state.changed[$0.slot] != nil }
      (state.changed, state.phase) = ([:], .deleted)
      table.forget(state)
      table.unlink(object)
      for list in state.relations.values { list.set([]) }
      for query in queries where query.lists(table) { query.removeDeleted() }
      state.updateKeeping()
      if hadChanges { onConflict?(object, table.schema.plain.map(\.name)) }
    }
  }

  extension ObservableRecord {
    /// The rows whose column has one of these keys, compared as those are.
    static func filter(
      keys: some Sequence<RecordKey>, in column: String, _ collation: Collation
    ) -> QueryInterfaceRequest<Self> {
      filter(keys.map(\.databaseValue).contains(collation.column(column)))
    }
  }

  extension [RecordKey] {
    /// The keys in an order that is the same each time.
    fileprivate func sorted() -> [RecordKey] {
      sorted { a, b in
        if case .integer(let a) = a, case .integer(let b) = b { return a < b }
        return a.description < b.description
      }
    }
  }
#endif
