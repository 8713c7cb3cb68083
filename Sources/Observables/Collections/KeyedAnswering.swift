/// Access by key paths to collections whose elements have keys: dictionaries, and sets, whose
/// members are their own keys.
protocol KeyedAnswering: PathAnswering {
  associatedtype Key: Hashable
  associatedtype Value
  associatedtype Values: Sequence<Value>

  var storedValues: Values { get }
  var traits: ElementTraits<Value> { get }
  var slots: KeyedSlots<Key> { get set }
  var journal: KeyedJournal<Key, Value>? { get set }

  /// The value for the key that a component names; nil without a value.
  func stored(_ component: Path.Component) -> Value?
}

extension KeyedAnswering {
  func value(_ component: Path.Component, of path: Path) -> Any? {
    stored(component).flatMap { flattened($0) }
  }

  func child(_ component: Path.Component, of path: Path, in engine: Engine) -> NodeRef? {
    stored(component).flatMap { traits.node(of: $0, in: engine) }
  }

  func forget(_ slot: SlotRef) { slots.forget(slot) }

  func forEachMember(in engine: Engine, _ visit: (Member) -> Bool) {
    let traits = traits
    for value in storedValues where !visit(traits.member(value, in: engine)) { return }
  }

  func end(isLast: Bool, in engine: Engine) -> Member? {
    storedValues.first { _ in true }.map { traits.member($0, in: engine) }
  }

  func forEachValue(_ visit: (Any?) throws -> Void) rethrows {
    for value in storedValues { try visit(flattened(value)) }
  }

  // MARK: The journal

  func beginJournal() { journal = KeyedJournal() }
  func endJournal() { journal = nil }
  var journalEnd: Int { journal?.end ?? 0 }
  // The journal may hold the last reference to a member, whose `deinit` may read the collection.
  func trimJournal(before position: Int) {
    let old = journal
    withExtendedLifetime(old) { journal?.trim(before: position) }
  }
  func compactJournal(for readers: [Int]) {
    let old = journal
    withExtendedLifetime(old) { journal?.compact(for: readers, keyCount: valueCount) }
  }

  func forEachMemberChange(
    since position: Int, in engine: Engine, _ visit: (Member, Int) -> Bool
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
