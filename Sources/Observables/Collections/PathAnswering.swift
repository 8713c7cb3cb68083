/// Access to a collection by key paths; `CollectionKind` forwards the engine's requests.
protocol PathAnswering: ObservableCollection, PathReadable {
  /// The name of the type in messages.
  var typeName: String { get }
  /// Whether a name is looked up on each element (C8).
  var spreadsNames: Bool { get }
  /// Whether a component means the size.
  func isSize(_ component: Path.Component) -> Bool

  /// The slot of a component that means one key.
  func slot(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> SlotRef
  /// The value of a component that means one key.
  func value(_ component: Path.Component, of path: Path) -> Any?
  /// The node of the object at a component; nil without an object.
  func child(_ component: Path.Component, of path: Path, in engine: Engine) -> NodeRef?
  func name(of slot: SlotRef) -> String
  func forget(_ slot: SlotRef)

  func forEachMember(in engine: Engine, _ visit: (Member) -> Bool)
  func end(isLast: Bool, in engine: Engine) -> Member?

  // These methods are for objects that digits follow (C4).
  func anchorElement(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> Observables.Element
  func holds(anchor: Int) -> Bool
  func child(anchor: Int, in engine: Engine) -> NodeRef?
  func departure(anchor: Int) -> AnyObject?
  func release(anchor: Int)

  // These methods are for the journal of members.
  func beginJournal()
  func endJournal()
  var journalEnd: Int { get }
  func trimJournal(before position: Int)
  func compactJournal(for readers: [Int])
  func forEachMemberChange(
    since position: Int, in engine: Engine, _ visit: (Member, Int) -> Bool
  ) -> Bool
  func hasEdits(since position: Int) -> Bool
}

/// Collections without an order don't follow objects by digits.
extension PathAnswering {
  func anchorElement(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> Observables.Element {
    .key(try slot(component, at: step, of: path, on: node))
  }
  func holds(anchor: Int) -> Bool { true }
  func child(anchor: Int, in engine: Engine) -> NodeRef? { nil }
  func departure(anchor: Int) -> AnyObject? { nil }
  func release(anchor: Int) {}

  func unsupported(
    _ component: Path.Component, _ step: Int, _ path: Path, _ hint: String = ""
  ) -> PathError {
    PathError(
      .unsupported, path: path.description, component: step + 1,
      detail: "\(typeName) has no '\(component)'\(hint)")
  }

  /// Whether a component means the size: `count` and `@count`.
  func isSize(_ component: Path.Component) -> Bool {
    component.isCount && (component.kind == .name || component.kind == .operation)
  }

  // MARK: Reading along a path

  func read(_ component: Path.Component, at step: Int, of path: Path) throws -> Any? {
    isSize(component) ? valueCount : value(component, of: path)
  }

  func spreads(_ component: Path.Component) -> Bool {
    spreadsNames && component.kind == .name && !component.isCount
  }
}
