import Glibc

/// A loop of turns: it handles messages and timers, and calls watchers when a turn ends (T1).
///
/// Confined to the thread that made it, but for its ``inbox``. It can own that thread (``run()``,
/// which sleeps when idle), be stepped by a host that has a loop of its own (``step()``), live in a
/// queue or another event loop (``init(driver:file:line:)``, ``main``), or run in virtual time
/// without waiting (`Loop(clock: .virtual)`, for tests): <doc:Threads>.
///
/// `observe` puts its watchers on the loop that already observes the object, else on the one whose
/// turn is under way, else on the only one of the thread, unless it is given one.
public final class Loop {
  /// Where other threads leave messages.
  public let inbox: Inbox
  package let engine: Engine
  /// Where it was made.
  private let place: (file: StaticString, line: UInt)
  var schedule: Schedule
  var calls = Calls()
  private var turns = Turns()
  var inputs = Inputs()
  /// How many timers, handlers and owners keep ``run()`` from ending.
  var references = 0
  var isStopping = false
  let driven: DrivenLoop?
  /// Called with each event of the log (`log`).
  var sink: ((LoopEvent) -> Void)?

  /// Called with errors that have no caller, on the loop's thread.
  ///
  /// Such errors come from watchers that trigger themselves without end (T4, T9), lazy properties
  /// that fail where no code reads them (Z8), names that an object which came into a path doesn't
  /// have, descriptors that were closed while they were waited for, from `bind`, `values` and
  /// `observe(_:on:)` after they returned, and from callbacks that throw: those are a
  /// ``WatcherError``. Without a handler they are written to the standard error stream.
  public var onError: ((any Error) -> Void)?

  /// A loop for the current thread, to be run or stepped.
  public convenience init(
    clock: LoopClock = .system, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(unchecked: clock, file: file, line: line)
    if let refusal = inbox.refusal { preconditionFailure("A loop cannot be made: \(refusal)") }
  }

  /// A loop for the current thread that may lack what it needs (`refusal`): it must not be run
  /// then.
  package convenience init(
    unchecked clock: LoopClock, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(clock, Inbox(), nil, file, line)
    CurrentLoop.add(self)
  }

  /// Why the loop cannot wait for anything; nil where it can.
  package var refusal: SystemRefusal? { inbox.refusal }

