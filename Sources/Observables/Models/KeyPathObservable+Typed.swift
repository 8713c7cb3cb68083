/// Watchers of paths that the compiler has checked.
///
/// They are those of paths as text, but for errors: a name that a model does not have, a digit
/// where no object is, and an object that the loop of another thread observes are mistakes of the
/// caller, and trap with the sentence of the error. What a callback throws is reported to
/// ``Loop/onError``, as a ``WatcherError`` (T10).
extension KeyPathObservable {
  /// Calls `callback` at the end of each turn in which an element of `path` changed.
  ///
  /// On the loop's thread, at most once per turn (T1), with this object, so that the closure need
  /// not capture it (L6). Ends with ``Watcher/stop()``, or when this object is gone; dropping the
  /// watcher ends nothing (L1). The loop is ``Loop/current`` if none is given.
  ///
  /// - Precondition: there is a loop on this thread, and the object has the path (P9).
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observe(
    _ path: PartialKeyPathTo<Self>, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self) throws -> Void
  ) -> Watcher {
    observe([path], in: loop, options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths, called once per turn for all of them.
  ///
  /// All else is as for one path.
  @discardableResult
  public func observe(
    _ paths: [PartialKeyPathTo<Self>], in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self) throws -> Void
  ) -> Watcher {
    checked(file, line) {
      try observe(paths.map(\.path), in: loop, options: options, file: file, line: line, callback)
    }
  }

  /// Calls `callback` with this object and the observer, at the end of each turn in which an
  /// element of `path` changed.
  ///
  /// The observer is held weakly: when it is gone the watcher ends (L3). All else is as without
  /// one.
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ path: PartialKeyPathTo<Self>, observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer) throws -> Void
  ) -> Watcher {
    observe(
      [path], observer: observer, in: loop, options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths, called once per turn for all of them, with this object and the
  /// observer.
  ///
  /// The observer is held weakly: when it is gone the watcher ends (L3). All else is as without
  /// one.
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ paths: [PartialKeyPathTo<Self>], observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer) throws -> Void
  ) -> Watcher {
    checked(file, line) {
      try observe(
        paths.map(\.path), observer: observer, in: loop, options: options, file: file, line: line,
        callback)
    }
  }

  /// Starts a task at the end of each turn in which an element of `path` changed, and never two at
  /// once.
  ///
  /// A change while the task runs starts it once more when it is over: the latest state wins. The
  /// task runs on the loop's thread, each part between two `await`s in a turn of its own, or on the
  /// actor that the closure belongs to; it keeps this object until it is over. Ending the watcher
  /// cancels the task, but for a watcher of one call (``WatcherOptions/once``). All else is as for
  /// a callback that is not `async`.
  ///
  /// - Precondition: there is a loop on this thread, and the object has the path (P9).
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observe(
    _ path: PartialKeyPathTo<Self>, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self) async throws -> Void
  ) -> Watcher {
    observe([path], in: loop, options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths that starts a task, once per turn for all of them.
  ///
  /// All else is as for one path.
  @discardableResult
  public func observe(
    _ paths: [PartialKeyPathTo<Self>], in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self) async throws -> Void
  ) -> Watcher {
    checked(file, line) {
      try observe(paths.map(\.path), in: loop, options: options, file: file, line: line, callback)
    }
  }

  /// A watcher of one path that starts a task, and is given the observer, too, which is held weakly
  /// between the tasks.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ path: PartialKeyPathTo<Self>, observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer) async throws -> Void
  ) -> Watcher {
    observe(
      [path], observer: observer, in: loop, options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths that starts a task, and is given the observer, too, which is
  /// held weakly between the tasks.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ paths: [PartialKeyPathTo<Self>], observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer) async throws -> Void
  ) -> Watcher {
    checked(file, line) {
      try observe(
        paths.map(\.path), observer: observer, in: loop, options: options, file: file, line: line,
        callback)
    }
  }

  /// Calls `callback` inside each write to an element of `path`, after the value is stored (T9),
  /// with this object and the change.
  ///
  /// On the loop's thread. The callback is not re-entered: changes that it makes itself call it
  /// again after it returned. Ends as a coalesced watcher does.
  ///
  /// - Precondition: there is a loop on this thread, and the object has the path (P9).
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observeImmediately(
    _ path: PartialKeyPathTo<Self>, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, ModelChange) throws -> Void
  ) -> Watcher {
    observeImmediately([path], in: loop, options: options, file: file, line: line, callback)
  }

  /// One immediate watcher for several paths; ``ModelChange/path`` is the one on which a change
  /// lies.
  ///
  /// All else is as for one path.
  @discardableResult
  public func observeImmediately(
    _ paths: [PartialKeyPathTo<Self>], in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, ModelChange) throws -> Void
  ) -> Watcher {
    checked(file, line) {
      try observeImmediately(
        paths.map(\.path), in: loop, options: options, file: file, line: line, callback)
    }
  }

  /// An immediate watcher of one path that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observeImmediately<Observer: AnyObject>(
    _ path: PartialKeyPathTo<Self>, observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer, ModelChange) throws -> Void
  ) -> Watcher {
    observeImmediately(
      [path], observer: observer, in: loop, options: options, file: file, line: line, callback)
  }

  /// One immediate watcher for several paths that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  @discardableResult
  public func observeImmediately<Observer: AnyObject>(
    _ paths: [PartialKeyPathTo<Self>], observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer, ModelChange) throws -> Void
  ) -> Watcher {
    checked(file, line) {
      try observeImmediately(
        paths.map(\.path), observer: observer, in: loop, options: options, file: file, line: line,
        callback)
    }
  }

  /// As ``breakOnChange(_:in:file:line:)-(Path,_,_,_)``, for a path that the compiler has checked.
  ///
  /// - Precondition: there is a loop on this thread, and the object has the path (P9).
  @discardableResult
  public func breakOnChange(
    _ path: PartialKeyPathTo<Self>, in loop: Loop? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Watcher {
    checked(file, line) { try breakOnChange(path.path, in: loop, file: file, line: line) }
  }

  /// Ends the watchers of this object on one path, or those of an observer (L5).
  ///
  /// Does nothing when no watcher matches.
  ///
  /// - Returns: how many (watcher, path) pairs were ended.
  /// - Complexity: O(watchers of this object).
  @discardableResult
  public func stopObserving(_ path: PartialKeyPathTo<Self>, observer: AnyObject? = nil) -> Int {
    stopObserving(path.path, observer: observer)
  }

  /// Ends each of several paths of the watchers of this object, or of those of an observer (L5).
  ///
  /// Does nothing when no watcher matches, or there are no paths.
  ///
  /// - Returns: how many (watcher, path) pairs were ended.
  /// - Complexity: O(paths · watchers of this object).
  @discardableResult
  public func stopObserving(_ paths: [PartialKeyPathTo<Self>], observer: AnyObject? = nil) -> Int {
    stopObserving(paths.map(\.path), observer: observer)
  }

  private func checked(
    _ file: StaticString, _ line: UInt, _ register: () throws -> Watcher
  ) -> Watcher {
    do {
      return try register()
    } catch {
      preconditionFailure("\(error)", file: file, line: line)
    }
  }
}

extension Watcher {
  /// Adds a path that the compiler has checked, with the same root: still one call per turn.
  ///
  /// On the loop's thread.
  ///
  /// - Throws: ``PathError`` for a component that its object doesn't have: the watcher may have
  ///   another root.
  @discardableResult
  public final func observe<Root>(_ path: PartialKeyPathTo<Root>) throws -> Self {
    try observe([path.path])
  }

  /// Adds paths that the compiler has checked, with the same root: still one call per turn.
  ///
  /// On the loop's thread.
  ///
  /// - Throws: ``PathError`` for a component that its object doesn't have; none of them is added
  ///   then.
  @discardableResult
  public final func observe<Root>(_ paths: [PartialKeyPathTo<Root>]) throws -> Self {
    try observe(paths.map(\.path))
  }
}
