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
  private let file: StaticString
  private let line: UInt
  private let clock: LoopClock
  private var virtualNow = 0.0
  private var timers = TimerQueue()
  private var sequence: UInt64 = 0
  private var ready: [() -> Void] = []
  /// Messages that arrived before the loop was stopped.
  private var unread: [@Sendable () -> Void] = []
  /// Calls with which the next turn begins.
  private var deferred: [() -> Void] = []
  /// Whether a turn for `deferred` is among the messages that are ready.
  private var hasTurnForDeferred = false
  /// Calls with which the turn ends.
  private var endings: [() -> Void] = []
  private var turnDepth = 0
  private var references = 0
  private var isStopping = false
  private var secondsInFlush = 0.0
  private lazy var isOnMainThread = MainQueue.isMainThread()
  private let driven: DrivenLoop?
  /// Called with each event of the log (`log`).
  var sink: ((LoopEvent) -> Void)?

  /// Called with errors that have no caller, on the loop's thread.
  ///
  /// Such errors come from watchers that trigger themselves without end (T4, T9), lazy properties
  /// that fail where no code reads them (Z8), names that an object which came into a path doesn't
  /// have, from `bind`, `values` and `observe(_:on:)` after they returned, and from callbacks that
  /// throw: those are a ``WatcherError``. Without a handler they are written to the standard error
  /// stream.
  public var onError: ((any Error) -> Void)?

  /// A loop for the current thread, to be run or stepped.
  public convenience init(
    clock: LoopClock = .system, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(clock, Inbox(), nil, file, line)
    CurrentLoop.add(self)
  }

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
    engine.onPending = { [unowned driven] in driven.ask() }
  }

  private init(
    _ clock: LoopClock, _ inbox: Inbox, _ driven: DrivenLoop?, _ file: StaticString, _ line: UInt
  ) {
    self.inbox = inbox
    self.driven = driven
    (self.file, self.line) = (file, line)
    engine = Engine(inbox: inbox)
    self.clock = clock
    inbox.loop = self
    engine.onError = { [weak self] error in
      if let self {
        report(error.thrown ?? error)
      } else {
        Loop.write(error)
      }
    }
  }

  /// Hands on an error that has no caller.
  package func report(_ error: any Error) {
    if let onError { onError(error) } else { Loop.write(error) }
  }

  private static func write(_ error: any Error) {
    let text = "\(error)\n"
    _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
  }

  deinit {
    inbox.shut()
    engine.close()
  }

  /// The loop that was made last on this thread and is still there; in code on the main queue
  /// `main`, once that is there.
  public static var current: Loop? { MainQueueLoop.current ?? CurrentLoop.value }

  /// Whether a turn or a callback of the loop is under way.
  var isUnderWay: Bool { isInTurn || engine.isOccupied }

  // MARK: Turns

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
    if turnDepth == 0 { beginTurn() }
    turnDepth += 1
    defer {
      turnDepth -= 1
      endTurn()
    }
    return try body()
  }

  private func beginTurn() {
    // What was done outside of any turn was not a part of this one.
    engine.turnNumber.pointee += 1
    if !deferred.isEmpty { makeDeferredCalls() }
  }

  /// Whether ``turn(_:)`` runs its body.
  package var isInTurn: Bool { turnDepth > 0 }

  /// Ends the turn under way: calls pending watchers, and those that these trigger (T4).
  ///
  /// For programs that write outside of ``turn(_:)``.
  ///
  /// - Precondition: no watcher, hook, getter or batch is under way.
  public func endTurn() {
    precondition(!engine.isOccupied, "A turn cannot end inside \(engine.occupation ?? "")")
    guard engine.hasPending else {
      engine.endTurn()
      finishTurn()
      return
    }
    let start = monotonicSeconds()
    engine.endTurn()
    secondsInFlush += monotonicSeconds() - start
    finishTurn()
  }

  private func finishTurn() {
    if !endings.isEmpty {
      let bodies = endings
      endings = []
      for body in bodies { body() }
      // Nobody may be there who makes a turn for the watchers of what was changed here.
      if engine.hasPending { nextTurn {} }
    }
    drainLog()
  }

  /// Calls `body` once, when the turn under way has called its watchers; outside of turns, at the
  /// end of the next one, which is made if need be.
  package func whenTurnEnds(_ body: @escaping () -> Void) {
    endings.append(body)
    if turnDepth == 0, endings.count == 1 { nextTurn {} }
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
    return engine.flush()
  }

  /// Immediate watchers triggered in `body` are called once each, after it (T9).
  public func batch<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    engine.beginBatch()
    defer { engine.endBatch() }
    return try body()
  }

  /// What has happened so far.
  public var statistics: LoopStatistics {
    engine.buryDead()
    let counts = engine.statistics
    return LoopStatistics(
      turns: counts.turns, calls: counts.calls, watchers: counts.watchers,
      observedObjects: counts.nodes, pending: engine.pendingCount, errors: counts.errors,
      secondsInFlush: secondsInFlush)
  }

  // MARK: Timers

  /// Seconds on the loop's clock, which never goes back.
  public var now: Double { clock == .virtual ? virtualNow : monotonicSeconds() }

  /// Calls `body` in a turn of its own, `seconds` from now.
  @discardableResult
  public func after(_ seconds: Double, _ body: @escaping () -> Void) -> LoopTimer {
    schedule(in: seconds, every: nil, body)
  }

  /// Calls `body` every `seconds`, each time in a turn of its own; calls that were missed are not
  /// made up for.
  @discardableResult
  public func every(_ seconds: Double, _ body: @escaping () -> Void) -> LoopTimer {
    precondition(seconds > 0, "A repeating timer needs an interval above 0, not \(seconds)")
    return schedule(in: seconds, every: seconds, body)
  }

  /// Calls `body` in the next turn.
  public func nextTurn(_ body: @escaping () -> Void) {
    ready.append(body)
    driven?.ask()
  }

  /// Calls `body` at the beginning of the next turn: one of its own, if no other one is made.
  package func deferToNextTurn(_ body: @escaping () -> Void) {
    deferred.append(body)
    if hasTurnForDeferred { return }
    hasTurnForDeferred = true
    nextTurn { [unowned self] in
      hasTurnForDeferred = false
      // A turn within another one has not begun with the deferred calls.
      makeDeferredCalls()
    }
  }

  private func makeDeferredCalls() {
    let bodies = deferred
    deferred = []
    for body in bodies { body() }
  }

  private func schedule(
    in seconds: Double, every interval: Double?, _ body: @escaping () -> Void
  ) -> LoopTimer {
    assertOnThread()
    sequence += 1
    let timer = LoopTimer(
      due: now + max(0, seconds), interval: interval, sequence: sequence, loop: self, body: body)
    timers.push(timer)
    references += 1
    driven?.ask(at: timer.due, now: now)
    return timer
  }

  func noteReference(of timer: LoopTimer) { references += timer.keepsLoopRunning ? 1 : -1 }
  func dropReference() { references -= 1 }

  /// Keeps ``run()`` from returning until the matching `release()`: something outside of the loop
  /// will post to its inbox.
  public func retain() { references += 1 }
  /// Takes one `retain()` back.
  public func release() { references -= 1 }

  // MARK: Running

  /// Handles what is due, each in its turn, without waiting.
  ///
  /// This is for a host with a loop of its own.
  ///
  /// - Returns: whether anything could still happen: a timer or message is to come.
  @discardableResult
  public func step() -> Bool {
    assertOnThread()
    defer { isStopping = false }
    if engine.hasPending { endTurn() }
    handleDue()
    if let driven {
      if !ready.isEmpty || !unread.isEmpty || !inbox.isEmpty || engine.hasPending { driven.ask() }
      driven.ask(at: nextDue, now: now)
    }
    return isAlive
  }

  /// Handles messages and timers until nothing could wake the loop any more, or `stop()`.
  ///
  /// Sleeps when idle; on the main thread the main queue's work goes on meanwhile.
  public func run() {
    assertOnThread()
    precondition(driven == nil, "A loop that has a driver gets its turns from that")
    defer { isStopping = false }
    if engine.hasPending { endTurn() }
    while !isStopping {
      handleDue()
      if isStopping || !isAlive { break }
      wait(until: nextDue)
    }
  }

  /// Lets virtual time pass: everything due within `seconds` happens, in order.
  public func advance(by seconds: Double) {
    precondition(clock == .virtual, "Only a loop with virtual time can be advanced")
    let end = virtualNow + seconds
    defer { isStopping = false }
    if engine.hasPending { endTurn() }
    handleDue()
    while !isStopping {
      if ready.isEmpty && inbox.isEmpty {
        guard let due = nextDue, due <= end else { break }
        virtualNow = max(virtualNow, due)
      }
      handleDue()
    }
    if !isStopping { virtualNow = end }
  }

  /// Makes ``run()`` return after the turn under way, or at once when it is called next.
  public func stop() {
    isStopping = true
    inbox.wake()
  }

  /// Whether the loop waits for something.
  public var isAlive: Bool {
    !ready.isEmpty || !unread.isEmpty || references > 0 || !inbox.isEmpty || engine.hasPending
  }

  /// When the next timer is due.
  public var nextDue: Double? { timers.first?.due }

  /// Descriptors to wait on besides the inbox; called, in a turn, when one is readable.
  package var inputs: [Int32: () -> Void] = [:]

  private func handleDue() {
    engine.letGoOfModels()
    let messages = unread + inbox.takeAll()
    unread = []
    for (index, message) in messages.enumerated() {
      if isStopping {
        unread = Array(messages[index...])
        return
      }
      turn(message)
    }
    let callbacks = ready
    ready = []
    for (index, body) in callbacks.enumerated() {
      if isStopping {
        ready.insert(contentsOf: callbacks[index...], at: 0)
        return
      }
      turn(body)
    }
    // Timers made meanwhile are not due before the next round, however short: a timer of 0 seconds
    // that makes another must not keep messages waiting.
    let (time, newest) = (now, sequence)
    var made: [LoopTimer] = []
    while !isStopping, let timer = timers.first, timer.due <= time {
      _ = timers.pop()
      if timer.sequence > newest {
        made.append(timer)
      } else {
        fire(timer)
      }
    }
    for timer in made { timers.push(timer) }
  }

  private func fire(_ timer: LoopTimer) {
    guard let body = timer.body else { return }
    if let interval = timer.interval {
      timer.due = clock == .virtual ? timer.due + interval : max(timer.due + interval, now)
      timers.push(timer)
    } else {
      timer.stop()
    }
    turn(body)
  }

  /// Sleeps until there is something to do; in virtual time it jumps there.
  package func wait(until due: Double?) {
    let mainQueue = isOnMainThread ? MainQueue.shared : nil
    let isBusy = !inbox.isEmpty || !ready.isEmpty
    // Messages that are ready must not keep the main queue and the inputs waiting for ever.
    if isBusy, mainQueue == nil, inputs.isEmpty { return }
    let jumps = !isBusy && clock == .virtual && due != nil
    if jumps, let due {
      virtualNow = max(virtualNow, due)
      if inputs.isEmpty { return }
    }
    var descriptors = [pollfd(fd: inbox.wakeDescriptor, events: Int16(POLLIN), revents: 0)]
    if let mainQueue {
      descriptors.append(pollfd(fd: mainQueue.descriptor, events: Int16(POLLIN), revents: 0))
    }
    let firstInput = descriptors.count
    for descriptor in inputs.keys {
      descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }
    var timeout: Int32 = -1
    if isBusy || jumps {
      timeout = 0
    } else if let due {
      timeout = Int32(max(0, min((due - now) * 1000, 86_400_000)).rounded(.up))
    }
    guard poll(&descriptors, nfds_t(descriptors.count), timeout) > 0 else { return }
    if let mainQueue, descriptors[1].revents != 0 {
      turn { mainQueue.drain() }
    }
    for descriptor in descriptors[firstInput...] where descriptor.revents != 0 {
      if let handle = inputs[descriptor.fd] { turn(handle) }
    }
  }

  private func assertOnThread() {
    assert(
      engine.isHere,
      "A loop is used on the thread that made it; other threads post to its inbox")
  }
}

extension Loop: CustomStringConvertible {
  /// "Loop.main", or the place where the loop was made.
  public var description: String {
    self === MainQueueLoop.current ? "Loop.main" : "the loop made at \(file):\(line)"
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
