public import Lua
public import Observables

/// Watchers of tables of scripts, in Swift.
extension ScriptEnvironment {
  /// Calls `callback` at the end of each turn in which an element of one of the paths, rooted at a
  /// table of a script, changed.
  ///
  /// A Swift path counts from 0. On the loop's thread, at most once per turn (T1). The table is
  /// given to the callback, which must not capture it: the table owns the callback, and Swift's
  /// handle would keep the table (L6). What the callback throws is reported as an error of a script
  /// is (T10), and the watcher stays. `WatcherOptions.equals` is given each `LuaValue`.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  /// - Complexity: O(length of the paths).
  @discardableResult
  public func observe(
    _ table: LuaTable, _ path: Path, _ others: Path..., options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable) throws -> Void
  ) throws -> Watcher {
    try watch(table, [path] + others, options, isImmediate: false, file, line) { table, _, _ in
      try callback(table)
    }
  }

  /// Starts a task at the end of each turn in which an element of one of the paths, rooted at a
  /// table of a script, changed, and never two at once.
  ///
  /// A change while the task runs starts it once more when it is over: the latest state wins. The
  /// task runs on the loop's thread, each part between two `await`s in a turn of its own, or on the
  /// actor that the closure belongs to. What it throws is reported as an error of a script is
  /// (T10). Ending the watcher cancels the task, but for a watcher of one call
  /// (`WatcherOptions.once`). All else is as for a callback that is not `async`.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  /// - Complexity: O(length of the paths).
  @discardableResult
  public func observe(
    _ table: LuaTable, _ path: Path, _ others: Path..., options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable) async throws -> Void
  ) throws -> Watcher {
    let tasks = CallbackTasks(in: try scriptScope().host.engine, options)
    return try watch(table, [path] + others, options, isImmediate: false, file, line) {
      table, watcher, _ in tasks.start(for: watcher) { try await callback(table) }
    }
  }

  /// Calls `callback` inside of each write to an element of one of the paths, after the value is
  /// stored (T9), with the table and the change.
  ///
  /// ``TableChange/path`` is the path on which the change lies. The callback is not re-entered:
  /// changes that it makes itself call it again after it returned. All else is as for `observe`.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  @discardableResult
  public func observeImmediately(
    _ table: LuaTable, _ path: Path, _ others: Path..., options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, TableChange) throws -> Void
  ) throws -> Watcher {
    try watch(table, [path] + others, options, isImmediate: true, file, line) {
      table, _, change in try callback(table, change ?? TableChange(on: path))
    }
  }

  private func watch(
    _ table: LuaTable, _ paths: [Path], _ options: WatcherOptions, isImmediate: Bool,
    _ file: StaticString, _ line: UInt, _ body: @escaping TableWatcher.Body
  ) throws -> Watcher {
    try watch(table, options, isImmediate: isImmediate, file, line, body) { engine, record in
      try engine.wiring.add(paths, to: record)
    }
  }

  /// Registers a watcher that calls `body`, and whose paths `wire` adds; if that throws, no watcher
  /// is made.
  func watch(
    _ table: LuaTable, _ options: WatcherOptions, isImmediate: Bool, _ file: StaticString,
    _ line: UInt, _ body: @escaping TableWatcher.Body,
    _ wire: (Engine, WatcherRef) throws -> Void
  ) throws -> Watcher {
    let scope = try scriptScope()
    let host = scope.host
    let watcher = TableWatcher(
      host: host, options: options, isImmediate: isImmediate, file: file, line: line, body: body)
    let root = try host.state.withStack { L throws(LuaError) in
      try host.state.push(table.pin, to: L)
      return try host.tables.node(L)
    }
    let engine = host.engine
    let record = engine.watchers.make(
      root: root, receiver: watcher,
      traits: isImmediate ? options.traits.union(.immediate) : options.traits)
    watcher.begin(record)
    do {
      // Getters of scripts may run for a path.
      try scope.entered { try wire(engine, record) }
    } catch {
      watcher.stop()
      throw error
    }
    // A getter on a path may have ended the watcher.
    if options.initial, watcher.isActive { engine.delivery.schedule(record) }
    engine.hooks.run()
    return watcher
  }
}

extension TableChange {
  /// Makes the change of a call for which nothing was written.
  fileprivate init(on path: Path) { self.init(path: path, key: .nil, old: .nil, new: .nil) }
}
