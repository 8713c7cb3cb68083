#if Records
  internal import Observables

  /// Keeps the rows in memory equal to the database.
  ///
  /// It receives the changes of others and of triggers, and reads the changed rows, lists and
  /// queries again. Their results are applied in one turn. One read is under way at a time. Changes
  /// that arrive while it runs are read next.
  final class ReadCycle {
    private enum Phase {
      case idle
      /// A read is under way for changes.
      ///
      /// If it ends while a save is under way, `held` keeps its rows until the save ends: the save
      /// may insert some of them, and their objects do not know their keys yet.
      case reading(DatabaseChanges, held: Findings?)
    }

    /// The findings of one read.
    private struct Findings {
      let results: Result<[() -> Void], any Error>
      let changes: DatabaseChanges
      let generation: Int
      /// Whether the store had received every transaction that was committed before the read.
      let isWhole: Bool
    }

    private unowned let store: RecordStore
    let collector: ChangeCollector
    let polling: Polling
    private struct WeakQuery { weak var query: (any LiveQuery)? }
    private var weakQueries: [WeakQuery] = []
    /// The queries whose lists the program has.
    private var queries: [any LiveQuery] { weakQueries.compactMap(\.query) }
    private var phase = Phase.idle
    /// The changes for the next read.
    private var pending = DatabaseChanges()
    /// The number of received transactions of others.
    private var heardTransactions = 0
    /// The generation of the data; a read that began in an earlier generation is repeated.
    private(set) var generation = 0
    /// The number of consecutive repeated reads, each repeated as others had written in the
    /// meantime.
    private var rereads = 0

    init(_ store: RecordStore, pollInterval: Double?) {
      self.store = store
      let mail = ChangeMail(inbox: store.loop.inbox)
      collector = ChangeCollector(mail)
      polling = Polling(pollInterval)
      mail.set(store)
      store.database.add(transactionObserver: collector, extent: .observerLifetime)
    }

    /// Ends the cycle; the lists of queries stay as they are.
    ///
    /// The store may be about to be released.
    func end(_ loop: Loop) {
      polling.stop()
      collector.stop()
      for query in queries { query.end() }
      weakQueries = []
      if case .reading(let changes, _?) = phase {
        phase = .reading(changes, held: nil)
        loop.release()
      }
    }

    /// The state that a save must find in the database: only then are values computed from rows in
    /// memory correct.
    ///
    /// The version is nil while rows of others are being read.
    var known: (others: Int, version: Int?) {
      (heardTransactions, areOthersBeingRead ? nil : polling.version)
    }

    /// Whether rows in memory are older than the commits of others in this process.
    var isBehind: Bool {
      areOthersBeingRead || collector.otherTransactions != heardTransactions
    }

    private var areOthersBeingRead: Bool {
      if case .reading(let changes, _) = phase, changes.isOfOthers { return true }
      return pending.isOfOthers
    }

    /// Whether all received changes were read, or are being read.
    var isNothingPending: Bool { pending.isEmpty }

    /// Whether rows in memory could become stale.
    var needsPolling: Bool {
      !queries.isEmpty || store.tables.all.contains { $0.isAnythingObserved }
    }

    // MARK: Queries

    /// Keeps a query up to date from now on.
    func add(_ query: any LiveQuery) {
      for name in query.tables { collector.follow(name) }
      weakQueries.removeAll { $0.query == nil }
      weakQueries.append(WeakQuery(query: query))
      polling.start(store)
    }

    /// Removes a deleted row of a table from the lists of queries.
    func remove(_ object: any ObservableRecord, of table: RecordTable) {
      for query in queries where query.lists(table) { query.remove(object) }
    }

    /// Marks the lists of rows of a table, or all lists, as possibly different from their queries.
    func markStale(_ table: RecordTable? = nil) {
      for query in queries where table.map(query.lists) ?? true { query.isStale = true }
    }

    /// Updates one query, waiting for the database.
    func readNow(_ query: any LiveQuery) throws {
      store.saves.wait()
      try store.read(query.job(readAfter: store.saves.number, fail: { throw $0 }))()
    }

    // MARK: Changes

    /// Receives the changes of other transactions of this process; called in a separate turn.
    func hearChanges() {
      if let changes = takeMail() { read(changes) }
    }

    /// Returns the changes of other transactions of this process since the last call.
    private func takeMail() -> DatabaseChanges? {
      var (changes, count) = collector.mail.take()
      heardTransactions += count
      changes.isOfOthers = true
      return count > 0 ? changes : nil
    }

    /// Receives a write of another process, which may have changed any row.
    func everythingChanged() { read(DatabaseChanges(isEverything: true, isOfOthers: true)) }

    /// Receives the changes of the store's own save: the rows of the objects in `saved`, and rows
    /// that triggers and foreign keys have changed.
    func changed(by changes: DatabaseChanges, _ saved: [RecordState]) {
      var changes = changes
      for (_, states) in Dictionary(grouping: saved, by: { $0.table.map(ObjectIdentifier.init) }) {
        guard let table = states[0].table, table.generated.isEmpty,
          var rows = changes.tables.removeValue(forKey: table.name.lowercased())
        else { continue }
        for state in states where !rows.isAll {
          guard case .integer(let number)? = state.key, !rows.repeated.contains(number) else {
            continue
          }
          rows.numbers.remove(number)
        }
        // The save itself finds the rows that its own statements replace.
        if rows.numbers.isEmpty { rows.mayHaveReplaced = false }
        changes.tables[table.name.lowercased()] = rows
      }
      read(changes)
    }

    /// Reads a row again with the next changes: its last read came before its save.
    func readLater(_ key: RecordKey?, of table: RecordTable) {
      var rows = DatabaseChanges.Rows(isAll: true)
      if case .integer(let number)? = key, table.hasAutomaticKey {
        rows = DatabaseChanges.Rows(numbers: [number])
      }
      // The row may have values of others that are not in memory yet.
      pending.add(DatabaseChanges(tables: [table.name.lowercased(): rows], isOfOthers: true))
    }

    /// Reads stale rows and lists.
    func readAgain() { read(DatabaseChanges()) }

    /// Reads received changes that are not read yet, if there are any.
    func readPending() { if !pending.isEmpty { readAgain() } }

    // MARK: Reading

    /// Reads everything that others have written so far, waiting for the database.
    ///
    /// A read under way is repeated.
    func catchUp(to version: Int?) throws {
      if let changes = takeMail() { pending.add(changes) }
      if let version, version != polling.version {
        polling.update(version)
        // If the read fails, the rows in memory are older than this version.
        pending.add(DatabaseChanges(isEverything: true, isOfOthers: true))
      }
      if case .reading(let changes, let held) = phase {
        pending.add(changes)
        phase = .reading(DatabaseChanges(), held: held)
      }
      generation += 1
      let changes = takePending()
      do {
        let jobs = jobs(for: changes, readAfter: store.saves.number)
        apply(try store.readDatabase { db in try jobs.map { try $0(db) } })
      } catch {
        putBack(changes)
        throw error
      }
    }

    /// Takes over the rows of one read.
    ///
    /// Code of the program is called when all of them are in memory: it must neither see nor save a
    /// part of a transaction.
    private func apply(_ uses: [() -> Void]) {
      store.delayingCallbacks { for use in uses { use() } }
    }

    private func takePending() -> DatabaseChanges {
      defer { pending = DatabaseChanges() }
      return pending
    }

    /// Returns changes that could not be read; the next read includes them.
    private func putBack(_ changes: DatabaseChanges) {
      pending.add(changes)
      for query in queries { query.isStale = query.isStale || query.isConcerned(by: changes) }
    }

    private func read(_ changes: DatabaseChanges) {
      if store.isClosed { return }
      pending.add(changes)
      if case .idle = phase { begin() }
    }

    private func begin() {
      let changes = takePending()
      let jobs = jobs(for: changes, readAfter: store.saves.endedNumber)
      if jobs.isEmpty { return }
      phase = .reading(changes, held: nil)
      let (heard, generation) = (heardTransactions, generation)
      if store.saving != .asynchronous {
        let results = Result { try store.readDatabase { db in try jobs.map { try $0(db) } } }
        let isWhole = collector.otherTransactions == heard
        return finish(
          Findings(results: results, changes: changes, generation: generation, isWhole: isWhole))
      }
      store.loop.retain()
      // Jobs hold the store's tables. The loop's thread holds them too, so that it releases them.
      let (home, inbox) = (Parcel((store, jobs)), store.loop.inbox)
      let (work, collector) = (Parcel(jobs), collector)
      store.readDatabaseLater { db in
        let results = Parcel(Result { try work.open().map { try $0(db.get()) } })
        let isWhole = collector.otherTransactions == heard
        inbox.post {
          let (store, _) = home.open()
          store.loop.release()
          store.reads.finish(
            Findings(
              results: results.open(), changes: changes, generation: generation,
              isWhole: isWhole))
        }
      }
    }

    private func jobs(for changes: DatabaseChanges, readAfter number: Int) -> [ReadJob] {
      // A list that is made of prefetched rows while the jobs run would not get the changes.
      if !changes.isEmpty { store.relations.forgetPrefetched() }
      var jobs: [ReadJob] = []
      for table in store.tables.all where changes.concerns(table.name) {
        jobs.append(contentsOf: table.reloads(changes, readAfter: number))
      }
      for query in queries where query.isConcerned(by: changes) {
        jobs.append(query.job(readAfter: number, fail: nil))
      }
      return jobs
    }

    private func finish(_ found: Findings, wereHeld: Bool = false) {
      if case .reading(let changes, _) = phase, store.saves.isWriting, !wereHeld, !store.isClosed {
        store.loop.retain()
        phase = .reading(changes, held: found)
        return
      }
      phase = .idle
      if store.isClosed { return }
      let isLatest = found.generation == generation
      if !isLatest || !found.isWhole && rereads < 10 {
        // The rows in memory may be newer; or the read may have seen a transaction that the store
        // has not received. Reading again applies that transaction as a whole.
        if isLatest { rereads += 1 }
        putBack(found.changes)
        return read(takeMail() ?? DatabaseChanges())
      }
      rereads = 0
      switch found.results {
      case .success(let uses):
        apply(uses)
        if !store.hasUnsavedChanges { store.saves.retry.stop() }
        readPending()
      case .failure(let error):
        putBack(found.changes)
        store.saves.failed(error)
      }
    }

    /// Uses, in a separate turn, rows that were read while a save was under way.
    func useHeldRows() {
      guard case .reading(let changes, let found?) = phase else { return }
      phase = .reading(changes, held: nil)
      let (home, inbox) = (Parcel((store, found)), store.loop.inbox)
      inbox.post {
        let (store, found) = home.open()
        store.loop.release()
        store.reads.finish(found, wereHeld: true)
      }
    }
  }
#endif
