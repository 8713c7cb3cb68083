import Synchronization

/// A registration made on any thread, for a model that several threads use.
///
/// It can be used on any thread. It ends with ``stop()``, when the model, the observer or the loop
/// is gone, and after a call of a `once` watcher. Dropping it doesn't end the registration (L1).
public final class SharedWatcher: Sendable {
  private let inbox: Inbox
  private let isStopped = Atomic(false)
  // The watcher is only used on the loop's thread. The reference is weak because its callback
  // retains this object.
  private nonisolated(unsafe) weak var watcher: Watcher?

  init(_ inbox: Inbox) { self.inbox = inbox }

  /// Ends the watcher: no call begins after this returns (T7).
  ///
  /// A call that is under way on the loop's thread may not have finished. Does nothing if the
  /// watcher has ended.
  public func stop() {
    if isStopped.exchange(true, ordering: .sequentiallyConsistent) { return }
    inbox.postEnding { [self] in watcher?.stop() }
  }

  var isActive: Bool { !isStopped.load(ordering: .sequentiallyConsistent) }

  /// Registers the watcher, on the loop's thread, in a turn.
  func begin(_ register: (Loop) throws -> Watcher?) {
    guard isActive, let loop = inbox.loop else { return }
    do {
      watcher = try register(loop)
    } catch {
      loop.engine.report(.registration(message: "\(error)"))
    }
  }
}

extension KeyPathObservable where Self: Sendable {
  /// Calls `callback` at the end of each turn of the loop of `inbox` in which an element of one of
  /// the paths changed.
  ///
  /// Can be called on any thread. The loop wakes and registers the watcher in a new turn; changes
  /// count from then on. With `initial`, the callback is also called in that turn, so no change is
  /// missed. The callback runs on the loop's thread, at most once per turn (T1, T8). An error in a
  /// path and errors that the callback throws are reported to ``Loop/onError``. The observer is
  /// held weakly and kept alive during each call and each task, so the callback can capture it as
  /// `unowned`. When the observer is gone, the watcher ends (L3).
  ///
  /// For a path that the compiler has checked, pass its ``PartialKeyPathTo/path``.
  ///
  /// - Complexity: O(length of the paths).
  @discardableResult
  public func observe(
    _ path: Path, _ others: Path..., on inbox: Inbox, initial: Bool = false, once: Bool = false,
    observer: (any AnyObject & Sendable)? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self) throws -> Void
  ) -> SharedWatcher {
    register(on: inbox, initial, once, observer) { [self] loop, options, handle in
      try observe([path] + others, in: loop, options, file, line) {
        if handle.isActive { try callback($0) }
      }
    }
  }

  /// Starts a task at the end of each turn of the loop of `inbox` in which an element of one of the
  /// paths changed.
  ///
  /// Two tasks never run at once. Can be called on any thread. The registration is as for the
  /// synchronous `observe` with an inbox, and the tasks are as for the asynchronous `observe`
  /// without one.
  ///
  /// - Complexity: O(length of the paths).
  @discardableResult
  public func observe(
    _ path: Path, _ others: Path..., on inbox: Inbox, initial: Bool = false, once: Bool = false,
    observer: (any AnyObject & Sendable)? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self) async throws -> Void
  ) -> SharedWatcher {
    register(on: inbox, initial, once, observer) { [self] loop, options, handle in
      try observe([path] + others, in: loop, options, file, line) { (object: Self) async throws in
        if handle.isActive { try await callback(object) }
      }
    }
  }

  /// Calls `callback` for each change of an element of one of the paths, on the thread of the loop
  /// of `inbox`.
  ///
  /// If the write is made on that thread, the call is inside the write. A write on another thread
  /// wakes the loop, and the call is in that turn (T9). The callback receives this object and the
  /// change. The loop wakes and registers the watcher in a new turn; changes count from then on.
  /// Everything else is as for a watcher that is called once per turn.
  @discardableResult
  public func observeImmediately(
    _ path: Path, _ others: Path..., on inbox: Inbox, initial: Bool = false, once: Bool = false,
    observer: (any AnyObject & Sendable)? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, ModelChange) throws -> Void
  ) -> SharedWatcher {
    register(on: inbox, initial, once, observer) { [self] loop, options, handle in
      try observeImmediately([path] + others, in: loop, options, file, line) {
        if handle.isActive { try callback($0, $1) }
      }
    }
  }

  private func register(
    on inbox: Inbox, _ initial: Bool, _ once: Bool, _ observer: (any AnyObject & Sendable)?,
    _ body: @escaping @Sendable (Loop, WatcherOptions, SharedWatcher) throws -> Watcher
  ) -> SharedWatcher {
    let hasObserver = observer != nil
    return register(on: inbox) { [weak observer] loop, handle in
      let observer = observer
      if hasObserver, observer == nil { return nil }
      return try body(
        loop, WatcherOptions(initial: initial, once: once, observer: observer), handle)
    }
  }

  /// Asks the loop to register a watcher; `body` returns nil if the observer is gone.
  func register(
    on inbox: Inbox,
    _ body: @escaping @Sendable (Loop, SharedWatcher) throws -> Watcher?
  ) -> SharedWatcher {
    let handle = SharedWatcher(inbox)
    inbox.post { handle.begin { loop in try body(loop, handle) } }
    return handle
  }
}
