/// Access by key paths: properties by name.
extension DictionaryModel: PathAnswering {
  var typeName: String { "a DictionaryModel" }
  var spreadsNames: Bool { false }
  package var valueCount: Int { loaded.count }

  /// A property may have the name 'count'; `@count` is the number of properties with a value.
  func isSize(_ component: Path.Component) -> Bool {
    component.isCount && component.kind == .operation
  }

  private func name(_ component: Path.Component) -> String? {
    switch component.kind {
    case .name, .element: component.name
    case .key: component.exact?.base as? String
    case .every, .deep, .slot, .member, .operation: nil
    }
  }

  func slot(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> SlotRef {
    guard let name = name(component) else { throw unsupported(component, step, path) }
    return slot(of: name, on: node)
  }

  func value(_ component: Path.Component, of path: Path) -> Any? {
    name(component).flatMap { self[$0] }.flatMap { flattened($0) }
  }

  func child(_ component: Path.Component, of path: Path, in engine: Engine) -> NodeRef? {
    name(component).flatMap { self[$0] }.flatMap { traits.node(of: $0, in: engine) }
  }

  func name(of slot: SlotRef) -> String { slots.key(of: slot) ?? "?" }
  func forget(_ slot: SlotRef) { slots.forget(slot) }

  func forEachMember(in engine: Engine, _ visit: (Member) -> Bool) {
    for (_, value) in loaded where !visit(traits.member(value, in: engine)) { return }
  }

  func end(isLast: Bool, in engine: Engine) -> Member? {
    (isLast ? loaded.last : loaded.first).map { traits.member($0.value, in: engine) }
  }

  func forEachValue(_ visit: (Any?) throws -> Void) rethrows {
    for (_, value) in loaded { try visit(flattened(value)) }
  }

  // There is no journal: readers compare all members after each change.
  func beginJournal() {}
  func endJournal() {}
  var journalEnd: Int { 0 }
  func trimJournal(before position: Int) {}
  func compactJournal(for readers: [Int]) {}
  func forEachMemberChange(
    since position: Int, in engine: Engine, _ visit: (Member, Int) -> Bool
  ) -> Bool { false }
  func hasEdits(since position: Int) -> Bool { false }
}
