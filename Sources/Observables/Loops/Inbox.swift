import LibC
import Synchronization

/// A queue in which other threads leave messages for a loop.
///
/// It can be used on any thread. Each message is a turn of the loop (T1), and an idle loop wakes
/// for it (T8). When the loop is gone, its remaining messages are dropped; a ``LoopThread`` calls
/// them on its thread instead.
public final class Inbox: Sendable {
  private struct State {
    var messages: [@Sendable () -> Void] = []
    /// Calls that end watchers when the next turn begins.
    var endings: [@Sendable () -> Void] = []
    /// Whether a message that makes the endings is queued, or was taken but not called yet.
    var isEndingPosted = false
    /// Whether no code will call further messages.
    var isClosed = false
    /// Whether the thread that serves the inbox ends when there are no more messages.
    var isRetired = false
  }
  // The state is only used in `withState`.
  private nonisolated(unsafe) var state = State()
  private let lock = RecursiveLock()
  /// Whether there are endings; each turn reads this without the lock.
  private let hasEndings = Atomic(false)
  /// Wakes the loop; nil if a driver is notified instead, or if the system refused a pipe.
  private let pipe: WakePipe?
  private let wakeDriver: (@Sendable () -> Void)?
  /// The reason why there is no pipe; without a pipe, other threads cannot wake the loop, and it
  /// does not wait.
  package let refusal: SystemRefusal?
  /// The loop that handles the messages; nil if it has ended.
  // The reference is only used on the loop's thread.
  nonisolated(unsafe) weak var loop: Loop?
  /// Whether the loop's thread calls messages when the loop has ended.
  private let outlivesLoop: Bool
  /// The place where that loop lives.
  let home: LoopHome
  /// The address by which other threads find the inbox.
  let address: LoopAddress

  /// Makes an inbox whose loop is woken by `wake`.
  init(home: LoopHome, wake: @escaping @Sendable () -> Void) {
    (pipe, wakeDriver, refusal) = (nil, wake, nil)
    outlivesLoop = false
    self.home = home
    address = LoopAddress(home)
    address.enter(self)
  }

  /// Makes an inbox for a loop of the current thread.
  init(outlivesLoop: Bool = false) {
    self.outlivesLoop = outlivesLoop
    wakeDriver = nil
    home = .currentThread
    address = LoopAddress(home)
    do throws(SystemRefusal) {
      (pipe, refusal) = (try WakePipe(), nil)
    } catch {
      (pipe, refusal) = (nil, error)
    }
    address.enter(self)
  }

  deinit { pipe?.close() }

  /// A descriptor that is readable while the loop has something to do; -1 if there is no pipe.
  var wakeDescriptor: Int32 { pipe?.input ?? -1 }

  /// Runs `body` under a lock that sanitizers recognize: writes before a message was posted are
  /// visible to it.
  private func withState<Result>(_ body: (inout State) -> Result) -> Result {
    lock.withLock { body(&state) }
  }

  /// Posts a message, which is called on the loop's thread in a separate turn.
  ///
  /// Can be called on any thread.
  ///
  /// - Returns: false if the loop is gone and the message will not be called.
  @discardableResult
  public func post(_ message: @escaping @Sendable () -> Void) -> Bool {
    let count = withState { state in
      if !state.isClosed { state.messages.append(message) }
      return state.isClosed ? 0 : state.messages.count
    }
    if count == 1 { wake() }
    return count > 0
  }

  /// Calls `body` with the loop, in a turn on its thread, and returns its result after the watchers
  /// of this turn have been called.
  ///
  /// Can be called on any thread, also on the loop's. If the task that waits is cancelled, `body`
  /// runs all the same.
  ///
  /// - Throws: what `body` throws; ``LoopEnded`` if the loop ends before it runs `body`.
  public func run<Result: Sendable>(
    _ body: @escaping @Sendable (Loop) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      let answer = Answer(continuation)
      post { [self] in
        guard let loop else { return answer.give(.failure(LoopEnded())) }
        let result = Swift.Result { try body(loop) }
        loop.whenTurnEnds { answer.give(result) }
      }
    }
  }

  /// Posts a call for the beginning of the loop's next turn, on its thread, whoever starts that
  /// turn.
  ///
  /// There is at most one message for all endings, because a program that makes all turns itself
  /// takes no messages.
  func postEnding(_ ending: @escaping @Sendable () -> Void) {
    let isFirst = withState { state in
      if state.isClosed { return false }
      state.endings.append(ending)
      hasEndings.store(true, ordering: .releasing)
      defer { state.isEndingPosted = true }
      return !state.isEndingPosted
    }
    guard isFirst else { return }
    post { [unowned self] in
      withState { $0.isEndingPosted = false }
      makeEndings()
    }
  }

  /// Calls the endings, on the loop's thread.
  func makeEndings() {
    guard hasEndings.load(ordering: .acquiring) else { return }
    let endings = withState { state in
      hasEndings.store(false, ordering: .relaxed)
      defer { state.endings = [] }
      return state.endings
    }
    for ending in endings { ending() }
  }

  /// Wakes the loop if it waits.
  ///
  /// Async-signal-safe for a loop without a driver.
  package func wake() {
    if let wakeDriver { return wakeDriver() }
    pipe?.wake()
  }

  /// The number of waiting messages.
  package var messageCount: Int { withState { $0.messages.count } }

  var isEmpty: Bool { withState { $0.messages.isEmpty } }

  func takeAll() -> [@Sendable () -> Void] {
    pipe?.empty()
    return withState { state in
      defer { state.messages = [] }
      return state.messages
    }
  }

  /// Called when the loop is gone.
  func loopIsGone() { if !outlivesLoop { close() } }

  // MARK: The thread of a loop that has ended

  /// Calls messages until the inbox is retired and has no more.
  func serve() {
    while true {
      let messages = takeAll()
      for message in messages { message() }
      if !messages.isEmpty { continue }
      if closeIfRetired() { break }
      var polled = [pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)]
      _ = poll(&polled, timeout: -1)
    }
    close()
  }

  /// Lets the thread that serves the inbox end after the messages posted so far.
  func retire() {
    withState { $0.isRetired = true }
    wake()
  }

  private func closeIfRetired() -> Bool {
    withState { state in
      state.isClosed = state.isRetired && state.messages.isEmpty
      return state.isClosed
    }
  }

  /// Drops all messages, including future ones, because no code will call them.
  private func close() {
    address.leave()
    // The messages are dropped outside the lock, because values that they captured may post again.
    let dropped = withState { state in
      defer { (state.messages, state.endings) = ([], []) }
      state.isClosed = true
      return state.messages + state.endings
    }
    _ = dropped
  }
}

/// The error of a call to a loop that has ended: its thread was stopped, or the loop is gone.
public struct LoopEnded: Error, CustomStringConvertible {
  /// A sentence for people.
  public var description: String { "the loop has ended" }
}

/// The answer that a task waits for; if it is dropped, the task gets an error.
private final class Answer<Value: Sendable>: Sendable {
  private let continuation: Mutex<CheckedContinuation<Value, any Error>?>

  init(_ continuation: CheckedContinuation<Value, any Error>) {
    self.continuation = Mutex(continuation)
  }

  deinit { give(.failure(LoopEnded())) }

  func give(_ result: Result<Value, any Error>) {
    continuation.withLock { $0.take() }?.resume(with: result)
  }
}
