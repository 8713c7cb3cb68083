package import CLua

/// Stops the scripts of a state from any thread, and counts their time.
public final class LuaInterrupter: Sendable {
  // The state's thread uses the record; C makes fields that other threads read atomic.
  nonisolated(unsafe) let record: UnsafeMutablePointer<clua_guard>

  init() {
    record = .allocate(capacity: 1)
    record.initialize(to: clua_guard())
  }

  deinit { record.deallocate() }

  /// Stops the running code of the state with an error with the code `interrupted`, which scripts
  /// can catch only briefly.
  ///
  /// It ends the calls of the script that is running, and nothing else: the state remains usable,
  /// and a script of another sandbox that made these calls through Swift continues. Does nothing if
  /// no script is running. A C or Swift function called by a script returns first.
  public func interrupt() { clua_guard_interrupt(record) }

  /// The signal that reaches the threads of scripts; initially `SIGURG`.
  ///
  /// Set it before any script runs.
  public static var signal: Int32 {
    get { clua_guard_signal() }
    set { clua_guard_setsignal(newValue) }
  }

  /// The number of nanoseconds in a duration, at least one.
  package static func nanoseconds(_ time: Duration) -> UInt64 {
    let (seconds, attoseconds) = time.components
    let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflows ? .max : UInt64(clamping: max(1, whole + attoseconds / 1_000_000_000))
  }

  /// Whether this system can limit the time of scripts: only Linux can.
  package static var canLimitTime: Bool { clua_guard_canlimit() }

  /// Counts the time between two changes of `turn` as one turn.
  ///
  /// The number must live as long as scripts run.
  package func count(in turn: UnsafePointer<UInt64>) { record.pointee.turn = turn }

  /// How deeply calls of scripts may nest; 0 for no limit.
  var callDepth: Int { Int(record.pointee.account?.pointee.calldepth ?? 0) }

  /// The number of active nested calls of scripts.
  var depth: Int { Int(record.pointee.depth) }

  /// Sets the account of scripts without another account.
  package func begin(_ account: UnsafeMutablePointer<clua_account>) {
    record.pointee.account = account
  }

  /// Runs the engine's work for scripts, unless a script called it: it gets some milliseconds per
  /// turn even after they were stopped.
  package func runEngine(_ L: LuaStack, _ body: () -> Void) {
    clua_enterengine(record, L.pointer)
    body()
    clua_leave(record, L.pointer)
  }

  /// Runs the engine's work for a call of scripts: it uses their time, and ends with the call.
  package func runForScripts<Failure: Error>(
    _ L: LuaStack, _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    clua_enter(record, L.pointer)
    defer { clua_leave(record, L.pointer) }
    try body()
  }

  /// Whether the engine has to abandon its work for the scripts.
  package var isEngineStopping: Bool { clua_isenginestopping(record) }

  /// A pointer, valid as long as the state, to a number that is not 0 while running scripts have to
  /// stop.
  package var stopFlag: UnsafePointer<CInt> { clua_guard_stopflag(record) }

  /// Makes scripts of another account the running ones, until `leave`.
  package func enter(_ account: UnsafeMutablePointer<clua_account>) {
    _ = clua_guard_switch(record, account)
  }

  /// Suspends the running code until `goOn`: calls on another account are neither stopped nor
  /// exempt with it.
  package func suspend() -> Caller { Caller(record: clua_guard_suspend(record)) }

  /// Lets the caller continue on its account.
  package func goOn(_ caller: Caller, _ L: LuaStack) {
    withUnsafePointer(to: caller.record) { clua_guard_goon(record, $0, L.pointer) }
  }

  /// The suspended code that has caused a call on another account.
  package struct Caller { fileprivate let record: clua_caller }

  /// The running coroutine, for `lend`.
  package var runningThread: LentThread { LentThread(thread: record.pointee.running) }

  /// Hides a coroutine of other scripts from code that runs on it; returns the previously hidden
  /// one.
  package func lend(_ lent: LentThread) -> LentThread {
    defer { record.pointee.lent = lent.thread }
    return LentThread(thread: record.pointee.lent)
  }

  /// A coroutine on which callbacks of other scripts run.
  package struct LentThread {
    fileprivate let thread: OpaquePointer?
  }

