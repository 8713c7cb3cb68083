import LibC

/// A loop of turns: it handles messages and timers, and calls watchers when a turn ends (T1).
///
/// Except for its ``inbox``, a loop is confined to the thread that made it. There are four ways to
/// run it (<doc:Threads>):
///
/// - It owns its thread: ``run()``, which sleeps when idle.
/// - A host with a separate event loop steps it: ``step()``.
/// - It lives in a queue or another event loop: ``init(driver:file:line:)``, ``main``.
/// - It runs in virtual time without waiting, for tests: `Loop(clock: .virtual)`.
///
/// If you pass no loop to `observe`, it uses the first of these: the loop that already observes the
/// object, the loop whose turn is under way, and the only loop of the thread.
public final class Loop {
  /// The queue in which other threads leave messages.
  public let inbox: Inbox
  package let engine: Engine
  /// The place where the program made the loop.
  private let place: (file: StaticString, line: UInt)
  var schedule: Schedule
  var calls = Calls()
  private var turns = Turns()
  var inputs = Inputs()
  /// The number of timers, handlers and owners that keep ``run()`` from returning.
  var references = 0
  var isStopping = false
  let driven: DrivenLoop?
  /// Called with each event of the log (`log`).
  var sink: ((LoopEvent) -> Void)?
  /// The recordings that have not ended.
  var recordings: [RunRecording] = []
  /// The recorder that an inspector keeps between its recordings, so that numbers continue.
  weak var keptRecorder: RunRecorder?
  /// Notes the inputs that the loop gets from the system, or gives them back; nil for neither.
  package var outside: (any RunInputs)?
  /// The work outside of turns, for recordings: the main chunk, the prompt, or the host.
  package var outerOrigin = TurnOrigin.host {
    didSet { (engine.recording.run ?? keptRecorder)?.outerOrigin = outerOrigin }
  }
  /// The bridges that know which place of a script is running.
  package var placeSources: [any PlaceSource] = []
  /// The objects that end with the thread of the loop.
  package var members: [any LoopMember] = []

  /// Called on the loop's thread with errors that have no caller.
  ///
  /// Such errors come from:
  ///
  /// - watchers that trigger themselves without end (T4, T9),
  /// - lazy properties that fail where no code reads them (Z8),
  /// - names that a new object on a path doesn't have,
  /// - descriptors that are closed while a handler waits for them,
  /// - `bind`, `values` and `observe(_:on:)`, after they returned,
  /// - callbacks that throw, as a ``WatcherError``.
  ///
  /// Without a handler, errors are written to the standard error stream.
  public var onError: ((any Error) -> Void)?

  /// Makes a loop for the current thread, to be run or stepped.
  public convenience init(
    clock: LoopClock = .system, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(unchecked: clock, file: file, line: line)
    if let refusal = inbox.refusal { preconditionFailure("A loop cannot be made: \(refusal)") }
  }

  /// Makes a loop for the current thread whose messages come by `inbox`.
  convenience init(
    clock: LoopClock, inbox: Inbox, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(clock, inbox, nil, file, line)
    if let refusal { preconditionFailure("A loop cannot be made: \(refusal)") }
    CurrentLoop.add(self)
  }

  /// Makes a loop for the current thread, even if the system refuses its resources; if `refusal` is
  /// not nil, the loop must not be run.
  package convenience init(
    unchecked clock: LoopClock, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(clock, Inbox(), nil, file, line)
    CurrentLoop.add(self)
  }

  /// The reason why the loop cannot wait for anything; nil if it can.
  package var refusal: SystemRefusal? { inbox.refusal }

  /// Makes a loop for the current thread that gets its turns from `driver`.
  ///
  /// It asks for a turn after the first write that makes a watcher pending, for messages, and for
  /// timers. The code that drives the loop also has to keep it alive.
  public convenience init(
    driver: LoopDriver, file: StaticString = #fileID, line: UInt = #line
  ) {
    let driven = DrivenLoop(driver)
    let home = driver.isHere.map(LoopHome.driver) ?? .currentThread
    self.init(.system, Inbox(home: home, wake: driven.ask), driven, file, line)
    driven.loop = self
    if driver.isHere == nil { CurrentLoop.add(self) }
    engine.delivery.onPending = { [unowned driven] in driven.ask() }
  }

  private init(
    _ clock: LoopClock, _ inbox: Inbox, _ driven: DrivenLoop?, _ file: StaticString, _ line: UInt
  ) {
    self.inbox = inbox
    self.driven = driven
    place = (file, line)
    engine = Engine(inbox: inbox)
    schedule = Schedule(clock: clock)
    inbox.loop = self
    engine.reports.onError = { [weak self] error in
      if let self { report(error.thrown ?? error) } else { Self.write(error) }
    }
  }

