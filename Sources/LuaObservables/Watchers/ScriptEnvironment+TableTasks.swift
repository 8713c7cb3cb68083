public import Lua
public import Observables

/// Watchers of tables of scripts, in Swift, whose callback takes its time.
extension ScriptEnvironment {
  /// Starts a task at the end of each turn in which an element of `path`, rooted at a table of a
  /// script, changed, and never two at once.
  ///
  /// A change while the task runs starts it once more when it is over: the latest state wins. The
  /// task runs on the loop's thread, each part between two `await`s in a turn of its own, or on the
  /// actor that the closure belongs to. What it throws is reported as an error of a script is
  /// (T10). Ending the watcher cancels the task, but for a watcher of one call
  /// (`WatcherOptions.once`). All else is as for a callback that is not `async`.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observe(
    _ table: LuaTable, _ path: Path, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable) async throws -> Void
  ) throws -> Watcher {
    try observe(table, [path], options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths that starts a task, once per turn for all of them.
  ///
  /// All else is as for one path.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  @discardableResult
  public func observe(
    _ table: LuaTable, _ paths: [Path], options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable) async throws -> Void
  ) throws -> Watcher {
    let tasks = CallbackTasks(in: try scriptScope().host.engine, options)
    return try watch(table, paths, options, file, line) { table, watcher, _ in
      tasks.start(for: watcher) { try await callback(table) }
    }
  }

  /// A watcher of one path that starts a task, and is given the observer, too, which is held weakly
  /// between the tasks.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ table: LuaTable, _ path: Path, observer: Observer, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, Observer) async throws -> Void
  ) throws -> Watcher {
    try observe(
      table, [path], observer: observer, options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths that starts a task, and is given the observer, too, which is
  /// held weakly between the tasks.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ table: LuaTable, _ paths: [Path], observer: Observer,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, Observer) async throws -> Void
  ) throws -> Watcher {
    let tasks = CallbackTasks(in: try scriptScope().host.engine, options)
    return try watch(table, paths, options, observer: observer, file, line) { table, watcher, _ in
      guard let observer = watcher.observing else { return }
      let observing = unsafeDowncast(observer, to: Observer.self)
      tasks.start(for: watcher) { try await callback(table, observing) }
    }
  }
}
