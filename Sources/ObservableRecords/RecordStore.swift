#if Records
  public import Observables

  /// The objects of the rows of a database: one object for each row, loaded when asked for, saved
  /// at the end of each turn.
  ///
  /// ```swift
  /// let store = try RecordStore(DatabaseQueue(path: "ledger.sqlite"), loop: loop)
  /// let open = try store.query(Invoice.filter(Column("total") > 100))
  /// try open.observe("@sum.total") { print($0.count, "invoices") }
  /// ```
  ///
  /// A store and its objects belong to the loop's thread. The database works where GRDB has it
  /// work: the loop waits for reads that were asked for, and for saving only where that is
  /// ``Saving/synchronous``. Objects are held weakly: an object stays while the program holds it,
  /// while it is observed, and while it has changes that are not saved. A store that is dropped
  /// saves nothing more; ``close()`` does.
  public final class RecordStore {
    /// When changes are saved.
    public enum Saving: Sendable {
      /// At the end of each turn, while the loop goes on; the save of the next turn waits for it.
      case asynchronous
      /// At the end of each turn, which waits for the database.
      case synchronous
      /// When the program says ``RecordStore/save()``.
      case explicit
    }

    /// The database.
    public let database: any DatabaseWriter
    /// The loop whose thread the objects belong to.
    public let loop: Loop
    /// When changes are saved.
    public let saving: Saving
    /// Called with errors that have no caller: a ``SaveError`` for changes that could not be saved,
    /// a
    /// ``RecordError`` for rows that do not fit, and errors of the database.
    ///
    /// On the loop's thread. Without a handler they go to the loop's `onError`.
    public var onError: ((any Error) -> Void)?
    /// Called with an object that was changed here and elsewhere at once, and with the columns: the
    /// unsaved change here wins.
    ///
    /// A row that was deleted elsewhere, while it had changes here, has all its columns.
    public var onConflict: ((any ObservableRecord, [String]) -> Void)?

    var tables: [ObjectIdentifier: RecordTable] = [:]
    /// The tables of classes that are being compared with them.
    var registering: [RecordTable] = []
    /// The objects that have changes, in the order in which they got them.
    var listed: [RecordState] = []
    /// Objects that were taken out of a list, and whose column cannot be NULL.
    var orphans: [Orphan] = []
    var runningSave: RunningSave?
    /// How many saves have begun.
    var saveNumber = 0
    var pauses = 0
    private(set) var isClosed = false
    private var hasAskedForTurnEnd = false
    /// Whether a turn has ended whose changes wait for the save under way.
    var isSaveDue = false
    var queries: [LiveQuery] = []
    /// The lists of rows that are loaded.
    private var lists: [WeakList] = []
    private var listLimit = 64
    /// Objects whose lists the program has asked for in this turn.
    private var keptInTurn: [any ObservableRecord] = []
    /// Lists that the program has changed in this turn, with the objects that they belong to.
    private var editedLists: [(list: LoadedRelation, object: any ObservableRecord)] = []
    /// Those of them that were not looked at since.
    private var freshlyEdited: [LoadedRelation] = []
    var prefetched: [PrefetchKey: [RecordKey: [any ObservableRecord]]] = [:]
    /// Those who wait for the save that begins next.
    var waiters: [RunningSave.Waiter] = []
    let collector: ChangeCollector
    let polling: Polling
    let retry: SaveRetry
    /// What is to be read again, and whether a read is under way.
    var pendingChanges = DatabaseChanges()
    var isReading = false
    /// What the read under way is for.
    var changesBeingRead = DatabaseChanges()
    /// Counts what reads are about: one that was begun before is made again.
    var readGeneration = 0
    /// What the save under way, or one that was given up, deletes or changes with deleted rows.
    var dependentRows: [DependentRow] = []
    /// Rows and those whose stored properties depend on them, in the save that is being prepared.
    var relatedRows: [(RecordState, RecordState)] = []
    /// How many saves in a row were given up as others had written meanwhile.
    var outdatedSaves = 0
    /// What was read while a save was under way.
    var heldRows: (() -> Void)?
    /// How often in a row a read was made again, as others had written meanwhile.
    var rereads = 0
    /// The transaction under way.
    var transaction: RecordTransaction?
    /// How many transactions of others the store has heard of.
    var heardTransactions = 0
    /// Whether stored properties are being computed for a save.
    var isSettling = false

    /// Opens a store on a queue or a pool of GRDB, for a loop of this thread.
    ///
    /// `records` are classes that the store has to know before the first of their objects is asked
    /// for: those with `@Stored` properties that changes of other classes affect. Other processes
    /// are looked for every `pollInterval` seconds while something is observed; nil means never.
    ///
    /// What could not be saved, or read, as the database was locked or the disk was full, is tried
    /// again after `retryInterval` seconds, and ``onError`` hears of it once; nil means with the
    /// next change only. An ``Saving/explicit`` store saves nothing by itself. This does not keep
    /// the loop running.
    ///
    /// - Throws: ``RecordError`` for a class that does not match its table, and errors of the
    ///   database.
    public init(
      _ database: any DatabaseWriter, loop: Loop, records: [any ObservableRecord.Type] = [],
      saving: Saving = .asynchronous, pollInterval: Double? = 1, retryInterval: Double? = 1
    ) throws {
      (self.database, self.loop, self.saving) = (database, loop, saving)
      let mail = ChangeMail(inbox: loop.inbox)
      collector = ChangeCollector(mail)
      polling = Polling(pollInterval)
      retry = SaveRetry(retryInterval)
      mail.set(self)
      database.add(transactionObserver: collector, extent: .observerLifetime)
      polling.note(try database.writeWithoutTransaction { try $0.dataVersion() })
      for record in records { _ = try table(of: record) }
    }

    deinit {
      if !isClosed { end() }
    }

    /// Ends the work of the store: waits for the save under way; objects and lists stay as they
    /// are, and are not saved any more.
    ///
    /// - Throws: ``SaveError`` where unsaved changes cannot be saved; the store is closed all the
    ///   same.
    public func close() throws {
      if isClosed { return }
      try checkNoTransaction("closed")
      defer { end() }
      try saveNow()
    }

    private func end() {
      isClosed = true
      polling.stop()
      retry.stop()
      collector.stop()
      let queries = queries
      self.queries = []
      for query in queries { query.end() }
      (listed, orphans, prefetched, dependentRows) = ([], [], [:], [])
      if heldRows != nil {
        heldRows = nil
        loop.release()
      }
      (editedLists, keptInTurn, freshlyEdited) = ([], [], [])
      let tables = Array(tables.values)
      self.tables = [:]
      for table in tables { table.close() }
    }

    func report(_ error: any Error) {
      if let onError { onError(error) } else { loop.report(error) }
    }

    // MARK: Reading

    /// Reads the database on its own thread, after the save under way.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
      try checkOpen()
      waitForSave()
      return try readDatabase(body)
    }

    /// Reads the database as it is.
    func readDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
      if database is DatabaseQueue {
        // GRDB would use a connection that is closed.
        try database.unsafeRead { _ = try $0.cachedStatement(sql: "SELECT 1") }
      }
      return try database.read(body)
    }

    /// Reads the database as it is, while the loop goes on.
    func readDatabaseLater(_ body: @escaping @Sendable (Result<Database, any Error>) -> Void) {
      guard database is DatabaseQueue else { return database.asyncRead(body) }
      let database = database
      database.asyncWriteWithoutTransaction { db in
        do {
          _ = try db.cachedStatement(sql: "SELECT 1")
          database.asyncRead(body)
        } catch {
          body(.failure(error))
        }
      }
    }

    func checkOpen() throws {
      if isClosed { throw RecordError(.closed, table: "", "the store is closed") }
    }

    /// The row with a primary key; nil where there is none.
    ///
    /// - Throws: ``RecordError`` for a row that does not fit, and errors of the database.
    public func find<Record: ObservableRecord>(
      _ record: Record.Type, _ key: some DatabaseValueConvertible
    ) throws -> Record? {
      let table = try table(of: record)
      let value = StoredValue(key.databaseValue)
      // SQLite would look for another value.
      guard value.obstacle == nil, let key = table.key(value) else { return nil }
      if let state = table.state(key) { return state.isDeleted ? nil : state.object as? Record }
      let request = record.filter(Column(record.primaryKeyName) == key.databaseValue)
      return try fetch(request).first
    }

    /// The rows of a request, once: the list is not kept up to date.
    ///
    /// - Throws: ``RecordError`` for a row that does not fit, and errors of the database.
    public func fetch<Record: ObservableRecord>(
      _ request: some FetchRequest<Record>
    ) throws -> [Record] {
      let table = try table(of: Record.self)
      return try load(request, table)
    }

    /// Reads the rows of a request; `alsoRead` reads more in the same transaction.
    ///
    /// Rows that are not in memory become objects of the store where they are read, while the loop
    /// waits: later they would have to be fetched into the processor's caches again.
    func load<Record: ObservableRecord>(
      _ request: some FetchRequest, _ table: RecordTable,
      alsoRead: (Database) throws -> Void = { _ in }
    ) throws -> [Record] {
      let group = FetchGroup(table)
      var rows: [Record] = []
      var known: [Int] = []
      try read { db in
        try RowReader.forEach(
          db, request,
          { (row: Record, statement) in
            guard let key = table.key(of: row, in: statement) else { return }
            // A row that a request has twice is one object, too.
            if table.isKnown(key) {
              known.append(rows.count)
            } else {
              let state = row.recordState
              state.join(table, row, .saved, key: key, with: group)
              state.mayBeUnlisted = true
            }
            rows.append(row)
          }, { throw $0 })
        try alsoRead(db)
      }
      if known.isEmpty { return rows }
      var isGone: Set<Int> = []
      for place in known {
        guard let object = table.adopt(rows[place], readAfter: saveNumber) else {
          isGone.insert(place)
          continue
        }
        object.recordState.join(group)
        rows[place] = unsafeDowncast(object, to: Record.self)
      }
      return isGone.isEmpty
        ? rows : rows.enumerated().filter { !isGone.contains($0.offset) }.map(\.element)
    }

    /// The one object for each of the rows that were just read.
    func adopt<Record: ObservableRecord>(
      _ rows: [Record], _ table: RecordTable, readAfter number: Int
    ) -> [Record] {
      let group = FetchGroup(table)
      return rows.compactMap { row in
        guard let object = table.adopt(row, readAfter: number) else { return nil }
        object.recordState.join(group)
        return unsafeDowncast(object, to: Record.self)
      }
    }

    // MARK: Lists

    /// Notes a list of rows that is loaded.
    func note(_ list: LoadedRelation) {
      if lists.count >= listLimit {
        lists.removeAll { $0.list == nil }
        listLimit = max(64, 2 * lists.count)
      }
      lists.append(WeakList(list: list))
    }

    var loadedLists: [LoadedRelation] { lists.compactMap(\.list) }

    /// Handles what the program has put into lists, and taken out, since this was done last, in the
    /// order in which the lists were edited: a row that is put into several belongs to the last.
    func synchronizeEditedLists() {
      let lists = freshlyEdited
      freshlyEdited = []
      for list in lists { list.synchronize() }
    }

    /// Notes a list that the program has changed, once until it is synchronized.
    func noteFreshEdit(_ list: LoadedRelation) { freshlyEdited.append(list) }

    /// Handles what the program has put into lists, and taken out, in this turn so far.
    func synchronizeLists() {
      synchronizeEditedLists()
      for list in lists { list.list?.synchronize() }
    }

    /// Keeps an object whose list the program has changed, until that was handled.
    func keepUntilTurnEnd(_ list: LoadedRelation) {
      guard let object = list.owner?.object else { return }
      editedLists.append((list, object))
      askForTurnEnd()
    }

    /// Keeps an object until the turn is over: `find(…)!.items.append(…)` changes a list whose
    /// object that no other code may hold.
    func keepUntilTurnEnd(_ object: any ObservableRecord) {
      let state = object.recordState
      if state.isKeptInTurn || !state.hasObject { return }
      state.isKeptInTurn = true
      keptInTurn.append(object)
      askForTurnEnd()
    }

    /// Handles what the program has put into lists, and taken out, in this turn.
    private func endEdits() {
      synchronizeEditedLists()
      let edited = editedLists
      editedLists = []
      for (list, _) in edited {
        list.synchronize()
        list.endEdit()
      }
      let kept = keptInTurn
      keptInTurn = []
      for object in kept { object.recordState.isKeptInTurn = false }
    }

    // MARK: Turns

    /// An object got its first change since it was saved.
    func noteChange(of state: RecordState, _ object: any ObservableRecord) {
      if state.hasObject { coverInTransaction(object) }
      if !state.isListed {
        state.isListed = true
        listed.append(state)
        state.updateKeeping()
      }
      askForTurnEnd()
    }

    func askForTurnEnd() {
      // A save that is being prepared has what is found out for it.
      if hasAskedForTurnEnd || isClosed || isSettling { return }
      hasAskedForTurnEnd = true
      loop.whenTurnEnds { [weak self] in self?.turnEnded() }
    }

    private func turnEnded() {
      hasAskedForTurnEnd = false
      prefetched = [:]
      if isClosed { return }
      endEdits()
      removeOrphans()
      if transaction != nil { return }
      if isSaveDue, !waiters.isEmpty, runningSave == nil { return beginSave() }
      if pauses > 0 || saving == .explicit { return }
      saveTurn()
    }

    /// Saves what a turn has changed.
    func saveTurn() {
      if saving == .synchronous {
        do { try saveNow() } catch  where retry.isNews { report(error) } catch {}
      } else if runningSave == nil {
        beginSave()
      } else {
        isSaveDue = true
      }
    }

    /// Changes made in `body` are not saved before it returns: the end of a turn inside of it saves
    /// nothing.
    ///
    /// They are saved at the end of the turn in which it returns.
    public func pauseSaving<Result>(_ body: () throws -> Result) rethrows -> Result {
      pauses += 1
      defer {
        pauses -= 1
        if pauses == 0, !listed.isEmpty { askForTurnEnd() }
      }
      return try body()
    }
  }

  private struct WeakList { weak var list: LoadedRelation? }

  /// An object that a list has lost, and that has to go unless another row gets it.
  struct Orphan {
    let object: any ObservableRecord
    let column: RecordColumn
    let owner: RecordState
  }

  // A store is confined to the thread of its loop.
  @available(*, unavailable)
  extension RecordStore: Sendable {}
#endif
