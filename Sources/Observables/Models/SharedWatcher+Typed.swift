/// Watchers of paths that the compiler has checked, registered from any thread.
extension KeyPathObservable where Self: Sendable {
  /// Calls `callback` at the end of each turn of the loop of `inbox` in which an element of `path`
  /// changed.
  ///
  /// May be called on any thread: the loop registers it in a turn for which it wakes, and changes
  /// from then on count. With `initial` there is a call in that turn, so that none is missed. The
  /// callback runs on the loop's thread, at most once per turn (T1, T8). A path that the object
  /// does not have, and what the callback throws, is reported to ``Loop/onError``.
  ///
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observe(
    _ path: PartialKeyPathTo<Self>, on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self) throws -> Void
  ) -> SharedWatcher {
    observe(
      [path.path], on: inbox, initial: initial, once: once, file: file, line: line,
      callback)
  }

  /// One watcher for several paths, called once per turn of the loop of `inbox` for all of them.
  ///
  /// All else is as for one path.
  @discardableResult
  public func observe(
    _ paths: [PartialKeyPathTo<Self>], on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self) throws -> Void
  ) -> SharedWatcher {
    observe(
      paths.map(\.path), on: inbox, initial: initial, once: once, file: file, line: line,
      callback)
  }

  /// A watcher of one path that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observe<Observer: AnyObject & Sendable>(
    _ path: PartialKeyPathTo<Self>, observer: Observer, on inbox: Inbox, initial: Bool = false,
    once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, Observer) throws -> Void
  ) -> SharedWatcher {
    observe(
      [path.path], observer: observer, on: inbox, initial: initial, once: once, file: file,
      line: line,
      callback)
  }

  /// One watcher for several paths that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observe<Observer: AnyObject & Sendable>(
    _ paths: [PartialKeyPathTo<Self>], observer: Observer, on inbox: Inbox, initial: Bool = false,
    once: Bool = false, file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, Observer) throws -> Void
  ) -> SharedWatcher {
    observe(
      paths.map(\.path), observer: observer, on: inbox, initial: initial, once: once, file: file,
      line: line,
      callback)
  }

  /// Starts a task at the end of each turn of the loop of `inbox` in which an element of `path`
  /// changed, and never two at once.
  ///
  /// May be called on any thread. All else is as for `observe` by an inbox without a task, and as
  /// for a task without an inbox.
  ///
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observe(
    _ path: PartialKeyPathTo<Self>, on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self) async throws -> Void
  ) -> SharedWatcher {
    observe(
      [path.path], on: inbox, initial: initial, once: once, file: file, line: line, callback)
  }

  /// One watcher for several paths that starts a task, once per turn of the loop of `inbox` for all
  /// of them.
  ///
  /// All else is as for one path.
  @discardableResult
  public func observe(
    _ paths: [PartialKeyPathTo<Self>], on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self) async throws -> Void
  ) -> SharedWatcher {
    observe(
      paths.map(\.path), on: inbox, initial: initial, once: once, file: file, line: line, callback)
  }

  /// Calls `callback` on the thread of the loop of `inbox` for each change of an element of `path`,
  /// with what the change was.
  ///
  /// The call is inside of a write that is made on that thread; for a write of another thread it is
  /// in the turn for which the loop wakes (T9). The loop registers it in a turn for which it wakes,
  /// and changes from then on count. All else is as for a watcher that is called once per turn.
  @discardableResult
  public func observeImmediately(
    _ path: PartialKeyPathTo<Self>, on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, ModelChange) throws -> Void
  ) -> SharedWatcher {
    observeImmediately(
      [path.path], on: inbox, initial: initial, once: once, file: file, line: line,
      callback)
  }

  /// One immediate watcher for several paths; ``ModelChange/path`` is the one on which a change
  /// lies.
  ///
  /// All else is as for one path.
  @discardableResult
  public func observeImmediately(
    _ paths: [PartialKeyPathTo<Self>], on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, ModelChange) throws -> Void
  ) -> SharedWatcher {
    observeImmediately(
      paths.map(\.path), on: inbox, initial: initial, once: once, file: file, line: line,
      callback)
  }

  /// An immediate watcher of one path that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observeImmediately<Observer: AnyObject & Sendable>(
    _ path: PartialKeyPathTo<Self>, observer: Observer, on inbox: Inbox, initial: Bool = false,
    once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, Observer, ModelChange) throws -> Void
  ) -> SharedWatcher {
    observeImmediately(
      [path.path], observer: observer, on: inbox, initial: initial, once: once, file: file,
      line: line,
      callback)
  }

  /// One immediate watcher for several paths that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observeImmediately<Observer: AnyObject & Sendable>(
    _ paths: [PartialKeyPathTo<Self>], observer: Observer, on inbox: Inbox, initial: Bool = false,
    once: Bool = false, file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self, Observer, ModelChange) throws -> Void
  ) -> SharedWatcher {
    observeImmediately(
      paths.map(\.path), observer: observer, on: inbox, initial: initial, once: once, file: file,
      line: line,
      callback)
  }
}
