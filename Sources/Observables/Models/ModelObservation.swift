/// The record of one model's watchers.
///
/// The model holds it in a `let` and reports its writes to it. If the model is not observed, a
/// report costs one load and one comparison. A model is confined to one thread, and all loops of
/// that thread can observe it. A model for several threads uses `ModelObservation(.threadSafe)`.
public final class ModelObservation {
  // Every model has one of these. All fields are in one object, because a second allocation for
  // observed models would cost more than the empty fields cost unobserved ones.

  /// The wants of each slot: first `*`, then the properties.
  ///
  /// An entry is nil if the property is not observed. The pointer is nil while no property is
  /// observed.
  @usableFromInline @exclusivity(unchecked)
  internal var slotWants: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?

  @exclusivity(unchecked) private(set) var currentNode: NodeRef?
  @exclusivity(unchecked) private(set) var engine: Engine?
  @exclusivity(unchecked) private var model: Unmanaged<AnyObject>?
  @usableFromInline var propertyCount = 0
  var observedHooks = ObservedHooks()
  /// The keeper, which is notified when keys are observed, in addition to the hooks.
  // The model owns the keeper as well as the observation.
  package private(set) unowned(unsafe) var keeper: (any ObservationKeeper)?
  /// The observations of the model in the other loops of its thread.
  @exclusivity(unchecked) private var others: [ModelObservation] = []
  @exclusivity(unchecked) private var isDying = false
  /// Collections that properties hold as values, while paths lead into them.
  @exclusivity(unchecked) var heldCollections: [ObjectIdentifier: HeldCollection] = [:]
  /// The observations in each loop, for a model that several threads use.
  @usableFromInline let sharing: ModelSharing?
  /// The model of a part; a part is the observation in one loop of a model that several threads
  /// use.
  @exclusivity(unchecked) private var guarded: GuardedModel?
  /// A reference of a part to itself, for its node: another thread may free the model.
  @exclusivity(unchecked) private var heldByNode: ModelObservation?

  /// Makes an observation for a new model that is confined to the thread of the loops that observe
  /// it.
  public init() { sharing = nil }

  /// Makes an observation for a new model with the given use of threads.
  public init(_ use: ThreadUse) { sharing = use == .threadSafe ? ModelSharing() : nil }

  /// Makes the observation for one of several loops.
  private init(partOf sharing: ModelSharing?) { self.sharing = sharing }

  deinit {
    if let sharing, guarded == nil {
      sharing.end()
    } else if let currentNode, let engine, guarded == nil {
      engine.nodes.end(currentNode)
    }
    slotWants?.deallocate()
  }

  // MARK: Reports

  /// Reports a write to the property in `slot`; equal values are not a change (T5).
  @inlinable @inline(__always)
  public func didSet<Value: Equatable>(_ slot: Int, from old: Value, to new: Value) {
    guard let slotWants else { return assertConfined() }
    let wants = wants(slotWants, slot)
    if wants == 0 { return }
    report(slot, old, new, wants, isSame: isSame(old, new))
  }

  /// Reports a write to the property in `slot`, which holds an object.
  ///
  /// The same object is not a change.
  @inlinable @inline(__always)
  public func didSet<Value: AnyObject>(_ slot: Int, from old: Value?, to new: Value?) {
    guard let slotWants else { return assertConfined() }
    let wants = wants(slotWants, slot)
    if wants == 0 { return }
    report(slot, old, new, wants, isSame: old === new)
  }

  /// Reports a write to the property in `slot`, which holds an object with a custom `==`.
  ///
  /// The same object is not a change. An equal but different object is one, because wiring depends
  /// on identity (P6).
  @inlinable @inline(__always)
  public func didSet<Value: AnyObject & Equatable>(
    _ slot: Int, from old: Value?, to new: Value?
  ) {
    guard let slotWants else { return assertConfined() }
    let wants = wants(slotWants, slot)
    if wants == 0 { return }
    report(slot, old, new, wants, isSame: old === new)
  }

  /// Reports a write to the property in `slot`, whose static type doesn't say how to compare its
  /// values.
  ///
  /// Such a type is a parameter of a generic class, or a protocol. The values are compared by their
  /// dynamic type: objects by identity, others by `==`. If the values cannot be compared, each
  /// write is a change.
  @inlinable @inline(__always)
  @_disfavoredOverload
  public func didSet<Value>(_ slot: Int, from old: Value, to new: Value) {
    guard let slotWants else { return assertConfined() }
    let wants = wants(slotWants, slot)
    if wants == 0 { return }
    report(slot, old, new, wants, isSame: isSameUnknown(old, new))
  }

