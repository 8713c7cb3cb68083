import Synchronization

/// A registration that was made on any thread, for a model that several threads use.
///
/// May be used on any thread. Ends with ``stop()``, when the model or the loop is gone, and after a call of
/// `once`; dropping it ends nothing (L1).
public final class SharedWatcher: Sendable {
  private let inbox: Inbox
  private let isStopped = Atomic(false)
  // Only used on the loop's thread. Weak, as its callback keeps this.
  private nonisolated(unsafe) weak var watcher: Watcher?

  fileprivate init(_ inbox: Inbox) { self.inbox = inbox }

  /// Ends it: no call begins after this returns (T7).
  ///
  /// One that is under way on the loop's thread may not be over yet. Harmless when it has ended.
  public func stop() {
    if isStopped.exchange(true, ordering: .sequentiallyConsistent) { return }
    inbox.post { [self] in watcher?.stop() }
  }

  fileprivate var isActive: Bool { !isStopped.load(ordering: .sequentiallyConsistent) }

  /// On the loop's thread, in a turn.
  fileprivate func begin(_ register: (Loop) throws -> Watcher) {
    guard isActive, let loop = inbox.loop else { return }
    do {
      watcher = try register(loop)
    } catch {
      loop.engine.report(.registration(message: "\(error)"))
    }
  }
}

extension KeyPathObservable where Self: Sendable {
  /// Calls `callback` at the end of each turn of the loop of `inbox` in which an element of `path` changed.
  ///
  /// May be called on any thread: the loop registers it in a turn for which it wakes, and changes from
  /// then on count. With `initial` there is a call in that turn, so that none is missed. The callback
  /// runs on the loop's thread, at most once per turn (T1, T8). What is wrong with the path is told to
  /// ``Loop/onError``.
  ///
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observe(
    _ path: Path, on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self) -> Void
  ) -> SharedWatcher {
    let handle = SharedWatcher(inbox)
    inbox.post { [self] in
      handle.begin { loop in
        try observe(
          path, in: loop, options: WatcherOptions(initial: initial, once: once), file: file,
          line: line
        ) { if handle.isActive { callback($0) } }
      }
    }
    return handle
  }
}
