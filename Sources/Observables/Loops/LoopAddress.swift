import Glibc
import Synchronization

/// What a value of any thread knows of a loop that may be gone, without counting a reference.
struct LoopAddress: Sendable {
  /// The loop's thread; nil for a loop whose driver says where it lives.
  private let thread: pthread_t?
  /// A number that no other loop of the process has.
  private let number: UInt64

  private static let lastNumber = Atomic<UInt64>(0)
  /// The inboxes of the loops that are there.
  // They are only used under the lock.
  private nonisolated(unsafe) static var inboxes: [UInt64: Inbox] = [:]
  private static let lock = RecursiveLock()

  /// Makes the address of a new loop.
  init(_ home: LoopHome) {
    if case .thread(let thread) = home { self.thread = thread } else { thread = nil }
    number = LoopAddress.lastNumber.add(1, ordering: .relaxed).newValue
  }

  /// The inbox of the loop; nil when that is gone.
  var inbox: Inbox? { LoopAddress.lock.withLock { LoopAddress.inboxes[number] } }

  /// Whether the calling code runs where the loop lives; false when that is gone, unless it is
  /// known by its thread alone.
  var isHere: Bool {
    if let thread { return pthread_equal(thread, pthread_self()) != 0 }
    return inbox?.home.isHere ?? false
  }

  /// Lets the inbox of the loop be found.
  func enter(_ inbox: Inbox) {
    LoopAddress.lock.withLock { LoopAddress.inboxes[number] = inbox }
  }

  /// The loop is gone.
  func leave() { LoopAddress.lock.withLock { LoopAddress.inboxes[number] = nil } }
}
