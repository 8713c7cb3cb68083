/// The way in which Swift collections are observed: each collection answers the engine's requests
/// itself.
final class CollectionKind: NodeKind {
  // The kind has no state, and the collections that it asks are confined to their loops.
  nonisolated(unsafe) static let shared = CollectionKind()

  @inline(__always)
  private func with<Result>(
    _ node: NodeRef, _ body: (any PathAnswering) throws -> Result
  ) rethrows -> Result {
    try Unmanaged<ObservableCollection>.fromOpaque(node.pointee.object)
      ._withUnsafeGuaranteedRef { try body($0.answering) }
  }

  override func slot(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> SlotRef {
    try with(node) { collection in
      let isWhole =
        component.kind == .every || component.kind == .operation || collection.isSize(component)
        || collection.spreads(component)
      if isWhole { return node.everySlot }
      return try collection.slot(component, at: step, of: path, on: node)
    }
  }

  override func child(_ node: NodeRef, at step: Int, of path: Path) -> Child {
    with(node) { collection in
      let component = path.steps[step]
      if collection.isSize(component) { return .none }
      return collection.child(component, of: path, in: node.engine).map(Child.node) ?? .none
    }
  }

  override func operand(_ node: NodeRef, at step: Int, of path: Path) -> Operand {
    with(node) { Operand(of: $0.value(path.steps[step], of: path)) }
  }

  override func derivedValue(_ component: Path.Component, of node: NodeRef) -> Int? {
    with(node) { $0.isSize(component) ? $0.valueCount : nil }
  }

  // MARK: Elements

  override func element(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> Element {
    try with(node) { try $0.anchorElement(component, at: step, of: path, on: node) }
  }

  override func holds(_ anchor: Int, in node: NodeRef) -> Bool {
    with(node) { $0.holds(anchor: anchor) }
  }

  override func child(of anchor: Int, in node: NodeRef) -> Child {
    with(node) { $0.child(anchor: anchor, in: node.engine).map(Child.node) ?? .none }
  }

  override func departure(
    _ anchor: Int, at step: Int, of path: Path, from node: NodeRef
  ) -> AnyObject? {
    with(node) { $0.departure(anchor: anchor) }
  }

  override func releaseElement(_ anchor: Int, of node: NodeRef) {
    with(node) { $0.release(anchor: anchor) }
  }

  // MARK: Members

  override func spreads(_ component: Path.Component, over node: NodeRef) -> Bool {
    with(node) { $0.spreads(component) }
  }

  override func forEachMember(
    _ node: NodeRef, in scope: MemberScope, _ visit: (Member) -> Bool
  ) {
    with(node) { $0.forEachMember(in: node.engine, visit) }
  }

  override func forEachArrival(_ change: Change, _ visit: (NodeRef) -> Void) {
    if !visitArrivals(change, visit) { super.forEachArrival(change, visit) }
  }

  override func forEachChild(_ node: NodeRef, _ visit: (NodeRef) -> Void) {
    with(node) { collection in
      collection.forEachMember(in: node.engine) { member in
        if let node = member.node { visit(node) }
        return true
      }
    }
  }

  override func element(atEnd isLast: Bool, of node: NodeRef) -> Member? {
    with(node) { $0.end(isLast: isLast, in: node.engine) }
  }

  override func beginJournal(of node: NodeRef) -> Bool {
    with(node) { $0.beginJournal() }
    return true
  }

  override func endJournal(of node: NodeRef) { with(node) { $0.endJournal() } }

  override func journalEnd(of node: NodeRef) -> Int { with(node) { $0.journalEnd } }

  override func trimJournal(of node: NodeRef, before position: Int) {
    with(node) { $0.trimJournal(before: position) }
  }

  override func compactJournal(of node: NodeRef, for readers: [Int]) {
    with(node) { $0.compactJournal(for: readers) }
  }

  override func forEachMemberChange(
    _ node: NodeRef, in scope: MemberScope, since position: Int,
    _ visit: (_ member: Member, _ count: Int) -> Bool
  ) -> Bool {
    with(node) { $0.forEachMemberChange(since: position, in: node.engine, visit) }
  }

  override func hasEdits(_ node: NodeRef, since position: Int) -> Bool {
    with(node) { $0.hasEdits(since: position) }
  }

  // MARK: The object

  override func object(of node: NodeRef) -> Unmanaged<AnyObject>? {
    Unmanaged<AnyObject>.fromOpaque(node.pointee.object)
  }

  override func changeHooks(of node: NodeRef, _ change: (inout ObservedHooks) -> Void) -> Bool {
    with(node) {
      change(&$0.observedHooks)
      return !$0.observedHooks.isEmpty
    }
  }

  override func anchor(_ node: NodeRef) -> Bool {
    _ = Unmanaged<AnyObject>.fromOpaque(node.pointee.object).retain()
    return true
  }

  override func release(_ node: NodeRef) {
    Unmanaged<AnyObject>.fromOpaque(node.pointee.object).release()
  }

  override func name(of slot: SlotRef) -> String {
    slot.pointee.isEvery ? "*" : with(slot.pointee.node) { $0.name(of: slot) }
  }

  override func observedObjects(
    at slot: SlotRef, firstIndex: Int
  ) -> [(key: String?, node: NodeRef)] {
    guard slot.pointee.isEvery,
      let collection = object(of: slot.pointee.node)?.takeUnretainedValue()
        as? any DynamicCollection
    else { return [] }
    let set = collection as? any DynamicSet
    return collection.dynamicEntries.compactMap { key, value in
      guard let node = (value as? any KeyPathObservable)?.currentNode(in: slot.pointee.node.engine)
      else {
        return nil
      }
      if collection is any DynamicArray, let index = key as? Int {
        return ("#\(index + firstIndex)", node)
      }
      return (set?.dynamicName(of: key) ?? "\(key)", node)
    }
  }

  override func forget(_ slot: SlotRef) {
    if !slot.pointee.isEvery { with(slot.pointee.node) { $0.forget(slot) } }
  }

  override func unobserve(_ node: NodeRef) -> Bool {
    with(node) { $0.detach() }
    return true
  }

  override func observedChanged(_ slot: SlotRef, name: String, isObserved: Bool) {
    // A hook may change the hooks.
    let hooks = with(slot.pointee.node) { $0.observedHooks }
    hooks.call(name, isObserved)
  }
}

extension NodeRef {
  /// The slot of a collection's `*`, which is made if necessary.
  var everySlot: SlotRef {
    pointee.every ?? engine.slots.make(on: self, key: -1, isEvery: true)
  }
}
