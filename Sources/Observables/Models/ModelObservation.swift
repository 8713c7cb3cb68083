import Synchronization

/// What watches one model; the model holds it in a `let` and reports its writes to it.
///
/// Unobserved, a report costs one load and one comparison. Reports are made on the thread of the loop
/// that observes the model; `didSetElsewhere` may be called on any.
public final class ModelObservation {
  /// By property; nil where it is not observed.
  ///
  /// Null while nothing is.
  @usableFromInline @exclusivity(unchecked)
  internal var slotWants: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?

  @exclusivity(unchecked) private var currentNode: NodeRef?
  @exclusivity(unchecked) private var engine: Engine?
  @exclusivity(unchecked) private var model: Unmanaged<AnyObject>?
  @usableFromInline var propertyCount = 0
  package var observedHook: ((_ key: String, _ isObserved: Bool) -> Void)?
  /// Writes made on other threads that the loop has not been told yet.
  private let elsewhere = Mutex(Elsewhere())

  /// An observation for a new model.
  public init() {}

  deinit {
    if let currentNode, let engine { engine.end(currentNode) }
    slotWants?.deallocate()
  }

  // MARK: Reports

  /// The property in `slot` was written; equal values are no change (T5).
  @inlinable @inline(__always)
  public func didSet<Value: Equatable>(_ slot: Int, from old: Value, to new: Value) {
    guard let slotWants else { return }
    let wants = wants(slotWants, slot)
    if wants == 0 { return }
    // NaN equals NaN (T5): two values that don't equal themselves are the same.
    report(slot, old, new, wants, isSame: old == new || (old != old && new != new))
  }

  /// The property in `slot`, which holds an object, was written; the same object is no change.
  @inlinable @inline(__always)
  public func didSet<Value: AnyObject>(_ slot: Int, from old: Value?, to new: Value?) {
    guard let slotWants else { return }
    let wants = wants(slotWants, slot)
    if wants == 0 { return }
    report(slot, old, new, wants, isSame: old === new)
  }

  /// The same for a class with `==` of its own: wiring is decided by identity (P6).
  @inlinable @inline(__always)
  public func didSet<Value: AnyObject & Equatable>(
    _ slot: Int, from old: Value?, to new: Value?
  ) {
    guard let slotWants else { return }
    let wants = wants(slotWants, slot)
    if wants == 0 { return }
    report(slot, old, new, wants, isSame: old === new)
  }

  /// The property in `slot` was written, and its values cannot be compared: each write is a change.
  @inlinable @inline(__always)
  @_disfavoredOverload
  public func didSet<Value>(_ slot: Int, from old: Value, to new: Value) {
    guard let slotWants else { return }
    let wants = wants(slotWants, slot)
    if wants == 0 { return }
    report(slot, old, new, wants, isSame: false)
  }

  /// A property that may have been written on any thread; its value must be safe to read on the
  /// loop's.
  ///
  /// The watchers are called in a turn of their loop, which wakes for it (T8).
  ///
  /// Writes that arrive together are told as one change without values.
  public func didSetElsewhere(_ slot: Int) {
    let inbox: Inbox? = elsewhere.withLock { state in
      guard state.inbox != nil else { return nil }
      state.slots.insert(slot)
      if state.isPosted { return nil }
      state.isPosted = true
      return state.inbox
    }
    inbox?.post { [weak self] in self?.deliverElsewhere() }
  }

  /// What the watchers of the property and of `*`, which comes first, want to hear.
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

  @usableFromInline var wantsValues: UInt8 { @inlinable get { 4 } }

  @usableFromInline @inline(never)
  func reportChange(_ slot: Int) {
    guard let node = currentNode else { return }
    node.pointee.engine._withUnsafeGuaranteedRef {
      $0.written(
        Change(
          node: node, slot: self.slot(slot), every: node.pointee.every, isSame: false, values: nil))
    }
  }

  @usableFromInline @inline(never)
  func reportValues<Value>(
    _ slot: Int, _ old: Value, _ new: Value, _ wants: UInt8, isSame: Bool
  ) {
    guard let node = currentNode else { return }
    if isSame, wants & Slot.Wants.writes == 0 { return }
    withUnsafePointer(
      to: ObservedValues(key: .property(slot), old: flattened(old), new: flattened(new))
    ) {
      values in
      node.engine.written(
        Change(
          node: node, slot: self.slot(slot), every: node.pointee.every, isSame: isSame,
          values: UnsafeRawPointer(values)))
    }
  }