  package func leave(to account: UnsafeMutablePointer<clua_account>, _ L: LuaStack) {
    clua_guard_restore(record, account, L.pointer)
  }

  /// Exempts the code up to `resume` from stops, even if scripts were stopped: it runs on `exempt`.
  package func exempt(_ exempt: UnsafeMutablePointer<clua_account>) -> Exemption {
    var outer: UnsafeMutablePointer<clua_account>?
    let stopped = clua_guard_exempt(record, exempt, &outer)
    // If exempt code called scripts that call exempt code again, memory is limited here.
    let isFreed = clua_guard_freememory(record)
    return Exemption(outer: outer, stopped: stopped, isFreed: isFreed)
  }

  package func resume(_ exemption: Exemption) {
    clua_guard_resume(record, exemption.outer, exemption.stopped)
    if exemption.isFreed { _ = clua_guard_limitmemory(record) }
  }

  /// Runs code of scripts, called by exempt code, with the scripts' limits of memory again.
  package func withLimitedMemory<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let isLimited = clua_guard_limitmemory(record)
    defer { clua_guard_lendmemory(record, isLimited) }
    return try body()
  }

  /// Runs code that must not fail for lack of memory: its memory is counted, but not refused.
  package func withUnlimitedMemory<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let isFreed = clua_guard_freememory(record)
    defer { if isFreed { _ = clua_guard_limitmemory(record) } }
    return try body()
  }

  /// Whether exempt code is running.
  package var isExempt: Bool {
    @inline(__always) get { record.pointee.exemption.account != nil }
  }

  /// The state to restore after exempt code.
  package struct Exemption {
    fileprivate let outer: UnsafeMutablePointer<clua_account>?
    fileprivate let stopped: CInt
    /// Whether memory is limited again at the end.
    fileprivate let isFreed: Bool
  }

  /// Whether the running scripts have to stop, or were stopped in this turn.
  package var isStopping: Bool { clua_isstopping(record) }

  /// Whether any scripts were stopped in this turn.
  package var hasStopped: Bool { clua_hasstopped(record) }

  /// Records the place of scripts that have to stop, if the host's code notices it first.
  func notePlace(_ L: LuaStack) { clua_guard_noteplace(record, L.pointer) }

  /// Protects the next steps of our own Lua code, which belong together, from a stop.
  package func spare() { clua_guard_spare(record) }

  /// The account of the scripts that were stopped last.
  package var stoppedAccount: UnsafeMutablePointer<clua_account>? { record.pointee.culprit }

  /// Whether the last stop was not reported yet.
  var isUnreported: Bool { record.pointee.culprit.map { !$0.pointee.isreported } ?? false }

  /// Whether this is the first report of a stop; further ones in the same turn add nothing.
  func takeReport() -> Bool {
    guard let account = record.pointee.culprit else { return true }
    defer { account.pointee.isreported = true }
    return !account.pointee.isreported
  }

  /// Forgets an account that is about to be freed, in which no scripts run any more.
  package func forget(_ account: UnsafeMutablePointer<clua_account>) {
    clua_guard_forget(record, account)
  }

  /// Stops the running code, because its host or sandbox is closed.
  package func stopClosed() { clua_guard_close(record) }

  /// Whether the running code is stopped because its host or sandbox is closed.
  package var isClosing: Bool {
    @inline(__always) get { clua_guard_isclosing(record) }
  }

  /// The number of the sandbox on whose account scripts run; 0 for the host.
  var sandbox: UInt32 { record.pointee.account?.pointee.sandbox ?? 0 }

  /// Why and where scripts were last stopped.
  var lastStop: (code: LuaError.Code, message: String) {
    let size = Int(CLUA_STOP_MESSAGE_SIZE)
    let message = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { text in
      clua_stopmessage(record, text.baseAddress!)
      return String(cString: text.baseAddress!)
    }
    let code: LuaError.Code =
      switch clua_stop(UInt32(record.pointee.reason)) {
      case CLUA_STOP_INTERRUPTED: .interrupted
      case CLUA_STOP_CLOSED: .closed
      default: .timeLimit
      }
    return (code, message)
  }
}
