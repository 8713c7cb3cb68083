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
  /// Calls `callback` at the end of each turn of the loop of `inbox` in which an element of `path`
  /// changed.
  ///
  /// May be called on any thread: the loop registers it in a turn for which it wakes, and changes
  /// from then on count. With `initial` there is a call in that turn, so that none is missed. The
  /// callback runs on the loop's thread, at most once per turn (T1, T8). An error in the path, and
  /// what the callback throws, is reported to ``Loop/onError``.
  ///
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observe(
    _ path: Path, on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self) throws -> Void
  ) -> SharedWatcher {
    observe(
      [path], on: inbox, initial: initial, once: once, file: file, line: line, callback)
  }

  /// One watcher for several paths, called once per turn of the loop of `inbox` for all of them.
  ///
  /// All else is as for one path.
  @discardableResult
  public func observe(
    _ paths: [Path], on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self) throws -> Void
  ) -> SharedWatcher {
    let options = Timing(initial: initial, once: once)
    return register(on: inbox) { [self] loop, handle in
      try observe(paths, in: loop, options: options.watcherOptions, file: file, line: line) {
        if handle.isActive { try callback($0) }
      }
    }
  }

  /// A watcher of one path that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observe<Observer: AnyObject & Sendable>(
    _ path: Path, observer: Observer, on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, Observer) throws -> Void
  ) -> SharedWatcher {
    observe(
      [path], observer: observer, on: inbox, initial: initial, once: once, file: file, line: line,
      callback)
  }

  /// One watcher for several paths that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observe<Observer: AnyObject & Sendable>(
    _ paths: [Path], observer: Observer, on inbox: Inbox, initial: Bool = false,
    once: Bool = false, file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, Observer) throws -> Void
  ) -> SharedWatcher {
    let options = Timing(initial: initial, once: once)
    let observer = WeakObserver(observer)
    return register(on: inbox) { [self] loop, handle in
      guard let observer = observer.object else { return nil }
      return try observe(
        paths, observer: observer, in: loop, options: options.watcherOptions, file: file,
        line: line
      ) { if handle.isActive { try callback($0, $1) } }
    }
  }

  /// Calls `callback` on the thread of the loop of `inbox` for each change of an element of `path`,
  /// with what the change was.
  ///
  /// The call is inside of a write that is made on that thread; for a write of another thread it is
  /// in the turn for which the loop wakes (T9). The loop registers it in a turn for which it wakes,
  /// and changes from then on count. All else is as for a watcher that is called once per turn.
  @discardableResult
  public func observeImmediately(
    _ path: Path, on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, ModelChange) throws -> Void
  ) -> SharedWatcher {
    observeImmediately(
      [path], on: inbox, initial: initial, once: once, file: file, line: line, callback)
  }

  /// One immediate watcher for several paths; ``ModelChange/path`` is the one on which a change
  /// lies.
  ///
  /// All else is as for one path.
  @discardableResult
  public func observeImmediately(
    _ paths: [Path], on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, ModelChange) throws -> Void
  ) -> SharedWatcher {
    let options = Timing(initial: initial, once: once)
    return register(on: inbox) { [self] loop, handle in
      try observeImmediately(
        paths, in: loop, options: options.watcherOptions, file: file, line: line
      ) { if handle.isActive { try callback($0, $1) } }
    }
  }

  /// An immediate watcher of one path that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observeImmediately<Observer: AnyObject & Sendable>(
    _ path: Path, observer: Observer, on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, Observer, ModelChange) throws -> Void
  ) -> SharedWatcher {
    observeImmediately(
      [path], observer: observer, on: inbox, initial: initial, once: once, file: file, line: line,
      callback)
  }

  /// One immediate watcher for several paths that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observeImmediately<Observer: AnyObject & Sendable>(
    _ paths: [Path], observer: Observer, on inbox: Inbox, initial: Bool = false,
    once: Bool = false, file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, Observer, ModelChange) throws -> Void
  ) -> SharedWatcher {
    let options = Timing(initial: initial, once: once)
    let observer = WeakObserver(observer)
    return register(on: inbox) { [self] loop, handle in
      guard let observer = observer.object else { return nil }
      return try observeImmediately(
        paths, observer: observer, in: loop, options: options.watcherOptions, file: file,
        line: line
      ) { if handle.isActive { try callback($0, $1, $2) } }
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

/// The options of a watcher that any thread registers.
struct Timing: Sendable {
  let initial: Bool
  let once: Bool
  var watcherOptions: WatcherOptions { WatcherOptions(initial: initial, once: once) }
}

/// An observer on its way to the loop's thread.
private final class WeakObserver<Object: AnyObject & Sendable>: Sendable {
  // The reference is set once, before any other thread has this object.
  private nonisolated(unsafe) weak var reference: Object?

  init(_ object: Object) { reference = object }

  var object: Object? { reference }
}
