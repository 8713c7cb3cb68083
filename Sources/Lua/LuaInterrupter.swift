internal import CLua

/// Stops the scripts of a state; any thread may use it.
///
/// It also counts the time that they take.
public final class LuaInterrupter: Sendable {
  // The state's thread uses the record; C makes what other threads read atomic.
  nonisolated(unsafe) let record: UnsafeMutablePointer<clua_guard>

  init() {
    record = .allocate(capacity: 1)
    record.initialize(to: clua_guard())
  }

  deinit { record.deallocate() }

  /// Stops what the state runs now, by an error of the code `interrupted` that scripts cannot catch
  /// for long.
  ///
  /// It ends the calls that are under way, and nothing else: the state can be used as before. Does
  /// nothing where no script runs. A function in C or Swift that a script has called returns first.
  public func interrupt() { clua_guard_interrupt(record) }

  /// The signal by which the threads of scripts are reached; `SIGURG` if it is not set.
  ///
  /// To be set before any script runs.
  public static var signal: Int32 {
    get { clua_guard_signal() }
    set { clua_guard_setsignal(newValue) }
  }

  /// Limits the CPU time of scripts between two changes of `turn`, which must live as long as any
  /// script runs; nil for no limit.
  ///
  /// - Precondition: the system can do that (Linux).
  func limit(to time: Duration?, in turn: UnsafePointer<UInt64>?) {
    precondition(
      time == nil || clua_guard_canlimit(), "The time of scripts cannot be limited on this system")
    record.pointee.turn = turn
    record.pointee.own.limit =
      time.map {
        UInt64(
          clamping: max(
            1,
            $0.components.seconds * 1_000_000_000
              + $0.components.attoseconds / 1_000_000_000))
      } ?? 0
  }

  /// Whether this is the first report of a stop; others of the same turn say nothing new.
  func takeReport() -> Bool {
    guard let account = record.pointee.account else { return true }
    defer { account.pointee.isreported = true }
    return !account.pointee.isreported
  }

  /// Why scripts were stopped last, and where.
  var lastStop: (code: LuaError.Code, message: String) {
    let size = Int(CLUA_STOP_MESSAGE_SIZE)
    let message = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { text in
      clua_stopmessage(record, text.baseAddress!)
      return String(cString: text.baseAddress!)
    }
    let isTime = record.pointee.reason == CInt(CLUA_STOP_TIME.rawValue)
    return (isTime ? .timeLimit : .interrupted, message)
  }
}
