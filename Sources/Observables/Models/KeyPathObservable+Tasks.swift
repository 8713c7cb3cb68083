/// Watchers whose callback takes its time.
extension KeyPathObservable {
  /// Starts a task at the end of each turn in which an element of `path` changed, and never two at
  /// once.
  ///
  /// ```swift
  /// try document.observe("text") { document in
  ///   try await Task.sleep(for: .seconds(1))
  ///   try await upload(document.text)
  /// }
  /// ```
  ///
  /// A change while the task runs starts it once more when it is over: the latest state wins. The
  /// task runs on the loop's thread, each part between two `await`s in a turn of its own, or on the
  /// actor that the closure belongs to; it keeps this object, and the loop goes on, until it is
  /// over. What it throws is reported to ``Loop/onError``, as a ``WatcherError`` (T10). Ending the
  /// watcher cancels the task, but for a watcher of one call
  /// (``WatcherOptions/once``). All else is as for a callback that is not `async`.
  ///
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observe(
    _ path: Path, in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self) async throws -> Void
  ) throws -> Watcher {
    try observe([path], in: loop, options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths that starts a task, once per turn for all of them.
  ///
  /// All else is as for one path.
  ///
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  @discardableResult
  public func observe(
    _ paths: [Path], in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self) async throws -> Void
  ) throws -> Watcher {
    let engine = try engine(of: loop)
    let tasks = CallbackTasks(in: engine, options)
    return try register(paths, in: engine.inbox.loop, nil, options, [], file, line) {
      let observed = unsafeDowncast($0, to: Self.self)
      tasks.start(for: $1) { try await callback(observed) }
    }
  }

  /// A watcher of one path that starts a task, and is given the observer, too, which is held weakly
  /// between the tasks.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  ///
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ path: Path, observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer) async throws -> Void
  ) throws -> Watcher {
    try observe(
      [path], observer: observer, in: loop, options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths that starts a task, and is given the observer, too, which is
  /// held weakly between the tasks.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  ///
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ paths: [Path], observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer) async throws -> Void
  ) throws -> Watcher {
    let engine = try engine(of: loop)
    let tasks = CallbackTasks(in: engine, options)
    return try register(paths, in: engine.inbox.loop, observer, options, .observing, file, line) {
      guard let observer = $1.observing else { return }
      let observed = unsafeDowncast($0, to: Self.self)
      let observing = unsafeDowncast(observer, to: Observer.self)
      tasks.start(for: $1) { try await callback(observed, observing) }
    }
  }
}

extension KeyPathObservable where Self: Sendable {
  /// Starts a task at the end of each turn of the loop of `inbox` in which an element of `path`
  /// changed, and never two at once.
  ///
  /// May be called on any thread. All else is as for `observe` by an inbox without a task, and as
  /// for a task without an inbox.
  ///
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observe(
    _ path: Path, on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self) async throws -> Void
  ) -> SharedWatcher {
    observe(
      [path], on: inbox, initial: initial, once: once, file: file, line: line, callback)
  }

  /// One watcher for several paths that starts a task, once per turn of the loop of `inbox` for all
  /// of them.
  ///
  /// All else is as for one path.
  @discardableResult
  public func observe(
    _ paths: [Path], on inbox: Inbox, initial: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping @Sendable (Self) async throws -> Void
  ) -> SharedWatcher {
    let options = Timing(initial: initial, once: once)
    return register(on: inbox) { [self] loop, handle in
      try observe(
        paths, in: loop, options: options.watcherOptions, file: file, line: line
      ) { (observed: Self) async throws -> Void in
        if handle.isActive { try await callback(observed) }
      }
    }
  }
}
