import Synchronization

/// A registration that was made on any thread, for a model that several threads use.
///
/// May be used on any thread. Ends with ``stop()``, when the model or the loop is gone, and after a
/// call of `once`; dropping it ends nothing (L1).
public final class SharedWatcher: Sendable {
  private let inbox: Inbox
  private let isStopped = Atomic(false)
  // The watcher is only used on the loop's thread. It is weak, as its callback retains this object.
  private nonisolated(unsafe) weak var watcher: Watcher?

  init(_ inbox: Inbox) { self.inbox = inbox }

  /// Ends the watcher: no call begins after this returns (T7).
  ///
  /// A call that is under way on the loop's thread may not be over yet. Does nothing when the
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
  /// May be called on any thread: the loop registers it in a turn for which it wakes, and changes
  /// from then on count. With `initial` there is a call in that turn, so that none is missed. The
  /// callback runs on the loop's thread, at most once per turn (T1, T8). An error in a path, and
  /// what the callback throws, is reported to ``Loop/onError``. The observer is held weakly, and
  /// kept alive during each call and each task: the callback can capture it as `unowned`. When it
  /// is gone the watcher ends (L3).
  ///
  /// A path that the compiler has checked is given as its ``PartialKeyPathTo/path``.
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
  /// paths changed, and never two at once.
  ///
  /// May be called on any thread. All else is as for `observe` by an inbox without a task, and as
  /// for a task without an inbox.
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

  /// Calls `callback` on the thread of the loop of `inbox` for each change of an element of one of
  /// the paths, with what the change was.
  ///
  /// The call is inside of a write that is made on that thread; for a write of another thread it is
  /// in the turn for which the loop wakes (T9). The loop registers it in a turn for which it wakes,
  /// and changes from then on count. All else is as for a watcher that is called once per turn.
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

  /// Has the loop register a watcher; nil where the model or the observer is gone.
  func register(
    on inbox: Inbox,
    _ body: @escaping @Sendable (Loop, SharedWatcher) throws -> Watcher?
  ) -> SharedWatcher {
    let handle = SharedWatcher(inbox)
    inbox.post { handle.begin { loop in try body(loop, handle) } }
    return handle
  }
}
