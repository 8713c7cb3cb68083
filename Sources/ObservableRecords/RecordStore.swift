#if Records
  public import Observables

  /// The objects for the rows of a database: one object for each row, loaded on demand, and saved
  /// at the end of each turn.
  ///
  /// ```swift
  /// let store = try RecordStore(DatabaseQueue(path: "ledger.sqlite"), loop: loop)
  /// let open = try store.query(Invoice.filter(Column("total") > 100))
  /// try open.observe("@sum.total") { print($0.count, "invoices") }
  /// ```
  ///
  /// A store and its objects belong to the loop's thread. The database runs on GRDB's threads: the
  /// loop waits for requested reads, but for saves only if ``Saving/synchronous`` is set. Objects
  /// are held weakly: an object stays alive while the program holds it, while it is observed, and
  /// while it has unsaved changes. A store that is released without ``close()`` does not save its
  /// last changes.
  public final class RecordStore {
    /// When changes are saved.
    public enum Saving: Sendable {
      /// At the end of each turn, in the background; the next save waits for it.
      case asynchronous
      /// At the end of each turn, waiting for the database.
      case synchronous
      /// When the program calls ``RecordStore/save()``.
      case explicit
    }

    /// The database.
    public let database: any DatabaseWriter
    /// The loop on whose thread the objects are used.
    public let loop: Loop
    /// When changes are saved.
    public let saving: Saving
    /// The handler of errors that have no caller: a ``SaveError`` for changes that could not be
    /// saved, a ``RecordError`` for rows that do not fit, and errors of the database.
    ///
    /// It is called on the loop's thread. Without a handler, errors go to the loop's `onError`.
    public var onError: ((any Error) -> Void)?
    /// The handler of conflicts, for an object that was changed both here and elsewhere.
    ///
    /// It gets the object and the names of the columns. The unsaved change of this store wins. For
    /// a row that was deleted elsewhere while it had changes here, it gets all columns.
    public var onConflict: ((any ObservableRecord, [String]) -> Void)?

    private enum Phase {
      case open
      case inTransaction(RecordTransaction)
      case closed
    }

    private var phase = Phase.open
    /// Calls of handlers that wait for the end of `delayingCallbacks`.
    private var delayedCalls: [(RecordStore) -> Void]?
    // The store's parts refer to the store, so they are created at the end of `init`.
    private(set) var tables: RecordTables!
    private(set) var unsaved: UnsavedRows!
    private(set) var relations: LoadedRelations!
    private(set) var reads: ReadCycle!
    private(set) var saves: SaveCycle!

    /// Opens a store on a queue or pool of GRDB, for a loop of this thread.
    ///
    /// `records` lists classes that the store has to know before it is asked for their objects:
    /// classes with `@Stored` properties that depend on other classes. While something is observed,
    /// the store checks every `pollInterval` seconds whether other processes have written; nil
    /// turns this off.
    ///
    /// A save or read that fails as the database is locked or the disk is full is repeated after
    /// `retryInterval` seconds, and ``onError`` gets the error once. With nil, it is repeated with
    /// the next change only. An ``Saving/explicit`` store never saves by itself. Retries do not
    /// keep the loop running.
    ///
    /// - Throws: ``RecordError`` for a class that does not match its table, and errors of the
    ///   database.
    public init(
      _ database: any DatabaseWriter, loop: Loop, records: [any ObservableRecord.Type] = [],
      saving: Saving = .asynchronous, pollInterval: Double? = 1, retryInterval: Double? = 1
    ) throws {
      (self.database, self.loop, self.saving) = (database, loop, saving)
      tables = RecordTables(self)
      unsaved = UnsavedRows(self)
      relations = LoadedRelations(self)
      reads = ReadCycle(self, pollInterval: pollInterval)
      saves = SaveCycle(self, retryInterval: retryInterval)
      reads.polling.note(try database.writeWithoutTransaction { try $0.dataVersion() })
      for record in records { try use(record) }
    }

    deinit {
      if !isClosed { end() }
    }

    /// Saves all changes and ends the store's work, after the save under way.
    ///
    /// Objects and lists stay as they are, and are not saved any more.
    ///
    /// - Throws: ``SaveError`` if unsaved changes cannot be saved; the store is closed
    ///   nevertheless.
    public func close() throws {
      if isClosed { return }
      try checkNoTransaction("closed")
      defer { end() }
      try saves.saveNow()
    }

    private func end() {
      phase = .closed
      reads.end(loop)
      saves.end()
      unsaved.close()
      relations.close()
      tables.close()
    }

    var isClosed: Bool { if case .closed = phase { true } else { false } }

    func checkOpen() throws {
      if isClosed { throw RecordError(.closed, table: "", "the store is closed") }
    }

    func report(_ error: any Error) {
      tell { [loop] store in
        if let onError = store.onError { onError(error) } else { loop.report(error) }
      }
    }

    /// Reports columns of an object that were changed both here and elsewhere.
    func reportConflict(_ object: any ObservableRecord, _ columns: [String]) {
      tell { $0.onConflict?(object, columns) }
    }

    private func tell(_ call: @escaping (RecordStore) -> Void) {
      if delayedCalls == nil { call(self) } else { delayedCalls?.append(call) }
    }

    /// Runs `body`, and calls immediate watchers and handlers of the program afterwards.
    func delayingCallbacks<Result, Failure: Error>(
      _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
      try loop.batch { () throws(Failure) in
        if delayedCalls != nil { return try body() }
        delayedCalls = []
        defer {
          let calls = delayedCalls ?? []
          delayedCalls = nil
          for call in calls { call(self) }
        }
        return try body()
      }
    }

    // MARK: Reading

    /// Reads the database on its thread, after the save under way.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
      try checkOpen()
      saves.wait()
      return try readDatabase(body)
    }

    /// Reads the current state of the database.
    func readDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
      if let locked = saves.locked { return try body(locked) }
      if database is DatabaseQueue {
        // Without this, GRDB would use a closed connection.
        try database.unsafeRead { _ = try $0.cachedStatement(sql: "SELECT 1") }
      }
      return try database.read(body)
    }

    /// Reads the current state of the database in the background.
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

    // MARK: Classes

    func table(of record: any ObservableRecord.Type) throws -> RecordTable {
      try tables.table(of: record)
    }

    /// Compares a class with its table now.
    package func use(_ record: any ObservableRecord.Type) throws { _ = try table(of: record) }

    /// Whether the database computes a column of a class.
    package func isGenerated(_ column: String, of record: any ObservableRecord.Type) -> Bool {
      guard let table = try? table(of: record), let slot = table.schema.slots[column]?.slot else {
        return false
      }
      return table.generated.contains(slot)
    }

    // MARK: Transactions

    /// The transaction under way.
    var transaction: RecordTransaction? {
      if case .inTransaction(let transaction) = phase { transaction } else { nil }
    }

    /// Throws inside of a transaction, whose writes are not in the database before its end.
    func checkNoTransaction(_ what: String) throws(RecordError) {
      if transaction != nil {
        throw RecordError(
          .inTransaction, table: "",
          "a transaction of the store is under way: nothing can be \(what) inside it")
      }
      if loop.engine.transactions.isOpen {
        throw RecordError(
          .inTransaction, table: "",
          "a transaction is under way that may undo changes: nothing can be \(what) inside it"
        )
      }
    }

    /// Runs `body` and saves its changes, or undoes them all: rows, lists, insertions and deletions
    /// (S8).
    ///
    /// It waits for the database, whatever ``saving`` is. Earlier unsaved changes are saved first.
    /// Coalesced watchers are not called for undone changes; immediate watchers are also called for
    /// the undoing. Changes of other models stay. `body` must not flush, wait, or begin another
    /// transaction of the store.
    ///
    /// - Throws: errors of `body`, and ``SaveError`` if the changes cannot be saved; both undo the
    ///   changes. ``SaveError`` for earlier changes that cannot be saved; they stay, and `body`
    ///   does not run.
    @discardableResult
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
      if transaction != nil {
        throw RecordError(
          .inTransaction, table: "",
          "a transaction of the store is under way: it cannot contain another")
      }
      try checkNoTransaction("saved")
      try saves.saveNow()
      // Writes of others are not part of the transaction.
      if reads.isBehind { try reads.catchUp(to: nil) }
      guard let transaction = RecordTransaction(loop.engine, revert: revert) else {
        throw RecordError(
          .inTransaction, table: "", "too many nested transactions")
      }
      phase = .inTransaction(transaction)
      let generation = reads.generation
      for list in relations.all { list.cover(by: transaction) }
      do {
        let result = try body()
        try saves.saveNow()
        transaction.close(isUndone: false)
        phase = .open
        return result
      } catch {
        transaction.restore()
        // If writes of others were read in the meantime, their watchers are called.
        transaction.close(isUndone: reads.generation == generation)
        phase = .open
        throw error
      }
    }
  }

  // A store is confined to the thread of its loop.
  @available(*, unavailable)
  extension RecordStore: Sendable {}
#endif
