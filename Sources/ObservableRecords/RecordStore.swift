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

    private enum Phase {
      case open
      case inTransaction(RecordTransaction)
      case closed
    }

    private var phase = Phase.open
    // The store's parts refer to it, so they are created at the end of `init`.
    private(set) var tables: RecordTables!
    private(set) var unsaved: UnsavedRows!
    private(set) var relations: LoadedRelations!
    private(set) var reads: ReadCycle!
    private(set) var saves: SaveCycle!

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

    /// Ends the work of the store: waits for the save under way; objects and lists stay as they
    /// are, and are not saved any more.
    ///
    /// - Throws: ``SaveError`` where unsaved changes cannot be saved; the store is closed all the
    ///   same.
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
      if let onError { onError(error) } else { loop.report(error) }
    }

    // MARK: Reading

    /// Reads the database on its own thread, after the save under way.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
      try checkOpen()
      saves.wait()
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

    // MARK: Classes

    func table(of record: any ObservableRecord.Type) throws -> RecordTable {
      try tables.table(of: record)
    }

    /// Compares a class with its table now.
    package func use(_ record: any ObservableRecord.Type) throws { _ = try table(of: record) }

    // MARK: Transactions

    /// The transaction under way.
    var transaction: RecordTransaction? {
      if case .inTransaction(let transaction) = phase { transaction } else { nil }
    }

    /// Whatever a transaction could take back is not in the database before its end.
    func checkNoTransaction(_ what: String) throws(RecordError) {
      if transaction != nil {
        throw RecordError(
          .inTransaction, table: "",
          "a transaction of the store is under way: nothing is \(what) inside of it")
      }
      if loop.engine.transactions.isOpen {
        throw RecordError(
          .inTransaction, table: "",
          "a transaction is under way that could take changes back: nothing is \(what) inside of it"
        )
      }
    }

    /// Runs `body` and saves what it has changed, or takes all of that back: rows, lists,
    /// insertions and deletions (S8).
    ///
    /// Waits for the database, whatever ``saving`` is. Unsaved changes from before are saved first.
    /// Coalesced watchers are not called for what was taken back; immediate ones are called for the
    /// way back. Changes of other models in `body` stay. `body` must neither flush nor wait, and
    /// has no transaction of the store inside of it.
    ///
    /// - Throws: what `body` throws, and ``SaveError`` where the changes cannot be saved: then they
    ///   are taken back; or ``SaveError`` for changes from before, which stay: `body` does not run
    ///   then.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
      if transaction != nil {
        throw RecordError(
          .inTransaction, table: "",
          "a transaction of the store is under way: it has none inside of it")
      }
      try checkNoTransaction("saved")
      try saves.saveNow()
      // What others have written is no part of the transaction.
      if reads.isBehind { try reads.catchUp(to: nil) }
      guard let transaction = RecordTransaction(loop.engine, revert: revert) else {
        throw RecordError(
          .inTransaction, table: "", "transactions are too many, one inside of the other")
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
        // What others have written has come in meanwhile: its watchers are called.
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
