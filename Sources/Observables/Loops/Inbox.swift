import Synchronization

/// Where other threads leave messages for a loop.
///
/// May be used on any thread.
///
/// Each message is a turn of the loop (T1); an idle loop wakes for it (T8). Messages that were
/// never handled, because the loop ended, are dropped.
public final class Inbox: Sendable {
  private struct State {
    var messages: [@Sendable () -> Void] = []
    /// What ends watchers when the next turn begins.
    var endings: [@Sendable () -> Void] = []
    /// Whether a message that makes the endings is among the messages, or was taken and not yet
    /// called.
    var isEndingPosted = false
    var isClosed = false
  }
  // The state is only used in `withState`.
  private nonisolated(unsafe) var state = State()
  private let lock = RecursiveLock()
  /// Whether there are endings; each turn reads this without the lock.
  private let hasEndings = Atomic(false)
  /// Wakes the loop; nil where a driver is notified instead, or the system has refused a pipe.
  private let pipe: WakePipe?
  private let wakeDriver: (@Sendable () -> Void)?
  /// Why there is no pipe to wake the loop: no other thread may wake it, and it does not wait.
  package let refusal: SystemRefusal?
  /// The loop that handles the messages.
  // The reference is only used on the loop's thread.
  nonisolated(unsafe) weak var loop: Loop?
  /// Where that loop lives.
  let home: LoopHome
  /// How other threads find the inbox.
  let address: LoopAddress

  /// An inbox whose loop is woken by `wake`.
  init(home: LoopHome, wake: @escaping @Sendable () -> Void) {
    (pipe, wakeDriver, refusal) = (nil, wake, nil)
    self.home = home
    address = LoopAddress(home)
    address.enter(self)
  }

  /// An inbox for a loop of the current thread.
  init() {
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

  /// A descriptor that is readable when there is something to do; -1 where there is none.
  var wakeDescriptor: Int32 { pipe?.input ?? -1 }

  /// Runs `body` under a lock that sanitizers see: what a message holds was written before.
  private func withState<Result>(_ body: (inout State) -> Result) -> Result {
    lock.withLock { body(&state) }
  }

  /// Has `message` called on the loop's thread, in a turn of its own.
  public func post(_ message: @escaping @Sendable () -> Void) {
    let isFirst = withState { state in
      if state.isClosed { return false }
      state.messages.append(message)
      return state.messages.count == 1
    }
    if isFirst { wake() }
  }

  /// Has `ending` called on the loop's thread when its next turn begins, whoever makes that.
  ///
  /// At most one message is there for all of them: a loop whose program only makes turns itself
  /// takes none.
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

  /// Calls the endings; on the loop's thread.
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
  /// Async-signal-safe where there is no driver.
  package func wake() {
    if let wakeDriver { return wakeDriver() }
    pipe?.wake()
  }

  /// How many messages wait.
  package var messageCount: Int { withState { $0.messages.count } }

  var isEmpty: Bool { withState { $0.messages.isEmpty } }

  func takeAll() -> [@Sendable () -> Void] {
    pipe?.empty()
    return withState { state in
      defer { state.messages = [] }
      return state.messages
    }
  }

  /// Drops the messages, and those that still come: the loop is gone.
  func shut() {
    address.leave()
    // The messages are dropped outside of the lock: what they captured may post again.
    let dropped = withState { state in
      defer { (state.messages, state.endings) = ([], []) }
      state.isClosed = true
      return state.messages + state.endings
    }
    _ = dropped
  }
}
