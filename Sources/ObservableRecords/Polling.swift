#if Records
  internal import Observables

  /// Checks regularly whether another process has written to the database.
  final class Polling {
    private enum Phase {
      case idle, asking
      /// Another check was requested while one runs, whose answer may be too old.
      case askedAgain
    }

    private let interval: Double?
    private var timer: LoopTimer?
    private var phase = Phase.idle
    /// The last seen version of the database, by which SQLite counts the writes of other
    /// connections.
    private(set) var version: Int?

    init(_ interval: Double?) { self.interval = interval }

    func note(_ version: Int) { if self.version == nil { self.version = version } }

    /// Notes that the rows in memory are, or will soon be, as new as this version.
    func update(_ version: Int) { self.version = version }

    func stop() {
      timer?.stop()
      timer = nil
    }

    /// Checks every `interval` seconds from now on, as long as the store needs it.
    func start(_ store: RecordStore) {
      guard let interval, timer == nil, store.database.path != ":memory:" else { return }
      ask(store)
      timer = store.loop.every(interval) { [weak self, weak store] in
        guard let self, let store else { return }
        if store.reads.needsPolling { ask(store) } else { stop() }
      }
      timer?.keepsLoopRunning = false
    }

    /// Checks now.
    func ask(_ store: RecordStore) {
      if phase != .idle {
        phase = .askedAgain
        return
      }
      phase = .asking
      let answered = { [weak self, weak store] (version: Result<Int, any Error>) in
        guard let self, let store else { return }
        answer(version, store)
      }
      let (home, inbox) = (Parcel(answered), store.loop.inbox)
      store.database.asyncWriteWithoutTransaction { db in
        let version = Result { try db.dataVersion() }
        inbox.post { home.open()(version) }
      }
    }

    private func answer(_ found: Result<Int, any Error>, _ store: RecordStore) {
      let isAskedAgain = phase == .askedAgain
      phase = .idle
      if isAskedAgain { ask(store) }
      switch found {
      case .success(let found):
        if found == version { return }
        let isFirst = version == nil
        version = found
        if !isFirst { store.reads.everythingChanged() }
      case .failure(let error):
        // A lock passes; a closed connection does not.
        if SaveRetry.mayPass(error) { return }
        stop()
        store.report(error)
      }
    }
  }
#endif