  // MARK: Reads

  /// The property in `slot` is being read: a tracked computation that is running depends on it (Z10).
  ///
  /// To be called by the getters of properties that tracked ones read; costs a load while none is
  /// running.
  @inline(__always)
  public func access<Model: ObservableModel>(_ slot: Int, of model: Model) {
    if isAnythingTracked { noteRead(slot, of: model) }
  }

  @inline(never)
  private func noteRead(_ slot: Int, of model: some ObservableModel) {
    guard let engine = engine ?? Loop.current?.engine, engine.trackingWire != nil else { return }
    let node = model.node(in: engine)
    engine.noteRead((node.kind as! ModelKind).slot(slot, of: node))
  }

  // MARK: The node

  /// The engine that observes the model.

  var existingNode: NodeRef? { currentNode }

  /// The model itself; only asked while a node exists, which ends before the model does.
  @inline(__always)
  var reference: Unmanaged<AnyObject> { model.unsafelyUnwrapped }

  static func of(_ node: NodeRef) -> ModelObservation {
    Unmanaged<ModelObservation>.fromOpaque(node.pointee.object)._withUnsafeGuaranteedRef { $0 }
  }

  @inline(__always)
  static func with<Result>(
    _ node: NodeRef, _ body: (ModelObservation) -> Result
  ) -> Result {
    Unmanaged<ModelObservation>.fromOpaque(node.pointee.object)._withUnsafeGuaranteedRef(body)
  }

  @inline(__always)
  func withModel<Result>(_ body: (AnyObject) -> Result) -> Result {
    model.unsafelyUnwrapped._withUnsafeGuaranteedRef(body)
  }

  @inline(__always) func retainModel() { _ = model.unsafelyUnwrapped.retain() }
  @inline(__always) func releaseModel() { model.unsafelyUnwrapped.release() }

  /// The node, if there is one and it belongs to `engine`.
  @inline(__always)
  func node(in engine: Engine) -> NodeRef? {
    guard let currentNode,
      currentNode.pointee.engine.toOpaque() == Unmanaged.passUnretained(engine).toOpaque()
    else { return nil }
    return currentNode
  }

  func isObserved(byOtherThan engine: Engine) -> Bool {
    self.engine.map { $0 !== engine } ?? false
  }

  func node(of object: AnyObject, _ kind: ModelKind, in engine: Engine) -> NodeRef {
    if let currentNode {
      precondition(
        self.engine === engine,
        "This \(kind.properties.typeName) is observed by another loop already")
      return currentNode
    }
    let node = engine.makeNode(kind: kind, object: Unmanaged.passUnretained(self).toOpaque())
    currentNode = node
    model = .passUnretained(object)
    self.engine = engine
    propertyCount = kind.properties.entries.count
    let table = UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>.allocate(
      capacity: propertyCount + 1)
    table.initialize(repeating: nil, count: propertyCount + 1)
    slotWants = table
    elsewhere.withLock { $0.inbox = engine.inbox }
    return node
  }

  /// Nothing is observed any longer.
  func detach() {
    slotWants?.deallocate()
    slotWants = nil
    currentNode = nil
    engine = nil
    model = nil
    elsewhere.withLock { $0 = Elsewhere() }
  }

  /// The slot of a property: its record begins with its `wants`.
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

  /// The slot of `*` came or went.
  func noteEvery(_ slot: SlotRef?) {
    slotWants?[0] = slot.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: UInt8.self) }
  }

  private func deliverElsewhere() {
    let slots = elsewhere.withLock { state in
      defer { state.slots = [] }
      state.isPosted = false
      return state.slots
    }
    guard let node = currentNode, let engine else { return }
    for slot in slots.sorted() {
      let (record, every) = (self.slot(slot), node.pointee.every)
      if record != nil || every != nil {
        engine.written(Change(node: node, slot: record, every: every, isSame: false, values: nil))
      }
    }
  }
}

// Confined to the loop's thread, but for `didSetElsewhere`, which only touches what the mutex guards.
extension ModelObservation: @unchecked Sendable {}

/// Writes that were made on other threads, on their way to the loop.
private struct Elsewhere {
  var slots: Set<Int> = []
  var isPosted = false
  var inbox: Inbox?
}
