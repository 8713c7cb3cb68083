import LibC
import Synchronization

/// A thread with a loop that runs until it is stopped, for servers and tools.
///
/// It can be used on any thread. Make objects for the loop in `prepare` and in messages.
public final class LoopThread: Sendable {
  /// The queue in which other threads leave messages for the loop.
  public let inbox: Inbox
  private let thread: Mutex<pthread_t?>
  private let start: Start

  /// Starts a thread, makes a loop there, and passes it to `prepare` in a turn.
  ///
  /// It returns after that turn, so watchers that `prepare` registers are notified of every later
  /// write. `prepare` must not wait for the calling thread.
  public init(clock: LoopClock = .system, prepare: @escaping @Sendable (Loop) -> Void) {
    let start = Start(clock: clock, prepare: prepare)
    self.start = start
    let thread = startNeededThread { start.run() }
    inbox = start.waitForInbox()
    self.thread = Mutex(thread)
  }

  /// Ends the loop after the turn under way, and waits for its thread.
  ///
  /// Don't call it on that thread.
  public func stop() {
    guard let thread = askToStop() else { return }
    pthread_join(thread, nil)
  }

  deinit {
    // Without an explicit `stop()`, the thread ends by itself and is not joined.
    if let thread = askToStop() { pthread_detach(thread) }
  }

  private func askToStop() -> pthread_t? {
    guard let thread = thread.withLock({ $0.take() }) else { return nil }
    start.askToStop(inbox)
    return thread
  }
}

/// The values passed to a new thread, and the values that it returns.
private final class Start: Sendable {
  private let clock: LoopClock
  private let prepare: @Sendable (Loop) -> Void
  private let inbox = Mutex<Inbox?>(nil)
  private let ready = Latch()
  private let loop = LoopBox()

  init(clock: LoopClock, prepare: @escaping @Sendable (Loop) -> Void) {
    (self.clock, self.prepare) = (clock, prepare)
  }

  func run() {
    let loop = Loop(clock: clock)
    self.loop.value = loop
    inbox.withLock { $0 = loop.inbox }
    // The loop runs until it is asked to stop, even while it has nothing to do.
    loop.retain()
    loop.turn { prepare(loop) }
    ready.open()
    loop.run()
    self.loop.value = nil
  }

  func waitForInbox() -> Inbox {
    ready.wait()
    return inbox.withLock { $0! }
  }

  func askToStop(_ inbox: Inbox) {
    inbox.post { [loop] in loop.value?.stop() }
  }
}

/// Holds a loop for messages that run on its thread.
private final class LoopBox: Sendable {
  // The value is only used on the loop's thread.
  nonisolated(unsafe) var value: Loop?
}