  deinit {
    for recording in recordings { recording.finish() }
    driven?.waitForNothing()
    inbox.loopIsGone()
    engine.close()
  }

  /// Reports an error that has no caller.
  package func report(_ error: any Error) {
    engine.recording.run?.noteError("\(error)", "")
    if let onError { onError(error) } else { Self.write(error) }
  }

  private static func write(_ error: any Error) {
    var text = "\(error)\n"
    _ = text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
  }

  /// Ends what lives on the loop, because its thread was stopped; returns the messages that were
  /// taken but not called.
  ///
  /// Drops `onError`, which may hold a host, and with it the loop.
  func end() -> [@Sendable () -> Void] {
    inbox.loop = nil
    for member in members { member.loopEnds() }
    withExtendedLifetime(onError) { onError = nil }
    defer { calls.unread = [] }
    return calls.unread
  }

  /// The newest loop of this thread that still exists.
  ///
  /// In code on the main queue it is `main`, if that was made.
  public static var current: Loop? { MainQueueLoop.current ?? CurrentLoop.value }

  /// Whether a turn or a callback of the loop is under way.
  package var isUnderWay: Bool { isInTurn || engine.isOccupied }

  // MARK: Turns

  /// Whether the loop gets its turns from a driver.
  package var isDriven: Bool { driven != nil }

  /// Runs `body` as a turn: watchers are called when it returns or throws.
  ///
  /// Inside another turn, it also ends that turn. Call it on the loop's thread.
  ///
  /// - Precondition: no watcher, hook, getter or batch is under way.
  @discardableResult
  public func turn<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try turn(.host, body)
  }

  /// Runs `body` in a turn; `origin` is what begins the turn if none is under way.
  package func turn<Result, Failure: Error>(
    _ origin: TurnOrigin, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    assertOnThread()
    if turns.depth == 0 { beginTurn(origin) }
    turns.depth += 1
    defer {
      turns.depth -= 1
      endTurn()
    }
    return try body()
  }

  private func beginTurn(_ origin: TurnOrigin) {
    engine.recording.run?.turnBegan(origin)
    inbox.makeEndings()
    // Writes outside of turns don't belong to this one.
    engine.delivery.turnNumber.pointee += 1
    engine.delivery.goesOn = false
    if !calls.deferred.isEmpty { makeDeferredCalls() }
    for turnGuard in turns.guards { turnGuard.turnBegins() }
  }

  /// Whether ``turn(_:)`` is running its body.
  package var isInTurn: Bool { turns.depth > 0 }

  /// Ends the turn under way: calls pending watchers, and the watchers that these trigger (T4).
  ///
  /// This is for programs that write outside of ``turn(_:)``. Call it on the loop's thread.
  ///
  /// - Precondition: no watcher, hook, getter or batch is under way.
  public func endTurn() {
    precondition(!engine.isOccupied, "A turn cannot end inside \(engine.occupation ?? "")")
    if turns.guards.isEmpty { flushTurn() } else { flushGuardedTurn() }
    finishTurn()
    engine.recording.run?.turnEnded()
    // Calls that scripts have caused for others may be left to the next turn.
    if engine.delivery.hasPending, !engine.delivery.isEnding {
      nextTurn { [engine] in engine.delivery.goesOn = true }
    }
    if isInTurn { for turnGuard in turns.guards { turnGuard.turnBegins() } }
  }

  private func flushTurn() {
    guard engine.delivery.hasPending else {
      engine.delivery.endTurn()
      return
    }
    let start = systemTime
    engine.delivery.endTurn()
    turns.secondsInFlush += systemTime - start
  }

  private func flushGuardedTurn() {
    func takeBack() -> Bool { turns.guards.reduce(false) { $1.takeBack() || $0 } }
    _ = takeBack()
    flushTurn()
    // When a turn is undone, the called watchers are called again. They may write, and these writes
    // may be undone as well.
    for _ in 0..<3 where takeBack() { flushTurn() }
    _ = takeBack()
    for turnGuard in turns.guards { turnGuard.turnEnds() }
  }

  /// Notifies `turnGuard` of the beginning and end of turns, from the next one on.
  package func add(_ turnGuard: any TurnGuard) { turns.guards.append(turnGuard) }

  package func remove(_ turnGuard: any TurnGuard) { turns.guards.removeAll { $0 === turnGuard } }

  private func finishTurn() {
    if !turns.endings.isEmpty {
      let bodies = turns.endings
      turns.endings = []
      for body in bodies { body() }
      // The watchers of changes made here need a turn, which no other code may start.
      if engine.delivery.hasPending { nextTurn {} }
    }
    drainLog()
  }

  /// Calls `body` once, after the turn under way has called its watchers.
  ///
  /// Outside of turns, the call comes at the end of the next one, which is made if necessary.
  package func whenTurnEnds(_ body: @escaping () -> Void) {
    turns.endings.append(body)
    if turns.depth == 0, turns.endings.count == 1 { nextTurn {} }
  }

  /// Calls the pending watchers now.
  ///
  /// A watcher that was called in this flush and triggered again stays pending. Call it on the
  /// loop's thread.
  ///
  /// - Precondition: no watcher, hook, getter or batch is under way.
  /// - Returns: the number of calls.
  @discardableResult
  public func flush() -> Int {
    precondition(!engine.isOccupied, "flush() was called inside \(engine.occupation ?? "")")
    return engine.delivery.flush()
  }

  /// Calls each immediate watcher triggered in `body` once, after `body` (T9).
  @discardableResult
  public func batch<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    engine.immediates.beginBatch()
    defer { engine.immediates.endBatch() }
    return try body()
  }

  /// Counts of the loop's work so far.
  public var statistics: LoopStatistics {
    inbox.makeEndings()
    engine.nodes.buryDead()
    let counts = engine.reports.statistics
    return LoopStatistics(
      turns: counts.turns, calls: counts.calls, watchers: counts.watchers,
      observedObjects: counts.nodes, pending: engine.delivery.pendingCount, errors: counts.errors,
      secondsInFlush: turns.secondsInFlush)
  }

  func assertOnThread() {
    assert(
      engine.isHere,
      "A loop is used on the thread that made it; other threads post to its inbox")
  }
}

