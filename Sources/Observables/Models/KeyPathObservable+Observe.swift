extension KeyPathObservable {
  /// Calls `callback` at the end of each turn in which an element of one of the paths changed.
  ///
  /// ```swift
  /// try user.observe("name", "address.zip") { user in print(user.name) }
  /// ```
  ///
  /// On the loop's thread, at most once per turn (T1), with this object, so that the closure need
  /// not capture it (L6). Ends with ``Watcher/stop()``, or when this object or the observer of the
  /// options is gone; dropping the watcher ends nothing (L1). What the callback throws is reported
  /// to ``Loop/onError``, as a ``WatcherError``, and the watcher stays (T10).
  ///
  /// If no loop is given, it is the one that observes this object already; else the one whose turn
  /// is under way; else the only one of this thread; and on the main thread, where there is none,
  /// ``Loop/main``.
  ///
  /// - Precondition: a loop is given, or exactly one is meant.
  /// - Throws: ``PathError`` for a component that its object cannot have (P9), and for a model that
  ///   several threads use where no loop is on this thread.
  /// - Complexity: O(length of the paths).
  @discardableResult
  public func observe(
    _ path: Path, _ others: Path..., in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self) throws -> Void
  ) throws -> Watcher {
    try observe([path] + others, in: loop, options, file, line, callback)
  }

  /// Starts a task at the end of each turn in which an element of one of the paths changed, and
  /// never two at once.
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
  /// actor that the closure belongs to. It keeps this object and the observer, and the loop goes
  /// on, until it is over. What it throws is reported to ``Loop/onError``, as a ``WatcherError``
  /// (T10). Ending the watcher cancels the task, but for a watcher of one call
  /// (``WatcherOptions/once``). All else is as for a callback that is not `async`.
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
  /// stored (T9), with this object and the change.
  ///
  /// ``ModelChange/path`` is the path on which the change lies. On the loop's thread. The callback
  /// is not re-entered: changes that it makes itself call it again after it returned. Errors, the
  /// loop and the end are as for a coalesced watcher.
  ///
  /// - Precondition: a loop is given, or exactly one is meant.
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

  /// A watcher of this object whose paths `wire` adds; if that throws, no watcher is made.
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
    engine.watchers.forEach(of: node) { record in
      // The dependencies of its lazy properties are no watchers.
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

  /// Where the object is observed, by all loops of this thread.
  private var observationsHere: [ObservationToken] { observationPlaces.tokens }

  /// The nodes of the object in all loops of this thread, with all links up to date.
  var settledNodes: [NodeRef] {
    // A path of the loop may lead here now, though its links are not made yet.
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
