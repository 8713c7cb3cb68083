import Synchronization

/// The way in which Swift models are observed; there is one instance per model class.
final class ModelKind: NodeKind {
  @exclusivity(unchecked) unowned(unsafe) var properties: ModelProperties!
  private let entries: [ModelProperties.Entry]
  /// The number under which paths remember the answers of this kind.
  private let number = ModelKind.lastNumber.add(1, ordering: .relaxed).newValue
  private static let lastNumber = Atomic<UInt32>(0)

  /// Whether the models are leaves for `**`.
  private let isOpaque: Bool

  init(_ entries: [ModelProperties.Entry], isOpaque: Bool) {
    (self.entries, self.isOpaque) = (entries, isOpaque)
    super.init()
  }

  override func knownSlot(at step: Int, of path: Path, on node: NodeRef) -> SlotRef? {
    // A lazy property may belong to another loop, so it has to be checked each time.
    guard let key = path.answer(at: step, of: number), entries[key].lazy == nil else { return nil }
    return slot(key, of: node)
  }

  override func slot(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> SlotRef {
    switch component.kind {
    case .every:
      if let every = node.pointee.every { return every }
      let every = node.engine.slots.make(on: node, key: -1, isEvery: true)
      ModelObservation.of(node).noteEvery(every)
      // Only lazy properties with a record in the engine notify watchers.
      for key in entries.indices where entries[key].lazy != nil { _ = slot(key, of: node) }
      return every
    case .name, .key:
      let key: Int
      do {
        key = try properties.slot(of: component.name)
      } catch {
        throw PathError(
          .unknownName, path: path.description, component: step + 1, detail: error.description,
          suggestion: error.suggestion)
      }
      path.remember(key, at: step, of: number)
      let slot = slot(key, of: node)
      // A property that one loop computes cannot notify another loop.
      if slot.pointee.lazy == nil, let lazy = entries[key].lazy,
        isAttached(lazy, elsewhereThan: node)
      {
        node.engine.nodes.unobserveWhenIdle(node)
        throw PathError(.otherLoop, path: path.description, component: step + 1)
      }
      return slot
    case .deep, .slot, .element, .member, .operation:
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "\(properties.typeName) has named properties, not '\(component)'")
    }
  }

  func slot(_ key: Int, of node: NodeRef) -> SlotRef {
    ModelObservation.with(node) { observation in
      let known = observation.slot(key)
      let slot = known ?? node.engine.slots.make(on: node, key: key)
      if known == nil { observation.setSlot(key, slot) }
      if let declaration = entries[key].lazy, slot.pointee.lazy == nil {
        observation.withModel(or: ()) { model in
          declaration.storage(model).attach(to: slot, of: model, declaration, in: node.engine)
        }
      }
      return slot
    }
  }

  private func isAttached(_ lazy: LazyDeclaration, elsewhereThan node: NodeRef) -> Bool {
    ModelObservation.with(node) { observation in
      observation.withModel(or: false) { lazy.storage($0).isAttached(elsewhereThan: node.engine) }
    }
  }

  override func child(_ node: NodeRef, at step: Int, of path: Path) -> Child {
    if let key = path.answer(at: step, of: number) { return child(key, of: node) }
    guard let key = try? properties.slot(of: path.components[step].name) else { return .none }
    return child(key, of: node)
  }

  private func child(_ key: Int, of node: NodeRef) -> Child {
    guard let child = entries[key].child else { return .none }
    return ModelObservation.with(node) { observation in
      observation.withModel(or: .none) { model in
        node.pointee.engine._withUnsafeGuaranteedRef { child(model, $0).map(Child.node) ?? .none }
      }
    }
  }

  override func forEachArrival(_ change: Change, _ visit: (NodeRef) -> Void) {
    if !visitArrivals(change, visit) { super.forEachArrival(change, visit) }
  }

  override func forEachChild(_ node: NodeRef, _ visit: (NodeRef) -> Void) {
    // A lazy property is not a member of its object (Z3).
    for key in entries.indices where entries[key].lazy == nil {
      if case .node(let child) = child(key, of: node) { visit(child) }
    }
  }

