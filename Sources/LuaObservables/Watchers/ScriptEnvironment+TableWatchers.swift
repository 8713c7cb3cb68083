public import Lua
public import Observables

/// Swift watchers of scripts' tables.
extension ScriptEnvironment {
  /// Calls `callback` at the end of each turn in which an element of one of the paths, which start
  /// at a script's table, changed.
  ///
  /// A Swift path counts from 0. The callback is called on the loop's thread, at most once per turn
  /// (T1). It gets the table, and must not capture it: the table owns the callback, and Swift's
  /// handle would keep the table alive (L6). An error that the callback throws is reported like an
  /// error of this host's or sandbox's scripts (T10), and the watcher stays.
  /// `WatcherOptions.equals` gets each `LuaValue`.
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

  /// Starts a task at the end of each turn in which an element of one of the paths, which start at
  /// a script's table, changed; never two tasks at once.
  ///
  /// After a change while the task runs, it starts once more when it is over, for the latest state.
  /// The task runs on the loop's thread, where each part between two `await`s is a turn, or on the
  /// closure's actor. An error that it throws is reported like a script's error (T10). Ending the
  /// watcher cancels the task, except for a watcher of one call (`WatcherOptions.once`). Everything
  /// else is as for a callback that is not `async`.
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

  /// Calls `callback` inside each write to an element of one of the paths, after the value is
  /// stored (T9), with the table and the change.
  ///
  /// ``TableChange/path`` is the path of the change. The callback is not re-entered: it is called
  /// for its own changes after it returns. Everything else is as for `observe`.
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

  /// Registers a watcher that calls `body` and whose paths `wire` adds; if `wire` throws, the
  /// watcher is ended.
  func watch(
    _ table: LuaTable, _ options: WatcherOptions, isImmediate: Bool, _ file: StaticString,
    _ line: UInt, _ body: @escaping TableWatcher.Body,
    _ wire: (Engine, WatcherRef) throws -> Void
  ) throws -> Watcher {
    let scope = try scriptScope()
    let host = scope.host
    let watcher = TableWatcher(
      scope: scope, options: options, isImmediate: isImmediate, file: file, line: line, body: body)
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
      // Wiring a path can run getters of scripts.
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
  /// Makes the change for a call without a write.
  fileprivate init(on path: Path) { self.init(path: path, key: .nil, old: .nil, new: .nil) }
}

@_documentation(visibility: internal)
@available(
  *, unavailable, message: "only a literal is a path: for another text write 'try Path(text)'"
)
extension ScriptEnvironment {
  /// Tells a program how to use a text that it has made.
  @discardableResult
  public func observe(
    _ table: LuaTable, _ path: String, _ others: String...,
    options: WatcherOptions = WatcherOptions(),
    _ callback: @escaping (LuaTable) async throws -> Void
  ) throws -> Watcher { fatalError() }

  /// Tells a program how to use a text that it has made.
  @discardableResult
  public func observeImmediately(
    _ table: LuaTable, _ path: String, _ others: String...,
    options: WatcherOptions = WatcherOptions(),
    _ callback: @escaping (LuaTable, TableChange) throws -> Void
  ) throws -> Watcher { fatalError() }
}
