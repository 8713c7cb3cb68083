import Synchronization

/// The address of a loop that may be gone, for values of any thread, without reference counting.
struct LoopAddress: Sendable {
  /// The loop's thread; nil if the loop's driver decides where it lives.
  private let thread: ThreadID?
  /// A number that no other loop of the process has.
  private let number: UInt64

  private static let lastNumber = Atomic<UInt64>(0)
  /// The inboxes of the existing loops.
  // They are only used under the lock.
  private nonisolated(unsafe) static var inboxes: [UInt64: Inbox] = [:]
  private static let lock = RecursiveLock()

  init(_ home: LoopHome) {
    if case .thread(let thread) = home { self.thread = thread } else { thread = nil }
    number = LoopAddress.lastNumber.add(1, ordering: .relaxed).newValue
  }

  /// The inbox of the loop; nil if the loop is gone.
  var inbox: Inbox? { LoopAddress.lock.withLock { LoopAddress.inboxes[number] } }

  /// Whether the calling code runs where the loop lives; if the loop is gone, this is false, except
  /// for a loop that is known by its thread alone.
  var isHere: Bool {
    if let thread { return thread.isCurrent }
    return inbox?.home.isHere ?? false
  }

  func enter(_ inbox: Inbox) {
    LoopAddress.lock.withLock { LoopAddress.inboxes[number] = inbox }
  }

  /// Removes the inbox of the loop, which is gone.
  func leave() { LoopAddress.lock.withLock { LoopAddress.inboxes[number] = nil } }
}
