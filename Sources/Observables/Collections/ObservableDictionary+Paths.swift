/// Access to a dictionary by key paths.
extension ObservableDictionary: KeyedAnswering {
  var typeName: String { "a dictionary" }
  var spreadsNames: Bool { false }
  package var valueCount: Int { count }
  var storedValues: Dictionary<Key, Value>.Values { values }

  /// The key that a component names; nil if the keys are of another type.
  private func key(_ component: Path.Component) -> Key? {
    switch component.kind {
    case .name: component.name as? Key
    case .element: component.name as? Key ?? component.number as? Key
    case .key: component.exact?.base as? Key ?? component.number as? Key ?? component.name as? Key
    case .every, .deep, .slot, .member, .operation: nil
    }
  }

  func slot(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> SlotRef {
    guard let key = key(component) else {
      throw unsupported(component, step, path, " (its keys are of type \(Key.self))")
    }
    return slots.slot(of: key, on: node)
  }

  func stored(_ component: Path.Component) -> Value? { key(component).flatMap { self[$0] } }

  func name(of slot: SlotRef) -> String { slots.key(of: slot).map { "\($0)" } ?? "?" }
}

extension ObservableDictionary {
  /// Calls `callback` at the end of each turn in which a key changed, with the edits since the last
  /// call (C10).
  ///
  /// The callback runs on the loop's thread, at most once per turn. A key is delivered once if its
  /// value differs from the last delivered one. ``WatcherOptions/initial`` delivers all entries as
  /// new. Errors that the callback throws are reported to ``Loop/onError`` (T10). The watcher ends
  /// with ``Watcher/stop()``, or when the dictionary is gone.
  ///
  /// - Throws: ``PathError``, as for any registration.
  /// - Complexity: O(1). In each turn, O(operations since the last call).
  @discardableResult
  public func observeEdits(
    in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (ObservableDictionary, [KeyedEdit<Key, Value>]) throws -> Void
  ) throws -> Watcher {
    var isFirst = options.initial
    return try register(
      in: loop, options, [], file, line,
      { observed, watcher in
        let dictionary = unsafeDowncast(observed, to: ObservableDictionary.self)
        var edits =
          watcher.takeEdits {
            dictionary.journal?.edits(since: $0, same: dictionary.traits.same)
          } ?? []
        if isFirst {
          edits = dictionary.map { KeyedEdit(key: $0.key, old: nil, new: $0.value) }
        }
        isFirst = false
        try callback(dictionary, edits)
      }
    ) { engine, record in try engine.members.addEdits(to: record) }
  }

  /// Calls `callback` at the end of a turn for each of `keys` whose value changed, with the old and
  /// the new value.
  ///
  /// The comparison is with the value that was delivered last. The calls are in the order of
  /// `keys`, on the loop's thread, once per turn and key. ``WatcherOptions/initial`` delivers
  /// existing keys as new. An error that the callback throws for a key is reported to
  /// ``Loop/onError``, and the other keys are still delivered. The watcher ends with
  /// ``Watcher/stop()``, or when the dictionary is gone.
  ///
  /// - Precondition: `keys` is not empty.
  /// - Throws: ``PathError``, as for any registration, but never for a key.
  /// - Complexity: O(keys), now and in each turn in which one of them changed.
  @discardableResult
  public func observeKeys(
    _ keys: [Key], in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback:
      @escaping (_ key: Key, _ old: Value?, _ new: Value?, ObservableDictionary) throws -> Void
  ) throws -> Watcher where Key: Sendable {
    precondition(!keys.isEmpty, "At least one key is needed")
    var last = options.initial ? [:] : values(of: keys)
    return try register(
      in: loop, options, [], file, line,
      { observed, watcher in
        let dictionary = unsafeDowncast(observed, to: ObservableDictionary.self)
        let (before, same) = (last, dictionary.traits.same)
        last = dictionary.values(of: keys)
        let now = last
        for key in keys {
          switch (before[key], now[key]) {
          case (nil, nil): continue
          case (let old?, let new?) where same(old, new): continue
          case (let old, let new):
            // An error for one key doesn't affect the others.
            do { try callback(key, old, new, dictionary) } catch { watcher.report(error) }
          }
          // No call is made after the watcher was stopped (T7).
          if !watcher.isActive { return }
        }
      }
    ) { engine, record in
      for key in keys { try engine.wiring.add(Path(.key(key)), to: record) }
    }
  }

  private func values(of keys: [Key]) -> [Key: Value] {
    var values: [Key: Value] = [:]
    for key in keys { values[key] = self[key] }
    return values
  }
}