  /// A loop for the current thread that gets its turns from `driver`: after the first write that
  /// makes a watcher pending, for messages, and for timers.
  ///
  /// The code that drives the loop has to keep it alive, too.
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
    driven?.waitForNothing()
    inbox.shut()
    engine.close()
  }

  /// Hands on an error that has no caller.
  package func report(_ error: any Error) {
    if let onError { onError(error) } else { Self.write(error) }
  }

  private static func write(_ error: any Error) {
    let text = "\(error)\n"
    _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
  }

  /// The loop that was made last on this thread and is still there; in code on the main queue
  /// `main`, once that is there.
  public static var current: Loop? { MainQueueLoop.current ?? CurrentLoop.value }

  /// Whether a turn or a callback of the loop is under way.
  package var isUnderWay: Bool { isInTurn || engine.isOccupied }

  // MARK: Turns

  /// Whether a driver gives it its turns.
  package var isDriven: Bool { driven != nil }

  /// Runs `body` as a turn: watchers are called when it returns or throws.
  ///
  /// Inside of another turn it ends that one, too.
  ///
  /// - Precondition: no watcher, hook, getter or batch is under way.
  @discardableResult
  public func turn<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    assertOnThread()
    if turns.depth == 0 { beginTurn() }
    turns.depth += 1
    defer {
      turns.depth -= 1
      endTurn()
    }
    return try body()
  }

  private func beginTurn() {
    inbox.makeEndings()
    // What was done outside of any turn was not a part of this one.
    engine.delivery.turnNumber.pointee += 1
    engine.delivery.goesOn = false
    if !calls.deferred.isEmpty { makeDeferredCalls() }
    for turnGuard in turns.guards { turnGuard.turnBegins() }
  }

  /// Whether ``turn(_:)`` runs its body.
  package var isInTurn: Bool { turns.depth > 0 }

  /// Ends the turn under way: calls pending watchers, and those that these trigger (T4).
  ///
  /// For programs that write outside of ``turn(_:)``.
  ///
  /// - Precondition: no watcher, hook, getter or batch is under way.
  public func endTurn() {
    precondition(!engine.isOccupied, "A turn cannot end inside \(engine.occupation ?? "")")
    if turns.guards.isEmpty { flushTurn() } else { flushGuardedTurn() }
    finishTurn()
    // What scripts have caused for others may be left to the next turn.
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
    let start = monotonicSeconds()
    engine.delivery.endTurn()
    turns.secondsInFlush += monotonicSeconds() - start
  }

  private func flushGuardedTurn() {
    func takeBack() -> Bool { turns.guards.reduce(false) { $1.takeBack() || $0 } }
    _ = takeBack()
    flushTurn()
    // Watchers that were called are called for the way back, where they may write again, and what
    // they write may be taken back as well.
    for _ in 0..<3 where takeBack() { flushTurn() }
    _ = takeBack()
    for turnGuard in turns.guards { turnGuard.turnEnds() }
  }

  /// Tells `turnGuard` where turns begin and end, from the next one on.
  package func add(_ turnGuard: any TurnGuard) { turns.guards.append(turnGuard) }

  package func remove(_ turnGuard: any TurnGuard) { turns.guards.removeAll { $0 === turnGuard } }

  private func finishTurn() {
    if !turns.endings.isEmpty {
      let bodies = turns.endings
      turns.endings = []
      for body in bodies { body() }
      // Nobody may be there who makes a turn for the watchers of what was changed here.
      if engine.delivery.hasPending { nextTurn {} }
    }
    drainLog()
  }

  /// Calls `body` once, when the turn under way has called its watchers; outside of turns, at the
  /// end of the next one, which is made if need be.
  package func whenTurnEnds(_ body: @escaping () -> Void) {
    turns.endings.append(body)
    if turns.depth == 0, turns.endings.count == 1 { nextTurn {} }
  }

  /// Calls now what is pending; watchers that ran in this flush and were triggered again stay
  /// pending.
  ///
  /// It must not be called from within a watcher.
  ///
  /// - Returns: the number of calls.
  @discardableResult
  public func flush() -> Int {
    precondition(!engine.isOccupied, "flush() was called inside \(engine.occupation ?? "")")
    return engine.delivery.flush()
  }

  /// Immediate watchers triggered in `body` are called once each, after it (T9).
  public func batch<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    engine.immediates.beginBatch()
    defer { engine.immediates.endBatch() }
    return try body()
  }

  /// What has happened so far.
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
    /// The real time up to which virtual time has passed; nil while it does not pass as real time.
    var passedUntil: Double?
    var timers = TimerQueue()
    /// The number of the timer that was made last.
    var sequence: UInt64 = 0
  }

  struct Calls {
    var ready: [() -> Void] = []
    /// Messages that arrived before the loop was stopped.
    var unread: [@Sendable () -> Void] = []
    /// Calls with which the next turn begins.
    var deferred: [() -> Void] = []
    /// Whether a turn for `deferred` is among the messages that are ready.
    var hasTurnForDeferred = false
  }

  private struct Turns {
    var depth = 0
    /// Calls with which the turn ends.
    var endings: [() -> Void] = []
    /// What may undo turns.
    var guards: [any TurnGuard] = []
    var secondsInFlush = 0.0
  }

  struct Inputs {
    lazy var isOnMainThread = MainQueue.isMainThread()
    var handlers: [DescriptorHandler] = []
    /// The loop of a library that runs inside of this one.
    var inner: (any InnerLoop)?
    /// Whether the inner loop had something to do: it is asked once more before this one sleeps.
    var isInnerBusy = false
  }
}

extension Loop: CustomStringConvertible {
  /// "Loop.main", or the place where the loop was made.
  public var description: String {
    self === MainQueueLoop.current ? "Loop.main" : "the loop made at \(place.file):\(place.line)"
  }
}

/// What a loop has done so far.
public struct LoopStatistics: Sendable {
  /// Turns that have ended.
  public let turns: Int
  /// Calls of watchers.
  public let calls: Int
  /// Watchers that have not ended.
  public let watchers: Int
  /// Objects that are observed, or were until a moment ago.
  public let observedObjects: Int
  /// Watchers that wait for the flush.
  public let pending: Int
  /// Errors that had no caller.
  public let errors: Int
  /// Time spent calling watchers at the end of turns.
  public let secondsInFlush: Double
}
