/// Access to a set by key paths.
extension ObservableSet: KeyedAnswering {
  var typeName: String { "a set" }
  var spreadsNames: Bool { true }
  package var valueCount: Int { count }
  var storedValues: Set<Element> { members }

  private func member(_ component: Path.Component) -> Element? {
    component.kind == .member ? names.member(named: component.bytes) : nil
  }

  func slot(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> SlotRef {
    guard let member = member(component) else {
      throw unsupported(
        component, step, path,
        component.kind == .member ? " that it could name" : " (its members are spelled by key(of:))"
      )
    }
    return slots.slot(of: member, on: node)
  }

  func stored(_ component: Path.Component) -> Element? {
    guard let member = member(component), contains(member) else { return nil }
    return member
  }

  func name(of slot: SlotRef) -> String {
    slots.key(of: slot).map { String(decoding: key(of: $0).text, as: UTF8.self) } ?? "?"
  }
}

extension ObservableSet {
  /// Calls `callback` at the end of each turn in which members were added or removed, with those
  /// members (C10).
  ///
  /// The callback runs on the loop's thread, at most once per turn. An edit's `new` is an added
  /// member, and its `old` a removed one. ``WatcherOptions/initial`` delivers all members as new.
  /// Errors that the callback throws are reported to ``Loop/onError`` (T10). The watcher ends with
  /// ``Watcher/stop()``, or when the set is gone.
  ///
  /// - Throws: ``PathError``, as for any registration.
  /// - Complexity: O(1). In each turn, O(operations since the last call).
  @discardableResult
  public func observeEdits(
    in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (ObservableSet, [KeyedEdit<Element, Element>]) throws -> Void
  ) throws -> Watcher {
    var isFirst = options.initial
    return try register(
      in: loop, options, [], file, line,
      { observed, watcher in
        let set = unsafeDowncast(observed, to: ObservableSet.self)
        var edits =
          watcher.takeEdits { set.journal?.edits(since: $0, same: set.traits.same) } ?? []
        if isFirst { edits = set.map { KeyedEdit(key: $0, old: nil, new: $0) } }
        isFirst = false
        try callback(set, edits)
      }
    ) { engine, record in try engine.members.addEdits(to: record) }
  }
}