  @usableFromInline @inline(never)
  func isSameUnknown<Value>(_ old: Value, _ new: Value) -> Bool { isSameValue(old, new) }

  /// Reports a change of the property in `slot` without values.
  public func didChange(_ slot: Int) {
    guard let slotWants, wants(slotWants, slot) != 0 else { return }
    if let node = currentNode, node.pointee.every != nil, self.slot(slot) == nil {
      // A change without values needs a slot, so that it is known which property was written.
      setSlot(slot, node.engine.slots.make(on: node, key: slot))
      node.engine.nodes.unobserveWhenIdle(node)
    }
    reportChange(slot)
  }

  /// Whether a write to the property in `slot` would be reported.
  ///
  /// It is for accessors that need the old value, or have to change a copy, only in this case.
  /// `slot` is evaluated only if something in the model is observed.
  @inlinable @inline(__always)
  public func isObserved(_ slot: @autoclosure () -> Int) -> Bool {
    guard let slotWants else {
      assertConfined()
      return false
    }
    return wants(slotWants, slot()) != 0
  }

  /// Checks that the model is confined: this report would not notify the loops of a model for
  /// several threads.
  @inlinable @inline(__always)
  func assertConfined() {
    assert(
      sharing == nil,
      "A model for several threads must use didSet(_:of:from:to:); a subclass with the macro needs "
        + "@ObservableModel(.threadSafe) too")
  }

  /// The writes that watchers of the property and of `*` want to be notified of; `*` is at index 0.
  @inlinable @inline(__always)
  func wants(
    _ slotWants: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, _ slot: Int
  ) -> UInt8 {
    assert(slot < propertyCount, "The model has no property in slot \(slot)")
    return (slotWants[slot + 1]?.pointee ?? 0) | (slotWants[0]?.pointee ?? 0)
  }

  @inlinable @inline(__always)
  func report<Value>(
    _ slot: Int, _ old: Value, _ new: Value, _ wants: UInt8, isSame: Bool
  ) {
    if wants & wantsValues != 0 {
      reportValues(slot, old, new, wants, isSame: isSame)
    } else if !isSame {
      reportChange(slot)
    }
  }

  /// The wants that need values at hand: `Slot.Wants.values` and `objects`.
  @usableFromInline var wantsValues: UInt8 { @inlinable get { 12 } }

  @usableFromInline @inline(never)
  func reportChange(_ slot: Int) {
    if let node = currentNode {
      node.pointee.engine._withUnsafeGuaranteedRef {
        $0.writes.report(
          Change(
            node: node, slot: self.slot(slot), every: node.pointee.every, isSame: false,
            values: nil))
      }
    }
    for other in others { other.didChange(slot) }
  }

  @usableFromInline @inline(never)
  func reportValues<Value>(
    _ slot: Int, _ old: Value, _ new: Value, _ wants: UInt8, isSame: Bool
  ) {
    if let node = currentNode, wants & Slot.Wants.values == 0, !node.kind.mayHoldObject(slot) {
      if wants & Slot.Wants.changes != 0, !isSame { reportChange(slot) }
      return
    }
    if let node = currentNode, !isSame || wants & Slot.Wants.writes != 0 {
      withUnsafePointer(
        to: ObservedValues(key: .property(slot), old: flattened(old), new: flattened(new))
      ) {
        values in
        node.engine.writes.report(
          Change(
            node: node, slot: self.slot(slot), every: node.pointee.every, isSame: isSame,
            values: UnsafeRawPointer(values)))
      }
    }
    for other in others { other.reportHere(slot, old, new, isSame: isSame) }
  }

  /// Reports a write to one loop, on its thread; does nothing if this write has made a watcher of
  /// another loop end the last watcher of this one.
  func reportHere<Value>(_ slot: Int, _ old: Value, _ new: Value, isSame: Bool) {
    guard let slotWants else { return }
    let wants = wants(slotWants, slot)
    if wants != 0 { report(slot, old, new, wants, isSame: isSame) }
  }

  // MARK: Reads

  /// Notes a read of the property in `slot`, so that a running tracked computation depends on it
  /// (Z10).
  ///
  /// Call it in the getters of properties that tracked properties read. It costs one load while no
  /// tracked computation is running.
  @inline(__always)
  public func access<Model: ObservableModel>(_ slot: Int, of model: Model) {
    if isAnythingTracked { noteRead(slot, of: model) }
  }

