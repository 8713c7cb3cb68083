/// Watchers that are called inside of each write (T9).
extension KeyPathObservable {
  /// Calls `callback` inside each write to an element of `path`, after the value is stored (T9),
  /// with this object and the change.
  ///
  /// On the loop's thread. The callback is not re-entered: changes that it makes itself call it
  /// again after it returned. Errors, the loop and the end are as for a coalesced watcher.
  ///
  /// - Precondition: a loop is given, or exactly one is meant.
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observeImmediately(
    _ path: Path, in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, ModelChange) throws -> Void
  ) throws -> Watcher {
    try observeImmediately([path], in: loop, options: options, file: file, line: line, callback)
  }

  /// One immediate watcher for several paths; ``ModelChange/path`` is the one on which a change
  /// lies.
  ///
  /// All else is as for one path.
  ///
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  @discardableResult
  public func observeImmediately(
    _ paths: [Path], in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, ModelChange) throws -> Void
  ) throws -> Watcher {
    try register(
      paths, in: loop, nil, options, .immediate, file, line, { _, _ in },
      { watcher, change in
        // Another thread may just have released the object.
        guard let observed = watcher.observed else { return }
        try callback(unsafeDowncast(observed, to: Self.self), change)
      })
  }

  /// An immediate watcher of one path that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  ///
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  @discardableResult
  public func observeImmediately<Observer: AnyObject>(
    _ path: Path, observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer, ModelChange) throws -> Void
  ) throws -> Watcher {
    try observeImmediately(
      [path], observer: observer, in: loop, options: options, file: file, line: line, callback)
  }

  /// One immediate watcher for several paths that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  ///
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  @discardableResult
  public func observeImmediately<Observer: AnyObject>(
    _ paths: [Path], observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer, ModelChange) throws -> Void
  ) throws -> Watcher {
    try register(
      paths, in: loop, observer, options, [.immediate, .observing], file, line, { _, _ in },
      { watcher, change in
        guard let observed = watcher.observed, let observer = watcher.observing else { return }
        try callback(
          unsafeDowncast(observed, to: Self.self),
          unsafeDowncast(observer, to: Observer.self), change)
      })
  }
}
