package import CLua

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

  /// Nanoseconds in a duration: at least one.
  package static func nanoseconds(_ time: Duration) -> UInt64 {
    let (seconds, attoseconds) = time.components
    let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflows ? .max : UInt64(clamping: max(1, whole + attoseconds / 1_000_000_000))
  }

  /// Whether the time of scripts can be limited on this system: on Linux.
  package static var canLimitTime: Bool { clua_guard_canlimit() }

  /// Counts the time between two changes of `turn` as that of one turn.
  ///
  /// The number must live as long as any script runs.
  package func count(in turn: UnsafePointer<UInt64>) { record.pointee.turn = turn }

  /// The calls of scripts that may be under way, one inside of the other; 0 for any number.
  var callDepth: Int { Int(record.pointee.account?.pointee.calldepth ?? 0) }

  /// Calls of scripts that are under way, one inside the other.
  var depth: Int { Int(record.pointee.depth) }

  /// The account of scripts that have no other.
  package func begin(_ account: UnsafeMutablePointer<clua_account>) {
    record.pointee.account = account
  }

  /// Runs what the engine does for scripts, unless it is called by one: it has some milliseconds in
  /// a turn also after they were stopped.
  package func runEngine(_ L: LuaStack, _ body: () -> Void) {
    clua_enterengine(record, L.pointer)
    body()
    clua_leave(record, L.pointer)
  }

  /// Runs what the engine does for a call of scripts: it takes their time, and ends with it.
  package func runForScripts<Failure: Error>(
    _ L: LuaStack, _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    clua_enter(record, L.pointer)
    defer { clua_leave(record, L.pointer) }
    try body()
  }

  /// Whether the engine is to give up what it does for the scripts.
  package var isEngineStopping: Bool { clua_isenginestopping(record) }

  /// Points to a number that is not 0 while the scripts that run are to stop; as long as the state
  /// lives.
  package var stopFlag: UnsafePointer<CInt> { clua_guard_stopflag(record) }

  /// Scripts of another account run until `leave`.
  package func enter(_ account: UnsafeMutablePointer<clua_account>) {
    _ = clua_guard_switch(record, account)
  }

  /// Suspends the code that runs until `goOn`: calls on another account are neither stopped nor
  /// exempt with it.
  package func suspend() -> Caller { Caller(record: clua_guard_suspend(record)) }

  /// Lets the caller go on, on its account.
  package func goOn(_ caller: Caller, _ L: LuaStack) {
    withUnsafePointer(to: caller.record) { clua_guard_goon(record, $0, L.pointer) }
  }

  /// Code that has caused a call on another account.
  package struct Caller { fileprivate let record: clua_caller }

  /// The coroutine that runs, for `lend`.
  package var runningThread: LentThread { LentThread(thread: record.pointee.running) }

  /// Hides a coroutine of other scripts from the code that runs on it from now on; returns the one
  /// that was hidden before.
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

  /// What runs until `resume` is not stopped, also where scripts were: it counts for `exempt`.
  package func exempt(_ exempt: UnsafeMutablePointer<clua_account>) -> Exemption {
    var outer: UnsafeMutablePointer<clua_account>?
    let stopped = clua_guard_exempt(record, exempt, &outer)
    // Where exempt code has called scripts, which call exempt code again, memory is limited here.
    let isFreed = clua_guard_freememory(record)
    return Exemption(outer: outer, stopped: stopped, isFreed: isFreed)
  }

  package func resume(_ exemption: Exemption) {
    clua_guard_resume(record, exemption.outer, exemption.stopped)
    if exemption.isFreed { _ = clua_guard_limitmemory(record) }
  }

  /// Code of scripts that such code calls has the memory of scripts again.
  package func withLimitedMemory<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let isLimited = clua_guard_limitmemory(record)
    defer { clua_guard_lendmemory(record, isLimited) }
    return try body()
  }

  /// Runs code that must not fail for want of memory: what it takes is counted, and not refused.
  package func withUnlimitedMemory<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let isFreed = clua_guard_freememory(record)
    defer { if isFreed { _ = clua_guard_limitmemory(record) } }
    return try body()
  }

  /// Whether code runs that is not stopped.
  package var isExempt: Bool {
    @inline(__always) get { record.pointee.exemption.account != nil }
  }

  /// What was interrupted by code that must not be stopped.
  package struct Exemption {
    fileprivate let outer: UnsafeMutablePointer<clua_account>?
    fileprivate let stopped: CInt
    /// Whether its end limits memory again.
    fileprivate let isFreed: Bool
  }

  /// Whether the scripts that run now are to stop, or were stopped in this turn.
  package var isStopping: Bool { clua_isstopping(record) }

  /// Whether any scripts were stopped in this turn.
  package var hasStopped: Bool { clua_hasstopped(record) }

  /// Remembers where scripts are, if code of the host is the first to notice that they are to stop.
  func notePlace(_ L: LuaStack) { clua_guard_noteplace(record, L.pointer) }

  /// Code of ours in Lua is not stopped for its next steps, which belong together.
  package func spare() { clua_guard_spare(record) }

  /// The account of the scripts that were stopped last.
  package var stoppedAccount: UnsafeMutablePointer<clua_account>? { record.pointee.culprit }

  /// Whether the last stop was not reported yet.
  var isUnreported: Bool { record.pointee.culprit.map { !$0.pointee.isreported } ?? false }

  /// Whether this is the first report of a stop; others of the same turn say nothing new.
  func takeReport() -> Bool {
    guard let account = record.pointee.culprit else { return true }
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
    let isAsked = record.pointee.reason == CInt(CLUA_STOP_INTERRUPTED.rawValue)
    return (isAsked ? .interrupted : .timeLimit, message)
  }
}