  /// Whether a tracked computation is running, so that reads have to be noted.
  @_documentation(visibility: internal)
  @inlinable @inline(__always)
  public static var areReadsNoted: Bool { isAnythingTracked }

  @inline(never)
  private func noteRead(_ slot: Int, of model: some ObservableModel) {
    let known = sharing == nil ? engine : nil
    guard let engine = LoopChoice.trackingEngine(known) else { return }
    guard let node = model.observationToken(in: engine)?.node else { return }
    engine.tracking.noteRead((node.kind as! ModelKind).slot(slot, of: node))
  }

  // MARK: The node

  /// The model itself, or nil if another thread has released it.
  ///
  /// It is used only while a node exists. The node ends before the model does.
  @inline(__always)
  var reference: Unmanaged<AnyObject>? { isGone ? nil : model.unsafelyUnwrapped }

  /// Whether another thread has released the model; if not, the model now lives to the end of the
  /// turn.
  @inline(__always)
  private var isGone: Bool { guarded.map { !$0.hold(in: engine) } ?? false }

  static func of(_ node: NodeRef) -> ModelObservation {
    Unmanaged<ModelObservation>.fromOpaque(node.pointee.object)._withUnsafeGuaranteedRef { $0 }
  }

  @inline(__always)
  static func with<Result>(
    _ node: NodeRef, _ body: (ModelObservation) -> Result
  ) -> Result {
    Unmanaged<ModelObservation>.fromOpaque(node.pointee.object)._withUnsafeGuaranteedRef(body)
  }

  /// The result of `body` for the model, or `none` if the model is gone.
  @inline(__always)
  func withModel<Result>(
    or none: @autoclosure () -> Result, _ body: (AnyObject) -> Result
  ) -> Result {
    if isGone { return none() }
    return model.unsafelyUnwrapped._withUnsafeGuaranteedRef(body)
  }

  /// Retains the model; returns false if another thread has released it.
  func retainModel() -> Bool {
    if let guarded { return guarded.anchor(in: engine) }
    // A write in the `deinit` of a model must not retain it.
    isDying = DyingObjects.contain(model.unsafelyUnwrapped)
    if !isDying { _ = model.unsafelyUnwrapped.retain() }
    return true
  }

  func releaseModel() {
    if let guarded { return guarded.releaseAnchor() }
    if !isDying { model.unsafelyUnwrapped.release() }
  }

  /// The observations of the model in the loops of this thread; loops whose turn is under way come
  /// first.
  var parts: [ModelObservation] {
    let parts = sharing?.partsHere ?? (currentNode == nil ? others : [self] + others)
    if parts.count < 2 { return parts }
    let underWay = LoopsHere().underWay.all.map(\.engine)
    func isUnderWay(_ part: ModelObservation) -> Bool { underWay.contains { $0 === part.engine } }
    return parts.filter(isUnderWay) + parts.filter { !isUnderWay($0) }
  }

  /// The node in the loop whose turn is under way, or in another loop of this thread.
  var existingNode: NodeRef? {
    if sharing == nil, others.isEmpty { return currentNode }
    return parts.first?.currentNode
  }

  /// The places where the loops of this thread observe the model.
  var places: ObservationPlaces {
    if sharing == nil, others.isEmpty {
      guard let currentNode, currentNode.pointee.engine._withUnsafeGuaranteedRef({ $0.isHere })
      else { return .none }
      return .one(ObservationToken(node: currentNode))
    }
    let nodes = parts.compactMap(\.currentNode).filter(\.engine.isHere)
    return switch nodes.count {
    case 0: .none
    case 1: .one(ObservationToken(node: nodes[0]))
    default: .several(nodes.map(ObservationToken.init))
    }
  }

  /// The node, if there is one and it belongs to `engine`.
  @inline(__always)
  func node(in engine: Engine) -> NodeRef? {
    if let currentNode, belongs(currentNode, to: engine) { return currentNode }
    if sharing == nil, others.isEmpty { return nil }
    return part(in: engine)?.currentNode
  }

  /// The observation of the model in the loop of `engine`; nil if that loop does not observe it.
  func part(in engine: Engine) -> ModelObservation? {
    if let currentNode, belongs(currentNode, to: engine) { return self }
    return parts.first { $0.engine === engine }
  }

