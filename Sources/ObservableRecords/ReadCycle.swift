#if Records
  internal import Observables

  /// Keeps what is in memory as the database is: hears what others, and triggers, have changed, and
  /// reads rows, lists and queries again, which come in as one turn.
  ///
  /// One read is under way at a time. Changes that are heard of while it runs are read next.
  final class ReadCycle {
    private enum Phase {
      case idle
      /// A read is under way for changes. When it is over while a save is under way, `held` has its
      /// rows until the save ends: the save may insert some of them, and their objects don't know
      /// their keys yet.
      case reading(DatabaseChanges, held: Findings?)
    }

    /// What one read has found.
    private struct Findings {
      let results: Result<[() -> Void], any Error>
      let changes: DatabaseChanges
      let generation: Int
      /// Whether the store had heard of every transaction that was committed before the read.
      let isWhole: Bool
    }

    private unowned let store: RecordStore
    let collector: ChangeCollector
    let polling: Polling
    private var queries: [any LiveQuery] = []
    private var phase = Phase.idle
    /// Changes that the next read is for.
    private var pending = DatabaseChanges()
    /// How many transactions of others the store has heard of.
    private var heardTransactions = 0
    /// Counts what reads are about: one that was begun before is made again.
    private(set) var generation = 0
    /// How often in a row a read was made again, as others had written meanwhile.
    private var rereads = 0

    init(_ store: RecordStore, pollInterval: Double?) {
      self.store = store
      let mail = ChangeMail(inbox: store.loop.inbox)
      collector = ChangeCollector(mail)
      polling = Polling(pollInterval)
      mail.set(store)
      store.database.add(transactionObserver: collector, extent: .observerLifetime)
    }

    /// Ends the cycle, and the lists of queries stay as they are; the store may be about to go.
    func end(_ loop: Loop) {
      polling.stop()
      collector.stop()
      let queries = queries
      self.queries = []
      for query in queries { query.end() }
      if case .reading(let changes, _?) = phase {
        phase = .reading(changes, held: nil)
        loop.release()
      }
    }

    /// The state that a save must find in the database: values computed from rows in memory are
    /// correct only then.
    ///
    /// The version is nil while rows of others are being read.
    var known: (others: Int, version: Int?) {
      (heardTransactions, areOthersBeingRead ? nil : polling.version)
    }

    /// Whether rows in memory are older than what others have committed in this process.
    var isBehind: Bool {
      areOthersBeingRead || collector.otherTransactions != heardTransactions
    }

    private var areOthersBeingRead: Bool {
      if case .reading(let changes, _) = phase, changes.isOfOthers { return true }
      return pending.isOfOthers
    }

    /// Whether all that was heard of was read, or is being read.
    var isNothingPending: Bool { pending.isEmpty }

    /// Whether rows in memory could become stale.
    var needsPolling: Bool {
      queries.removeAll { !$0.isNeeded }
      return !queries.isEmpty || store.tables.all.contains { $0.isAnythingObserved }
    }

    // MARK: Queries

    /// Keeps a query up to date from now on.
    func add(_ query: any LiveQuery) {
      for name in query.tables { collector.follow(name) }
      queries.removeAll { !$0.isNeeded }
      queries.append(query)
      polling.start(store)
    }

    /// Takes deleted rows of a table out of the lists of queries.
    func removeDeleted(of table: RecordTable) {
      for query in queries where query.lists(table) { query.removeDeleted() }
    }

    /// The lists of rows of a table, or all, may differ from the results of their queries.
    func markStale(_ table: RecordTable? = nil) {
      for query in queries where table.map(query.lists) ?? true { query.isStale = true }
    }

    /// Brings one query up to date, waiting for the database.
    func readNow(_ query: any LiveQuery) throws {
      store.saves.wait()
      guard let job = query.job(readAfter: store.saves.number, fail: { throw $0 }) else { return }
      try store.read(job)()
    }

    // MARK: Changes

    /// Other transactions of this process have changed rows; called in a turn of its own.
    func hearChanges() {
      if let changes = takeMail() { read(changes) }
    }

    /// What other transactions of this process have changed since the last call.
    private func takeMail() -> DatabaseChanges? {
      var (changes, count) = collector.mail.take()
      heardTransactions += count
      changes.isOfOthers = true
      return count > 0 ? changes : nil
    }

    /// Another process has written: any row may be another one.
    func everythingChanged() { read(DatabaseChanges(isEverything: true, isOfOthers: true)) }

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
      read(changes)
    }

    /// A row was read before it was saved: it is read again with the next change.
    func readLater(_ key: RecordKey?, of table: RecordTable) {
      var rows = DatabaseChanges.Rows(isAll: true)
      if case .integer(let number)? = key, table.hasAutomaticKey {
        rows = DatabaseChanges.Rows(numbers: [number])
      }
      pending.add(DatabaseChanges(tables: [table.name.lowercased(): rows]))
    }

    /// Reads what is stale.
    func readAgain() { read(DatabaseChanges()) }

    /// Reads what was heard of and not read yet, if there is anything.
    func readPending() { if !pending.isEmpty { readAgain() } }

    // MARK: Reading

    /// Reads what others have written so far, waiting for the database; a read under way is made
    /// again.
    func catchUp(to version: Int?) throws {
      if let changes = takeMail() { pending.add(changes) }
      if let version, version != polling.version {
        polling.update(version)
        pending.isEverything = true
      }
      if case .reading(let changes, let held) = phase {
        pending.add(changes)
        phase = .reading(DatabaseChanges(), held: held)
      }
      generation += 1
      let changes = takePending()
      do {
        let jobs = jobs(for: changes, readAfter: store.saves.number)
        for use in try store.readDatabase({ db in try jobs.map { try $0(db) } }) { use() }
      } catch {
        putBack(changes)
        throw error
      }
    }

    private func takePending() -> DatabaseChanges {
      defer { pending = DatabaseChanges() }
      return pending
    }

    /// Changes that could not be read are read with the next ones.
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
      // Jobs hold the store's tables. The loop's thread holds them too, so that they are released
      // there.
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
      queries.removeAll { !$0.isNeeded }
      var jobs: [ReadJob] = []
      for table in store.tables.all where changes.concerns(table.name) {
        jobs.append(contentsOf: table.reloads(changes, readAfter: number))
      }
      for query in queries where query.isConcerned(by: changes) {
        if let job = query.job(readAfter: number, fail: nil) { jobs.append(job) }
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
        // What is in memory may be newer; or a part of a transaction may have been read that was
        // not heard of: it comes in as a whole.
        if isLatest { rereads += 1 }
        putBack(found.changes)
        return read(takeMail() ?? DatabaseChanges())
      }
      rereads = 0
      switch found.results {
      case .success(let uses):
        for use in uses { use() }
        if !store.hasUnsavedChanges { store.saves.retry.stop() }
        readPending()
      case .failure(let error):
        putBack(found.changes)
        store.saves.failed(error)
      }
    }

    /// Uses what was read while a save was under way, in a turn of its own.
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
