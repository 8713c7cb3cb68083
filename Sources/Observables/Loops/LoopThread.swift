import LibC

/// A thread with a loop that runs until it is stopped, for servers and tools.
///
/// It can be used on any thread. Make objects for the loop in `prepare`, in messages, and in
/// ``run(_:)``; or make the thread the executor of an actor, all of whose code then runs there:
///
/// ```swift
/// actor Rules {
///   private let thread = LoopThread()
///   nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
/// }
/// ```
///
/// Each call of such an actor is a turn, and so is each part of a call between two `await`s. The
/// compiler may join calls that follow one another into one turn, and a caller may continue before
/// the watchers of the turn are called.
///
/// When ``stop()`` has ended the loop, its timers and watchers are not called any more, and the
/// hosts of scripts on it are closed, so their functions throw `closed`. The thread lives as long
/// as this object, and runs later messages and calls of the actor outside of turns, so no caller
/// waits forever.
public final class LoopThread: Sendable {
  /// The queue in which other threads leave messages for the loop.
  public let inbox: Inbox
  private let life: Life

  /// Starts a thread, makes a loop there, and passes it to `prepare` in a turn.
  ///
  /// It returns after that turn, so watchers that `prepare` registers are notified of every later
  /// write. `prepare` must not wait for the calling thread.
  public init(
    clock: LoopClock = .system, prepare: @escaping @Sendable (Loop) -> Void = { _ in }
  ) {
    let life = Life()
    self.life = life
    let thread = startNeededThread { life.run(clock, prepare) }
    // Callers wait for the end of the loop, not of the thread.
    pthread_detach(thread)
    inbox = life.waitForInbox()
  }

  /// Ends the loop after the messages that were posted before, and waits for its end.
  ///
  /// On the thread itself, for example in a function of an actor that uses it, this returns at
  /// once, and the loop ends after the turn under way. Does nothing if the loop has ended.
  public func stop() {
    life.askToStop(inbox)
    if !inbox.home.isHere { life.ended.wait() }
  }

  /// Calls `body` with the loop, in a turn on its thread, as ``Inbox/run(_:)`` of `inbox` does.
  ///
  /// - Throws: the error of `body`; ``LoopEnded`` if the loop has ended.
  public func run<Result: Sendable>(
    _ body: @escaping @Sendable (Loop) throws -> Result
  ) async throws -> Result {
    try await inbox.run(body)
  }

  deinit {
    life.askToStop(inbox)
    inbox.retire()
  }
}

extension LoopThread: SerialExecutor {
  /// Runs a part of an actor's code on the thread, as a message to the loop.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The message holds the executor: the job may drop the actor, and with it the last reference.
    inbox.post { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  /// Traps, unless it is called on the thread.
  public func checkIsolated() {
    precondition(
      inbox.home.isHere,
      "Code of an actor is called on another thread than that of the actor's LoopThread")
  }
}

/// The state shared with the thread.
private final class Life: Sendable {
  /// Opens when the loop has ended.
  let ended = Latch()
  private let ready = Latch()
  // Both are only used on the thread, except for the inbox after `ready` is open.
  private nonisolated(unsafe) var loop: Loop?
  private nonisolated(unsafe) var inbox: Inbox?

  func run(_ clock: LoopClock, _ prepare: (Loop) -> Void) {
    let inbox = Inbox(outlivesLoop: true)
    self.inbox = inbox
    // This scope ends before the thread waits, so that the messages, and what they captured, for
    // example actors, are released.
    do {
      let unread = runLoop(clock, inbox, prepare)
      ended.open()
      for message in unread { message() }
    }
    inbox.serve()
  }

  /// Runs a loop until it is stopped; returns the messages that it has taken but not called.
  private func runLoop(
    _ clock: LoopClock, _ inbox: Inbox, _ prepare: (Loop) -> Void
  ) -> [@Sendable () -> Void] {
    let loop = Loop(clock: clock, inbox: inbox)
    self.loop = loop
    // The loop runs until it is asked to stop, even while it has nothing to do.
    loop.retain()
    loop.turn { prepare(loop) }
    ready.open()
    loop.run()
    self.loop = nil
    return loop.end()
  }

  func waitForInbox() -> Inbox {
    ready.wait()
    return inbox!
  }

  func askToStop(_ inbox: Inbox) { inbox.post { [self] in loop?.stop() } }
}
