extension KeyPathObservable {
  /// Calls `callback` at the end of each turn in which an element of one of the paths changed.
  ///
  /// ```swift
  /// try user.observe("name", "address.zip") { user in print(user.name) }
  /// ```
  ///
  /// The callback runs on the loop's thread, at most once per turn (T1). Its argument is this
  /// object, so the closure doesn't have to capture it (L6). Errors that it throws are reported to
  /// ``Loop/onError`` as a ``WatcherError``, and the watcher stays active (T10). The watcher ends
  /// with ``Watcher/stop()``, or when this object or the observer in the options is gone. Dropping
  /// the returned watcher doesn't end it (L1).
  ///
  /// If you pass no loop, the first of these is used: the loop that already observes this object,
  /// the loop whose turn is under way, the only loop of this thread, and, on the main queue without
  /// a loop, ``Loop/main``.
  ///
  /// - Precondition: a loop is given, or these rules select exactly one.
  /// - Throws: ``PathError`` for a component that its object cannot have (P9), and for a model that
  ///   several threads use if this thread has no loop.
  /// - Complexity: O(length of the paths).
  @discardableResult
  public func observe(
    _ path: Path, _ others: Path..., in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self) throws -> Void
  ) throws -> Watcher {
    try observe([path] + others, in: loop, options, file, line, callback)
  }

  /// Starts a task at the end of each turn in which an element of one of the paths changed.
  ///
  /// ```swift
  /// try document.observe("text") { document in
  ///   try await Task.sleep(for: .seconds(1))
  ///   try await upload(document.text)
  /// }
  /// ```
  ///
  /// Two tasks never run at once. If something changes while a task runs, another task starts when
  /// it ends and reads the latest state. The task runs on the loop's thread, with each part between
  /// two `await`s in a separate turn, or on the actor that the closure is isolated to. Until it
  /// ends, it retains this object and the observer, and keeps the loop running. Errors that it
  /// throws are reported to ``Loop/onError`` as a ``WatcherError`` (T10). Ending the watcher
  /// cancels the task, unless the watcher was to be called once (``WatcherOptions/once``).
  /// Everything else is as for a callback that is not `async`.
  ///
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  /// - Complexity: O(length of the paths).
  @discardableResult
  public func observe(
    _ path: Path, _ others: Path..., in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self) async throws -> Void
  ) throws -> Watcher {
    try observe([path] + others, in: loop, options, file, line, callback)
  }

  /// Calls `callback` inside each write to an element of one of the paths, after the value is
  /// stored (T9).
  ///
  /// The callback runs on the loop's thread and receives this object and the change.
  /// ``ModelChange/path`` is the path on which the change lies. The callback is not re-entered: if
  /// it makes changes itself, it is called again after it has returned. Errors, the choice of the
  /// loop and the end of the watcher are as for a coalesced watcher.
  ///
  /// - Precondition: a loop is given, or the rules for coalesced watchers select exactly one.
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  /// - Complexity: O(length of the paths).
  @discardableResult
  public func observeImmediately(
    _ path: Path, _ others: Path..., in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, ModelChange) throws -> Void
  ) throws -> Watcher {
    try observeImmediately([path] + others, in: loop, options, file, line, callback)
  }

  func observe(
    _ paths: [Path], in loop: Loop?, _ options: WatcherOptions, _ file: StaticString,
    _ line: UInt, _ callback: @escaping (Self) throws -> Void
  ) throws -> Watcher {
    try register(
      in: loop, options, [], file, line,
      { observed, _ in try callback(unsafeDowncast(observed, to: Self.self)) }
    ) { engine, record in try engine.wiring.add(paths, to: record) }
  }

  func observe(
    _ paths: [Path], in loop: Loop?, _ options: WatcherOptions, _ file: StaticString,
    _ line: UInt, _ callback: @escaping (Self) async throws -> Void
  ) throws -> Watcher {
    let engine = try engine(of: loop)
    let tasks = CallbackTasks(in: engine, options)
    return try register(
      in: engine.inbox.loop, options, [], file, line,
      { observed, watcher in
        let observed = unsafeDowncast(observed, to: Self.self)
        tasks.start(for: watcher) { try await callback(observed) }
      }
    ) { engine, record in try engine.wiring.add(paths, to: record) }
  }

  func observeImmediately(
    _ paths: [Path], in loop: Loop?, _ options: WatcherOptions, _ file: StaticString,
    _ line: UInt, _ callback: @escaping (Self, ModelChange) throws -> Void
  ) throws -> Watcher {
    try register(
      in: loop, options, .immediate, file, line, { _, _ in },
      { watcher, change in
        // Another thread may just have released the object.
        guard let observed = watcher.observed else { return }
        try callback(unsafeDowncast(observed, to: Self.self), change)
      }
    ) { engine, record in try engine.wiring.add(paths, to: record) }
  }

  /// Registers a watcher of this object and calls `wire` to add its paths; if `wire` throws, there
  /// is no watcher.
  func register(
    in loop: Loop?, _ options: WatcherOptions, _ extra: WatcherRecord.Traits,
    _ file: StaticString, _ line: UInt,
    _ body: @escaping ModelWatcher.Body, _ changeBody: ModelWatcher.ChangeBody? = nil,
    _ wire: (Engine, WatcherRef) throws -> Void
  ) throws -> Watcher {
    let engine = try engine(of: loop)
    let watcher = ModelWatcher(
      .init(engine, options, file, line), body: body, changeBody: changeBody)
    guard let root = observationToken(in: engine)?.node else {
      engine.wiring.hasMetForeign = false
      throw PathError(.otherLoop, path: "", component: 1)
    }
    let record = engine.watchers.make(
      root: root, receiver: watcher, traits: options.traits.union(extra))
    watcher.begin(record)
    do {
      try wire(engine, record)
    } catch {
      watcher.stop()
      throw error
    }
    if options.initial, watcher.isActive { engine.delivery.schedule(record) }
    if !engine.hooks.isEmpty { engine.hooks.run() }
    return watcher
  }

  /// Ends watchers of this object, or removes one path from them (L5).
  ///
  /// Without arguments, it ends all watchers of this object. With an observer, only that observer's
  /// watchers are considered. With a path, only that path is removed, and a watcher ends with its
  /// last path. Does nothing if no watcher matches.
  ///
  /// - Returns: the number of (watcher, path) pairs that ended.
  /// - Complexity: O(watchers of this object).
  @discardableResult
  public func stopObserving(_ path: Path? = nil, observer: AnyObject? = nil) -> Int {
    observationsHere.reduce(0) { $0 + stopWatchers(of: $1.node, path, observer) }
  }

  /// Removes several paths from the watchers of this object, or from an observer's watchers (L5).
  ///
  /// A watcher ends with its last path. Does nothing if no watcher matches, or if `paths` is empty.
  ///
  /// - Returns: the number of (watcher, path) pairs that ended.
  /// - Complexity: O(paths · watchers of this object).
  @discardableResult
  public func stopObserving(_ paths: [Path], observer: AnyObject? = nil) -> Int {
    paths.reduce(0) { $0 + stopObserving($1, observer: observer) }
  }

  private func stopWatchers(of node: NodeRef, _ path: Path?, _ observer: AnyObject?) -> Int {
    let engine = node.engine
    var count = 0
    engine.watchers.forEach(of: node) { record in
      // The dependencies of a lazy property are not watchers of the program.
      if record.pointee.traits.contains(.lazy) { return }
      if let observer {
        guard let watcher = record.pointee.receiver.takeUnretainedValue() as? Watcher,
          watcher.observing === observer
        else { return }
      }
      if let path {
        // The watcher ends with its last path.
        while record.pointee.isActive, engine.wiring.remove(path, from: record) { count += 1 }
      } else {
        count += engine.watchers.stop(record)
      }
    }
    engine.hooks.run()
    return count
  }

  /// The places where the loops of this thread observe the object.
  private var observationsHere: [ObservationToken] { observationPlaces.tokens }

  /// The object's nodes in all loops of this thread, with all links up to date.
  var settledNodes: [NodeRef] {
    // A path of the loop may lead here without its links being made yet.
    for engine in observationsHere.map(\.node.engine) + LoopsHere().all.map(\.engine) {
      engine.wiring.settleAll()
      engine.watchers.stopOrphans()
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

  /// Counts the paths that pass through `key` of this object (W1).
  public func observerCount(of key: String) -> Int {
    var count = 0
    for node in settledNodes {
      node.forEachSlot { slot in
        if node.kind.name(of: slot) == key { count += Int(slot.pointee.count) }
      }
    }
    return count
  }

  /// Sets a hook that is called when a key gets its first watcher and when it loses its last one
  /// (W1).
  ///
  /// The hook is called on the loop's thread, after the registration is complete. It replaces an
  /// earlier hook; nil removes it. The loop is chosen as for `observe`.
  ///
  /// - Precondition: this thread has such a loop.
  public func onObserved(
    in loop: Loop? = nil, _ hook: ((_ key: String, _ isObserved: Bool) -> Void)?
  ) {
    onObserved(by: nil, in: loop, hook)
  }

  /// Does the same as `onObserved(in:_:)` for a host of scripts, which sets a separate hook.
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
