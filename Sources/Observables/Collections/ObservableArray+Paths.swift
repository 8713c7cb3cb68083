/// Access to an array by key paths.
extension ObservableArray: PathAnswering {
  /// The index that a component means, in a path of Swift or of a script.
  private func index(_ component: Path.Component, of path: Path) -> Int? {
    switch component.kind {
    case .slot, .element, .key: component.number - path.firstIndex
    default: nil
    }
  }

  private func element(_ component: Path.Component, of path: Path) -> Element? {
    guard let index = index(component, of: path), storage.indices.contains(index) else {
      return nil
    }
    return storage[index]
  }

  var typeName: String { "an array" }
  var spreadsNames: Bool { true }
  package var valueCount: Int { storage.count }

  func slot(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> SlotRef {
    guard let index = index(component, of: path), index >= 0 else {
      throw unsupported(
        component, step, path,
        component.kind == .slot ? " (its slot numbers start at \(path.firstIndex))" : "")
    }
    if let slot = slots[index] { return slot }
    let slot = node.engine.slots.make(on: node, key: index)
    slots[index] = slot
    hasSlots = true
    return slot
  }

  func value(_ component: Path.Component, of path: Path) -> Any? {
    element(component, of: path).flatMap { flattened($0) }
  }

  func child(
    _ component: Path.Component, of path: Path, in engine: Engine
  ) -> NodeRef? {
    element(component, of: path).flatMap { traits.node(of: $0, in: engine) }
  }

  func forEachMember(in engine: Engine, _ visit: (Member) -> Bool) {
    let traits = traits
    for element in storage where !visit(traits.member(element, in: engine)) { return }
  }

  func end(isLast: Bool, in engine: Engine) -> Member? {
    (isLast ? storage.last : storage.first).map { traits.member($0, in: engine) }
  }

  func forEachValue(_ visit: (Any?) throws -> Void) rethrows {
    for element in storage { try visit(flattened(element)) }
  }

  func name(of slot: SlotRef) -> String { "#\(slot.pointee.key)" }
  func forget(_ slot: SlotRef) {
    slots[slot.pointee.key] = nil
    hasSlots = !slots.isEmpty
  }

  // MARK: The object at n (C4)

  func anchorElement(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> Observables.Element {
    guard let index = index(component, of: path), storage.indices.contains(index) else {
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: """
          there is nothing at \(component) of \(storage.count) elements \
          (write '#\(component)' to watch the slot)
          """)
    }
    lastAnchor += 1
    anchors[lastAnchor] = Anchor(element: storage[index], position: index)
    return .object(node.everySlot, anchor: lastAnchor)
  }

  func holds(anchor: Int) -> Bool {
    guard let known = anchors[anchor] else { return false }
    let same = traits.same
    // The element is probably near its last position.
    var (low, high) = (Swift.min(known.position, storage.count - 1), known.position + 1)
    while low >= 0 || high < storage.count {
      if low >= 0, same(storage[low], known.element) {
        anchors[anchor]!.position = low
        return true
      }
      if high < storage.count, same(storage[high], known.element) {
        anchors[anchor]!.position = high
        return true
      }
      low -= 1
      high += 1
    }
    return false
  }

  func child(anchor: Int, in engine: Engine) -> NodeRef? {
    anchors[anchor].flatMap { traits.node(of: $0.element, in: engine) }
  }

  func departure(anchor: Int) -> AnyObject? {
    anchors[anchor].map {
      SavedWrite(
        ModelWrite(
          ObservedValues(key: .index($0.position), old: flattened($0.element), new: nil),
          key: "\($0.position)"))
    }
  }

  // The anchor may hold the last reference to an element, whose `deinit` may read the array.
  func release(anchor: Int) {
    let anchor = anchors.removeValue(forKey: anchor)
    withExtendedLifetime(anchor) {}
  }

  // MARK: The journal

  func beginJournal() { (journal, isJournaling) = (Journal(), true) }
  func endJournal() { (journal, isJournaling) = (nil, false) }
  var journalEnd: Int { journal?.end ?? 0 }
  func trimJournal(before position: Int) {
    let old = journal
    withExtendedLifetime(old) { journal?.trim(before: position) }
  }
  func compactJournal(for readers: [Int]) {
    let old = journal
    withExtendedLifetime(old) { journal?.compact(for: readers, current: { storage }) }
  }

  func forEachMemberChange(
    since position: Int, in engine: Engine, _ visit: (Member, Int) -> Bool
  ) -> Bool {
    guard let journal else { return false }
    let traits = traits
    return journal.forEachMemberChange(since: position) {
      visit(traits.member($0, in: engine), $1)
    }
  }

  func hasEdits(since position: Int) -> Bool {
    journal?.hasEdits(since: position, current: { storage }, same: traits.same) ?? false
  }
}