  override func forEachMember(
    _ node: NodeRef, in scope: MemberScope, _ visit: (Member) -> Bool
  ) {
    for key in entries.indices where entries[key].lazy == nil {
      if scope == .stored, entries[key].isOpaque { continue }
      if case .node(let child) = child(key, of: node) {
        guard visit(Member(value: .object(UnsafeRawPointer(child)), node: child)) else { return }
      }
    }
  }

  override func movesObjects(_ change: Change) -> Bool {
    if let slot = change.slot { return mayHoldObject(slot.pointee.key) }
    guard case .property(let slot)? = change.observedValues?.key else { return true }
    return mayHoldObject(slot)
  }

  override func mayHoldObject(_ slot: Int) -> Bool { entries[slot].child != nil }

  override func isOpaque(_ node: NodeRef) -> Bool { isOpaque }

  override func operand(_ node: NodeRef, at step: Int, of path: Path) -> Operand {
    let key = path.answer(at: step, of: number) ?? (try? properties.slot(of: path.steps[step].name))
    guard let key else { return .none }
    return ModelObservation.with(node) { $0.withModel(or: .none, entries[key].operand) }
  }

  override func object(of node: NodeRef) -> Unmanaged<AnyObject>? {
    ModelObservation.with(node) { $0.reference }
  }

  override func changeHooks(of node: NodeRef, _ change: (inout ObservedHooks) -> Void) -> Bool {
    let observation = ModelObservation.of(node)
    change(&observation.observedHooks)
    return !observation.observedHooks.isEmpty
  }

  override func anchor(_ node: NodeRef) -> Bool {
    ModelObservation.with(node) { $0.retainModel() }
  }

  override func isThere(_ node: NodeRef) -> Bool {
    ModelObservation.with(node) { $0.reference != nil }
  }

  override func release(_ node: NodeRef) { ModelObservation.with(node) { $0.releaseModel() } }

  override func name(of slot: SlotRef) -> String {
    slot.pointee.isEvery ? "*" : properties.names[slot.pointee.key]
  }

  override func title(of node: NodeRef) -> String { properties.typeName }

  override func unknownLazies(of node: NodeRef) -> [(name: String, isValid: Bool)] {
    ModelObservation.with(node) { observation in
      observation.withModel(or: []) { model in
        entries.enumerated().compactMap { slot, entry in
          guard let declaration = entry.lazy, observation.slot(slot) == nil,
            !declaration.storage(model).isAttached(elsewhereThan: node.engine)
          else { return nil }
          return (declaration.name, declaration.storage(model).isValid)
        }
      }
    }
  }

  override func forget(_ slot: SlotRef) {
    let observation = ModelObservation.of(slot.pointee.node)
    if slot.pointee.isEvery {
      observation.noteEvery(nil)
    } else {
      observation.setSlot(slot.pointee.key, nil)
    }
  }

  override func unobserve(_ node: NodeRef) -> Bool {
    // The node may hold the last reference to one of several parts.
    withExtendedLifetime(ModelObservation.of(node)) { $0.detach() }
    return true
  }

  override func observedChanged(_ slot: SlotRef, name: String, isObserved: Bool) {
    let observation = ModelObservation.of(slot.pointee.node)
    // A hook may change the hooks.
    let hooks = observation.observedHooks
    hooks.call(name, isObserved)
    observation.keeper?.observedChanged(isObserved: isObserved)
  }
}

extension ObservableModel {
  /// The node of this model, which is made when it is first observed.
  package func node(in engine: Engine) -> NodeRef {
    let observation = observation
    if let node = observation.node(in: engine) { return node }
    let properties = Self.dynamicProperties(of: self)
    // The node refers to the observation without retaining it.
    precondition(
      properties === Self.dynamicProperties(of: self),
      """
      The properties of \(properties.typeName) are a new list each time: store them in \
      a 'static let', or for a generic class in 'ModelProperties.shared(for:)'
      """)
    return observation.node(of: self, properties.kind, in: engine)
  }

  /// The properties of the instance's dynamic class.
  static func dynamicProperties(of model: Self) -> ModelProperties {
    type(of: model).properties
  }
}
