public import Lua
public import Observables

/// Watchers of tables of scripts, in Swift.
extension ScriptEnvironment {
  /// Calls `callback` at the end of each turn in which an element of `path`, rooted at a table of a
  /// script, changed.
  ///
  /// A Swift path counts from 0. On the loop's thread, at most once per turn (T1). The table is
  /// given to the callback, which must not capture it: the table owns the callback, and Swift's
  /// handle would keep the table (L6). What the callback throws is reported as an error of a script
  /// is (T10), and the watcher stays. `WatcherOptions.equals` is given each `LuaValue`.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observe(
    _ table: LuaTable, _ path: Path, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable) throws -> Void
  ) throws -> Watcher {
    try observe(table, [path], options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths, called once per turn for all of them.
  ///
  /// All else is as for one path.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  @discardableResult
  public func observe(
    _ table: LuaTable, _ paths: [Path], options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable) throws -> Void
  ) throws -> Watcher {
    try watch(table, paths, options, file, line) { table, _, _ in try callback(table) }
  }

  /// A watcher of one path that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ table: LuaTable, _ path: Path, observer: Observer, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, Observer) throws -> Void
  ) throws -> Watcher {
    try observe(
      table, [path], observer: observer, options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ table: LuaTable, _ paths: [Path], observer: Observer,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, Observer) throws -> Void
  ) throws -> Watcher {
    try watch(table, paths, options, observer: observer, file, line) { table, watcher, _ in
      guard let observer = watcher.observing else { return }
      try callback(table, unsafeDowncast(observer, to: Observer.self))
    }
  }

  /// Calls `callback` inside of each write to an element of `path`, after the value is stored (T9),
  /// with the table and the change.
  ///
  /// The callback is not re-entered: changes that it makes itself call it again after it returned.
  /// All else is as for `observe`.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  @discardableResult
  public func observeImmediately(
    _ table: LuaTable, _ path: Path, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, TableChange) throws -> Void
  ) throws -> Watcher {
    try observeImmediately(table, [path], options: options, file: file, line: line, callback)
  }

  /// One immediate watcher for several paths; ``TableChange/path`` is the one on which a change
  /// lies.
  ///
  /// All else is as for one path.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  @discardableResult
  public func observeImmediately(
    _ table: LuaTable, _ paths: [Path], options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, TableChange) throws -> Void
  ) throws -> Watcher {
    try watch(table, paths, options, isImmediate: true, file, line) { table, _, change in
      try callback(table, change ?? TableChange(on: paths[0]))
    }
  }

  /// An immediate watcher of one path that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  @discardableResult
  public func observeImmediately<Observer: AnyObject>(
    _ table: LuaTable, _ path: Path, observer: Observer, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, Observer, TableChange) throws -> Void
  ) throws -> Watcher {
    try observeImmediately(
      table, [path], observer: observer, options: options, file: file, line: line, callback)
  }

  /// One immediate watcher for several paths that is given the observer, too, which is held weakly.
  ///
  /// The watcher ends when the observer is gone (L3). All else is as without one.
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed
  ///   state.
  @discardableResult
  public func observeImmediately<Observer: AnyObject>(
    _ table: LuaTable, _ paths: [Path], observer: Observer,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, Observer, TableChange) throws -> Void
  ) throws -> Watcher {
    try watch(
      table, paths, options, observer: observer, isImmediate: true, file, line
    ) { table, watcher, change in
      guard let observer = watcher.observing else { return }
      try callback(
        table, unsafeDowncast(observer, to: Observer.self), change ?? TableChange(on: paths[0]))
    }
  }

  /// Registers a watcher of paths that calls `body`.
  func watch(
    _ table: LuaTable, _ paths: [Path], _ options: WatcherOptions, observer: AnyObject? = nil,
    isImmediate: Bool = false, _ file: StaticString, _ line: UInt,
    _ body: @escaping TableWatcher.Body
  ) throws -> Watcher {
    precondition(!paths.isEmpty, "A watcher needs at least one key path")
    return try watch(
      table, options, observer: observer, isImmediate: isImmediate, file, line, body
    ) { engine, record in try engine.add(paths, to: record) }
  }

  /// Registers a watcher that calls `body`, and whose paths `wire` adds; if that throws, no watcher
  /// is made.
  func watch(
    _ table: LuaTable, _ options: WatcherOptions, observer: AnyObject? = nil, isImmediate: Bool,
    _ file: StaticString, _ line: UInt, _ body: @escaping TableWatcher.Body,
    _ wire: (Engine, WatcherRef) throws -> Void
  ) throws -> Watcher {
    let scope = try scriptScope()
    let host = scope.host
    let watcher = TableWatcher(
      host: host, options: options, observer: observer, isImmediate: isImmediate, file: file,
      line: line, body: body)
    var flags: WatcherRecord.Flags = isImmediate ? .immediate : []
    if observer != nil { flags.insert(.observing) }
    if options.once { flags.insert(.once) }
    if options.equals != nil { flags.insert(.comparing) }
    let root = try host.state.withStack { L throws(LuaError) in
      try host.state.push(table.pin, to: L)
      return try host.tables.node(L)
    }
    let engine = host.engine
    let record = engine.makeWatcher(root: root, receiver: watcher, flags: flags)
    watcher.begin(record)
    do {
      // Getters of scripts may run for a path.
      try scope.entered { try wire(engine, record) }
    } catch {
      watcher.stop()
      throw error
    }
    // A getter on a path may have ended the watcher.
    if options.initial, watcher.isActive { engine.schedule(record) }
    engine.runHooks()
    return watcher
  }
}

extension TableChange {
  /// Makes the change of a call for which nothing was written.
  fileprivate init(on path: Path) { self.init(path: path, key: .nil, old: .nil, new: .nil) }
}
