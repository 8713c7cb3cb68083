/// What key paths ask of a set.
extension ObservableSet: PathAnswering {
  var typeName: String { "a set" }
  var spreadsNames: Bool { true }
  package var valueCount: Int { count }

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

  func value(_ component: Path.Component, of path: Path) -> Any? {
    guard let member = member(component), contains(member) else { return nil }
    return member
  }

  func child(_ component: Path.Component, of path: Path, in engine: Engine) -> NodeRef? {
    guard let member = member(component), contains(member) else { return nil }
    return traits.node(of: member, in: engine)
  }

  func name(of slot: SlotRef) -> String {
    slots.key(of: slot).map { String(decoding: key(of: $0).text, as: UTF8.self) } ?? "?"
  }

  func forget(_ slot: SlotRef) { slots.forget(slot) }

  func forEachMember(in engine: Engine, _ visit: (Member) -> Void) {
    let traits = traits
    for member in members { visit(traits.member(member, in: engine)) }
  }

  func end(isLast: Bool, in engine: Engine) -> Member? {
    first.map { traits.member($0, in: engine) }
  }

  package func forEachValue(_ visit: (Any?) throws -> Void) rethrows {
    for member in members { try visit(flattened(member)) }
  }

  // MARK: The journal

  func beginJournal() { journal = KeyedJournal() }
  func endJournal() { journal = nil }
  var journalEnd: Int { journal?.end ?? 0 }
  // What is let go of here may be the last of a member, whose `deinit` may look at the collection.
  func trimJournal(before position: Int) {
    let old = journal
    withExtendedLifetime(old) { journal?.trim(before: position) }
  }
  func compactJournal(for readers: [Int]) {
    let old = journal
    withExtendedLifetime(old) { journal?.compact(for: readers, keyCount: count) }
  }

  func forEachMemberChange(
    since position: Int, in engine: Engine, _ visit: (Member, Int) -> Void
  ) -> Bool {
    guard let journal else { return false }
    let traits = traits
    journal.forEachMemberChange(since: position) { visit(traits.member($1, in: engine), $2) }
    return true
  }

  func hasEdits(since position: Int) -> Bool {
    journal?.hasEdits(since: position, same: traits.same) ?? false
  }
}

extension ObservableSet {
  /// Calls `callback` at the end of each turn in which members came or left, with which (C10).
  ///
  /// On the loop's thread, at most once per turn. An edit's `new` is a member that came, its `old`
  /// one that left. ``WatcherOptions/initial`` tells all members as new. Ends with
  /// ``Watcher/stop()``, or when the set is gone.
  ///
  /// - Throws: ``PathError``, as each registration may.
  /// - Complexity: O(1), and in each turn O(operations since the last call).
  @discardableResult
  public func observeEdits(
    in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (ObservableSet, [KeyedEdit<Element, Element>]) -> Void
  ) throws -> Watcher {
    var isFirst = options.initial
    return try register(
      in: loop, nil, options, [], file, line,
      { observed, watcher in
        let set = unsafeDowncast(observed, to: ObservableSet.self)
        var edits =
          watcher.takeEdits { set.journal?.edits(since: $0, same: set.traits.same) } ?? []
        if isFirst { edits = set.map { KeyedEdit(key: $0, old: nil, new: $0) } }
        isFirst = false
        callback(set, edits)
      }
    ) { engine, record in try engine.addEdits(to: record) }
  }
}
