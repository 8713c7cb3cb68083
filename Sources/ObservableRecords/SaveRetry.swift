#if Records
  internal import Observables

  /// Repeats saves and reads that have failed for a temporary reason, such as a locked database or
  /// a full disk.
  final class SaveRetry {
    private let interval: Double?
    private var timer: LoopTimer?
    /// The last error, until something succeeds.
    private var code: ResultCode?
    /// Whether the last failure had a different error from the failure before.
    private(set) var isNews = true

    init(_ interval: Double?) { self.interval = interval }

    /// Notes the error of a save or a read.
    func noteFailure(_ error: any Error, _ store: RecordStore) {
      let reason = (error as? SaveError)?.underlying ?? error
      guard let interval, SaveRetry.mayPass(reason),
        let found = (reason as? DatabaseError)?.resultCode.primaryResultCode
      else { return stop() }
      isNews = found != code
      code = found
      timer?.stop()
      timer = store.loop.after(interval) { [weak store] in
        guard let store else { return }
        store.saves.tryAgain()
      }
      timer?.keepsLoopRunning = false
    }

    /// Stops repeating, and forgets the last error.
    func stop() {
      timer?.stop()
      (timer, code, isNews) = (nil, nil, true)
    }

    /// Whether the reason of an error may pass by itself.
    static func mayPass(_ error: any Error) -> Bool {
      let codes: [ResultCode] = [
        .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_CANTOPEN,
      ]
      return (error as? DatabaseError).map { codes.contains($0.resultCode.primaryResultCode) }
        ?? false
    }
  }
#endif
