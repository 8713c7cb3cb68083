extension KeyPathObservable {
  /// Calls `callback` at the end of each turn in which an element of `path` changed.
  ///
  /// On the loop's thread, at most once per turn (T1), with this object, so that the closure need
  /// not capture it (L6). Ends with ``Watcher/stop()``, or when this object is gone; dropping the
  /// watcher ends nothing (L1). What the callback throws is reported to ``Loop/onError``, as a
  /// ``WatcherError``, and the watcher stays (T10).
  ///
  /// If no loop is given, it is the one that observes this object already; else the one whose turn
  /// is under way; else the only one of this thread; and on the main thread, where there is none,
  /// ``Loop/main``.
  ///
  /// - Precondition: a loop is given, or exactly one is meant.
  /// - Throws: ``PathError`` for a component that its object cannot have (P9), and for a model that
  ///   several threads use where no loop is on this thread.
  /// - Complexity: O(length of the path).
  @discardableResult
  public func observe(
    _ path: Path, in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line, _ callback: @escaping (Self) throws -> Void
  ) throws -> Watcher {
    try observe([path], in: loop, options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths, called once per turn for all of them.
  ///
  /// All else is as for one path.
  ///
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  @discardableResult
  public func observe(
    _ paths: [Path], in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line, _ callback: @escaping (Self) throws -> Void
  ) throws -> Watcher {
    try register(paths, in: loop, nil, options, [], file, line) { observed, _ in
      try callback(unsafeDowncast(observed, to: Self.self))
    }
  }

  /// Calls `callback` with this object and the observer, at the end of each turn in which an
  /// element of `path` changed.
  ///
  /// The observer is held weakly: when it is gone the watcher ends (L3). All else is as without
  /// one.
  ///
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ path: Path, observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer) throws -> Void
  ) throws -> Watcher {
    try observe(
      [path], observer: observer, in: loop, options: options, file: file, line: line, callback)
  }

  /// One watcher for several paths, called once per turn for all of them, with this object and the
  /// observer.
  ///
  /// The observer is held weakly: when it is gone the watcher ends (L3). All else is as without
  /// one.
  ///
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  @discardableResult
  public func observe<Observer: AnyObject>(
    _ paths: [Path], observer: Observer, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, Observer) throws -> Void
  ) throws -> Watcher {
    try register(
      paths, in: loop, observer, options, .observing, file, line
    ) { observed, watcher in
      guard let observer = watcher.observing else { return }
      try callback(
        unsafeDowncast(observed, to: Self.self),
        unsafeDowncast(observer, to: Observer.self))
    }
  }

  func register(
    _ paths: [Path], in loop: Loop?, _ observer: AnyObject?, _ options: WatcherOptions,
    _ extra: WatcherRecord.Flags, _ file: StaticString, _ line: UInt,
    _ body: @escaping ModelWatcher.Body, _ changeBody: ModelWatcher.ChangeBody? = nil
  ) throws -> Watcher {
    precondition(!paths.isEmpty, "A watcher needs at least one key path")
    return try register(
      in: loop, observer, options, extra, file, line, body, changeBody
    ) { engine, record in try engine.add(paths, to: record) }
  }

  /// A watcher of this object whose paths `wire` adds; if that throws, no watcher is made.
  func register(
    in loop: Loop?, _ observer: AnyObject?, _ options: WatcherOptions,
    _ extra: WatcherRecord.Flags, _ file: StaticString, _ line: UInt,
    _ body: @escaping ModelWatcher.Body, _ changeBody: ModelWatcher.ChangeBody? = nil,
    _ wire: (Engine, WatcherRef) throws -> Void
  ) throws -> Watcher {
    let engine = try engine(of: loop)
    var flags = extra
    if options.once { flags.insert(.once) }
    if options.equals != nil { flags.insert(.comparing) }
    let watcher = ModelWatcher(
      .init(engine, options, observer: observer, file, line), body: body, changeBody: changeBody)
    guard let root = observationToken(in: engine)?.node else {
      engine.hasMetForeign = false
      throw PathError(.otherLoop, path: "", component: 1)
    }
    let record = engine.makeWatcher(root: root, receiver: watcher, flags: flags)
    watcher.begin(record)
    do {
      try wire(engine, record)
    } catch {
      watcher.stop()
      throw error
    }
    if options.initial, watcher.isActive { engine.schedule(record) }
    if !engine.hookCalls.isEmpty { engine.runHooks() }
    return watcher
  }

  /// Ends the watchers of this object: all of them, or those of an observer, or only one path of
  /// those that have it (L5).
  ///
  /// Does nothing when no watcher matches.
  ///
  /// - Returns: how many (watcher, path) pairs were ended.
  /// - Complexity: O(watchers of this object).
  @discardableResult
  public func stopObserving(_ path: Path? = nil, observer: AnyObject? = nil) -> Int {
    observationsHere.reduce(0) { $0 + stopWatchers(of: $1.node, path, observer) }
  }

  /// Ends each of several paths of the watchers of this object, or of those of an observer (L5).
  ///
  /// Does nothing when no watcher matches, or there are no paths.
  ///
  /// - Returns: how many (watcher, path) pairs were ended.
  /// - Complexity: O(paths · watchers of this object).
  @discardableResult
  public func stopObserving(_ paths: [Path], observer: AnyObject? = nil) -> Int {
    paths.reduce(0) { $0 + stopObserving($1, observer: observer) }
  }

  private func stopWatchers(of node: NodeRef, _ path: Path?, _ observer: AnyObject?) -> Int {
    let engine = node.engine
    var count = 0
    engine.forEachWatcher(of: node) { record in
      // The dependencies of its lazy properties are no watchers.
      if record.pointee.flags.contains(.lazy) { return }
      if let observer {
        guard let watcher = record.pointee.receiver.takeUnretainedValue() as? Watcher,
          watcher.observing === observer
        else { return }
      }
      if let path {
        // The watcher ends with its last path.
        while record.pointee.isActive, engine.remove(path, from: record) { count += 1 }
      } else {
        count += engine.stop(record)
      }
    }
    engine.runHooks()
    return count
  }

  /// Where the object is observed, by all loops of this thread.
  private var observationsHere: [ObservationToken] { observationPlaces.tokens }

  /// The nodes of the object in all loops of this thread, with all links up to date.
  var settledNodes: [NodeRef] {
    // A path of the loop may lead here now, though its links are not made yet.
    for engine in observationsHere.map(\.node.engine) + LoopsHere().all.map(\.engine) {
      engine.settleWiring()
      engine.stopOrphans()
    }
    return observationsHere.map(\.node)
  }

  /// The keys that are observed now: names, and `*` (W1).
  public var observedKeys: [String] {
    var names: Set<String> = []
    for node in settledNodes {
      node.forEachSlot { slot in
        if slot.pointee.count > 0 { names.insert(node.kind.name(of: slot)) }
      }
    }
    return names.sorted()
  }

  /// How many paths pass through `key` of this object (W1).
  public func observerCount(of key: String) -> Int {
    var count = 0
    for node in settledNodes {
      node.forEachSlot { slot in
        if node.kind.name(of: slot) == key { count += Int(slot.pointee.count) }
      }
    }
    return count
  }

  /// Calls `hook` when a key gets its first watcher, and when it loses its last one (W1), after the
  /// registration is complete.
  ///
  /// Replaces an earlier hook; nil removes it. The loop is found as for `observe`.
  ///
  /// - Precondition: there is one, on this thread.
  public func onObserved(
    in loop: Loop? = nil, _ hook: ((_ key: String, _ isObserved: Bool) -> Void)?
  ) {
    onObserved(by: nil, in: loop, hook)
  }

  /// As `onObserved(in:_:)`, for a host of scripts, which has a hook of its own.
  package func onObserved(
    by owner: AnyObject?, in loop: Loop?, _ hook: ((_ key: String, _ isObserved: Bool) -> Void)?
  ) {
    guard let engine = try? engine(of: loop) else { LoopChoice.failWithoutLoop() }
    guard let node = observationToken(in: engine)?.node else { return }
    node.pointee.isHooked = node.kind.changeHooks(of: node) {
      $0.set(hook, of: owner.map(ObjectIdentifier.init))
    }
  }
}