  @inline(__always)
  private func belongs(_ node: NodeRef, to engine: Engine) -> Bool {
    node.pointee.engine.toOpaque() == Unmanaged.passUnretained(engine).toOpaque()
  }

  /// Whether a model that is not thread-safe is observed in a loop of another thread.
  ///
  /// The thread of `engine` is the current one.
  func isObserved(elsewhereThan engine: Engine) -> Bool {
    guard sharing == nil, let known = self.engine ?? others.first?.engine else { return false }
    return known !== engine && !known.isHere
  }

  /// The node in `engine`, which is made if necessary.
  func node(of object: AnyObject, _ kind: ModelKind, in engine: Engine) -> NodeRef {
    if let node = node(in: engine) { return node }
    if let sharing {
      let part = ModelObservation(partOf: sharing)
      part.guarded = GuardedModel(object)
      part.heldByNode = part
      sharing.add(part, engine)
      return part.begin(object, kind, engine)
    }
    if currentNode == nil { return begin(object, kind, engine) }
    let part = ModelObservation()
    others.append(part)
    slotWants?[0] = ModelObservation.always
    part.whole = self
    return part.begin(object, kind, engine)
  }

  /// Sets the keeper, which ends with the model and is notified when keys are observed; for keys
  /// that are observed already, it is notified at once.
  package func setKeeper(_ keeper: (any ObservationKeeper)?) {
    self.keeper = keeper
    guard let currentNode else { return }
    currentNode.pointee.isKept = keeper != nil
    guard let keeper else { return }
    currentNode.forEachSlot { slot in
      if slot.pointee.count > 0 { keeper.observedChanged(isObserved: true) }
    }
  }

  private func begin(_ object: AnyObject, _ kind: ModelKind, _ engine: Engine) -> NodeRef {
    let node = engine.nodes.make(kind: kind, object: Unmanaged.passUnretained(self).toOpaque())
    currentNode = node
    node.pointee.isKept = keeper != nil
    model = .passUnretained(object)
    self.engine = engine
    propertyCount = kind.properties.entries.count
    if slotWants == nil {
      let table = UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>.allocate(
        capacity: propertyCount + 1)
      table.initialize(repeating: nil, count: propertyCount + 1)
      slotWants = table
    }
    return node
  }

  /// Ends the observation of one of several loops, because the model is gone.
  func end() {
    guard let currentNode, let engine else { return }
    detach()
    engine.nodes.end(currentNode)
  }

  /// Forgets the node, because its loop no longer observes anything of the model.
  func detach() {
    currentNode = nil
    engine = nil
    model = nil
    heldCollections = [:]
    // This may be the object's last reference to itself. The caller holds another one.
    heldByNode = nil
    if let whole {
      whole.others.removeAll { $0 === self }
      whole.forgetWants()
    } else if guarded != nil {
      sharing?.remove(self)
    }
    forgetWants()
  }

  /// Updates the wants: none are left, or only the wants of this loop.
  private func forgetWants() {
    guard others.isEmpty else { return }
    if let currentNode {
      noteEvery(currentNode.pointee.every)
    } else {
      slotWants?.deallocate()
      slotWants = nil
    }
  }

  /// The observation that the model holds, if this one is for another loop.
  private unowned(unsafe) var whole: ModelObservation?

  /// The wants of `*` in a model with several loops: all of them.
  // The memory is never changed.
  private nonisolated(unsafe) static let always = {
    let wants = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
    wants.initialize(to: Slot.Wants.changes | Slot.Wants.values | Slot.Wants.writes)
    return wants
  }()

  /// The slot of a property; its record begins with its `wants`.
  @inline(__always)
  func slot(_ key: Int) -> SlotRef? {
    guard let wants = slotWants?[key + 1] else { return nil }
    return UnsafeMutableRawPointer(wants).assumingMemoryBound(to: Slot.self)
  }

  func setSlot(_ key: Int, _ slot: SlotRef?) {
    slotWants?[key + 1] = slot.map {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: UInt8.self)
    }
  }

  /// Notes the slot of `*`; nil removes it.
  func noteEvery(_ slot: SlotRef?) {
    if !others.isEmpty { return }
    slotWants?[0] = slot.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: UInt8.self) }
  }
}

// An observation is confined to one thread. For a model that several threads use, it holds only
// immutable values and `ModelSharing`, and each of its parts is confined to the thread of its loop.
extension ModelObservation: @unchecked Sendable {}