extension Loop {
  struct Schedule {
    let clock: LoopClock
    var virtualNow = 0.0
    /// The real time up to which virtual time has passed; nil while virtual time doesn't follow
    /// real time.
    var passedUntil: Double?
    var timers = TimerQueue()
    /// The number of the newest timer.
    var sequence: UInt64 = 0
  }

  struct Calls {
    var ready: [() -> Void] = []
    /// Messages that arrived before the loop was stopped.
    var unread: [@Sendable () -> Void] = []
    /// Calls for the beginning of the next turn.
    var deferred: [() -> Void] = []
    /// Whether `ready` contains a turn for `deferred`.
    var hasTurnForDeferred = false
  }

  private struct Turns {
    var depth = 0
    /// Calls for the end of the turn.
    var endings: [() -> Void] = []
    /// Guards that can undo turns.
    var guards: [any TurnGuard] = []
    var secondsInFlush = 0.0
  }

  struct Inputs {
    lazy var isOnMainThread = MainQueue.isMainThread()
    var handlers: [DescriptorHandler] = []
    /// Tools that do their work while the loop waits.
    var servers: [any LoopServer] = []
    /// The loop of a library that runs inside this one.
    var inner: (any InnerLoop)?
    /// The number of connections to other programs: virtual time passes as real time for them.
    var connectionCount = 0
    /// Whether the inner loop had something to do; it then runs once more before this loop sleeps.
    var isInnerBusy = false

    var haveDescriptors: Bool { !handlers.isEmpty || !servers.isEmpty }
    var areEmpty: Bool { !haveDescriptors && inner == nil }
  }
}

extension Loop: CustomStringConvertible {
  /// "Loop.main", or the place where the loop was made.
  public var description: String {
    self === MainQueueLoop.current ? "Loop.main" : "the loop made at \(place.file):\(place.line)"
  }
}

/// An object that ends with the thread of its loop, such as a host of scripts.
package protocol LoopMember: AnyObject {
  /// Called on the loop's thread, after its last turn.
  func loopEnds()
}

/// Counts of a loop's work so far.
public struct LoopStatistics: Sendable {
  /// Turns that have ended.
  public let turns: Int
  /// Calls of watchers.
  public let calls: Int
  /// Watchers that have not ended.
  public let watchers: Int
  /// Objects that are observed, or were until recently.
  public let observedObjects: Int
  /// Watchers that wait for the flush.
  public let pending: Int
  /// Errors that had no caller.
  public let errors: Int
  /// The time spent calling watchers at the end of turns, in seconds.
  public let secondsInFlush: Double
}
