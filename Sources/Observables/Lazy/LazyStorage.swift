import Synchronization

/// The part of a model's lazy property that does not depend on its type: its declaration, and its
/// record in the engine.
///
/// The property has a record once it is observed or depends on something.
public class LazyStorage: ObservationCore.Receiver {
  // Each lazy property of each model has one of these, so all fields are in one object.

  @exclusivity(unchecked) private final var record: WatcherRef?
  @exclusivity(unchecked) private final var owner: Unmanaged<AnyObject>?
  @exclusivity(unchecked) private final var known: LazyDeclaration?
  /// A second reference to the declaration, for code in which reference counting would cost too
  /// much.
  @exclusivity(unchecked) private final var knownReference: Unmanaged<LazyDeclaration>?
  @exclusivity(unchecked) private final var engineReference: Unmanaged<Engine>?
  /// The address of the engine that computes the property, or 0; loops of several threads may
  /// observe its model.
  private final let claim = Atomic<UInt>(0)
  /// Whether `owner` and the declaration are set; they never change after that.
  private final let isBound = Atomic(false)
  /// The lock for binding any property; binding one may try to bind it again.
  private static let bindingLock = RecursiveLock()
  /// Whether the value is up to date; it points into the slot, or, without a record, to one of two
  /// constants.
  @usableFromInline @exclusivity(unchecked) final var validity = LazyStorage.invalid
  /// Points to a nonzero number if a read may have to be noted: the number of the running tracked
  /// computation, or, without a record, a constant.
  @usableFromInline @exclusivity(unchecked) final var trackingStamp = LazyStorage.unknownStamp
  @exclusivity(unchecked) private final var isRunning = false
  @exclusivity(unchecked) private final var hasResult = false
  @exclusivity(unchecked) private final var loadedResult: Computation?
  /// The reason why the last computation failed.
  @exclusivity(unchecked) private final var failure: (any Error)?

  /// Makes an unbound property, for `Lazy`.
  init(unbound: Void) { super.init() }

  private static let constants = {
    let constants = UnsafeMutablePointer<Bool>.allocate(capacity: 2)
    constants[0] = false
    constants[1] = true
    return UInt(bitPattern: constants)
  }()
  private static var invalid: UnsafePointer<Bool> { UnsafePointer(bitPattern: constants)! }
  private static var valid: UnsafePointer<Bool> { invalid + 1 }
  private static let unknownStampAddress = {
    let stamp = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    stamp.pointee = 1
    return UInt(bitPattern: stamp)
  }()
  private static var unknownStamp: UnsafePointer<UInt32> {
    UnsafePointer(bitPattern: unknownStampAddress)!
  }

  final var isValid: Bool { validity.pointee }

  /// Makes the next read compute the value again; the caller keeps the model alive.
  final func invalidate() {
    attachIfHeard()
    guard let record else {
      validity = LazyStorage.invalid
      return
    }
    engine!.lazies.invalidate(explicitly: record)
  }

  // MARK: Declaration

  final var declaration: LazyDeclaration {
    guard let known else {
      preconditionFailure("A lazy property is used before its model knows it")
    }
    return known
  }

  /// The slot of the property in its model.
  final var slotIndex: Int { declaration.slot }

  /// Finds the declaration of the property.
  @usableFromInline
  final func bind(to object: some ObservableModel) {
    if isBound.load(ordering: .acquiring) { return }
    LazyStorage.bindingLock.lock()
    defer { LazyStorage.bindingLock.unlock() }
    if owner != nil { return }
    owner = .passUnretained(object)
    let properties = type(of: object).properties
    guard let entry = properties.entries.first(where: { $0.lazy?.storage(object) === self }) else {
      preconditionFailure(
        "\(properties.typeName) has a lazy property that its 'properties' do not declare")
    }
    know(entry.lazy!)
  }

  /// Binds the property to a known declaration.
  final func bind(to object: AnyObject, _ declaration: LazyDeclaration) {
    if isBound.load(ordering: .acquiring) { return }
    LazyStorage.bindingLock.lock()
    defer { LazyStorage.bindingLock.unlock() }
    owner = .passUnretained(object)
    know(declaration)
  }

  private final func know(_ declaration: LazyDeclaration) {
    if isBound.load(ordering: .relaxed) { return }
    (known, knownReference) = (declaration, .passUnretained(declaration))
    isBound.store(true, ordering: .releasing)
  }

  private final var model: AnyObject? { owner?.takeUnretainedValue() }

  // MARK: The record

  private final var engine: Engine? {
    engineReference.map { $0._withUnsafeGuaranteedRef { $0 } }
  }

  /// Makes the record of the property, because its key is observed or read by a tracked
  /// computation; does nothing if another loop computes the property.
  final func attach(
    to slot: SlotRef, of object: AnyObject, _ declaration: LazyDeclaration, in engine: Engine
  ) {
    if !isClaimed(by: engine) { return }
    bind(to: object, declaration)
    attach(to: slot, in: engine)
  }

  private final func isClaimed(by engine: Engine) -> Bool {
    let address = address(of: engine)
    let claimed = claim.compareExchange(
      expected: 0, desired: address, ordering: .acquiringAndReleasing)
    return claimed.exchanged || claimed.original == address
  }

  /// Makes the record of a property that is bound already.
  final func attach(to slot: SlotRef, in engine: Engine) {
    guard record == nil, isClaimed(by: engine) else { return }
    let hasValue = validity.pointee
    engineReference = .passUnretained(engine)
    let record = engine.lazies.make(
      slot, receiver: self, traits: declaration.traits, isKnown: hasValue)
    self.record = record
    validity = slot.validity
    trackingStamp = UnsafePointer(engine.tracking.stamp)
    if hasValue, !declaration.traits.contains(.uncached) {
      engine.lazies.overridden(record, .same, isAdopted: true)
    }
  }

  /// Whether another loop computes the property.
  final func isAttached(elsewhereThan engine: Engine) -> Bool {
    let claim = claim.load(ordering: .relaxed)
    return claim != 0 && claim != address(of: engine)
  }

  private final func address(of engine: Engine) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(engine).toOpaque())
  }

  /// Makes the record if the property needs one: to be notified of its dependencies, or because all
  /// properties of its object are watched.
  final func attachIfHeard() {
    guard record == nil, let model = model as? any ObservableModel else { return }
    let node = model.existingObservation?.existingNode
    guard declaration.isDependent || node?.pointee.every != nil,
      let engine = node?.engine ?? model.observation.keeper?.loop?.engine
        ?? LoopChoice.engineForReading
    else { return }
    model.attachLazy(slotIndex, in: engine)
  }

  /// Notes that the running tracked computation has read the property.
  @usableFromInline @inline(never)
  final func noteRead() {
    if !isAnythingTracked { return }
    if let slot = record?.slot {
      engineReference?._withUnsafeGuaranteedRef { $0.tracking.noteRead(slot) }
    } else if let model = model as? any ObservableModel {
      model.access(slotIndex)
    }
  }

  /// Prepares for the replacement of the current value.
  @usableFromInline
  final func beginReplacing() -> (isFlawed: Bool, isBased: Bool, keepsBase: Bool) {
    guard let record, let engine else { return (false, false, false) }
    if record.isFlawed {
      return (true, false, false)
    }
    engine.deliveredValues.willReplaceValue(of: record)
    if record.hasBase { return (false, true, false) }
    return (false, false, engine.deliveredValues.shouldKeepBase(of: record))
  }

  // MARK: Computing

  func anyValue() throws -> Any? { nil }
  var anyPeek: Any? { nil }

  /// Makes the value valid.
  final func update() throws {
    attachIfHeard()
    if isRunning {
      // The loader of the property may have stored the value already.
      if loadedResult != nil { return }
      throw LazyError.cycle(names: cycle)
    }
    guard let record, let engine, !declaration.traits.contains(.uncached) else {
      _ = try withExtendedLifetime(model) { try runDirectly() }
      if record == nil { validity = isKept ? LazyStorage.valid : LazyStorage.invalid }
      return
    }
    hasResult = false
    // The value was computed even if the object did not survive its getter.
    if engine.settling.settle(record) || (hasResult && self.record == nil) { return }
    guard let failure else { throw LazyError.cycle(names: engine.lazies.cycle(to: record)) }
    throw failure
  }

  /// Whether the value is kept for the next read.
  private final var isKept: Bool {
    !declaration.traits.contains(.uncached) && (record != nil || !declaration.isDependent)
  }

  private final var cycle: [String] {
    guard let record, let engine else { return [declaration.name, declaration.name] }
    return engine.lazies.cycle(to: record)
  }

  private final func runDirectly() throws -> Computation {
    isRunning = true
    defer {
      isRunning = false
      if loadedResult != nil { loadedResult = nil }
    }
    return try knownReference.unsafelyUnwrapped._withUnsafeGuaranteedRef { declaration in
      try owner.unsafelyUnwrapped._withUnsafeGuaranteedRef { try declaration.run($0, self) }
    }
  }

  /// Whether a loader is running that may store the value.
  final var isLoading: Bool { isRunning && declaration.isLoaded }
  final func loaded(with result: Computation) {
    // A second store makes no difference: the comparison is with the value before the loader.
    if case .changed? = loadedResult { return }
    loadedResult = result
  }
  final func takeLoaded() -> Computation? { loadedResult }

  final func prepareToAssign() {
    if let record, let engine { engine.lazies.prepareToAssign(record) }
  }

  final func willAssign() {
    if let record, let engine { engine.lazies.willAssign(record) }
  }

  final func overridden(_ computation: Computation) {
    if let record, let engine {
      engine.lazies.overridden(record, computation)
    } else {
      validity = isKept ? LazyStorage.valid : LazyStorage.invalid
    }
  }

  /// Handles an error of a plain read.
  ///
  /// The getter that reads the property fails with it. If no getter is running, it is reported.
  final func noteUnheard(_ error: any Error) {
    if failReader(error) { return }
    engine?.report(.computation(property: title, message: "\(error)"))
  }

  /// Makes the getter that reads the property fail with an error; returns false if no getter is
  /// running.
  final func failReader(_ error: any Error) -> Bool {
    engine?.computing.failRunning(error) == true
      || LoopsHere().all.contains { $0.engine !== engine && $0.engine.computing.failRunning(error) }
  }

  /// The name of the property in error messages.
  final var title: String {
    model.map { "\(type(of: $0)).\(declaration.name)" } ?? declaration.name
  }

  // MARK: Receiver

  @_documentation(visibility: internal)
  public override func compute(_ lazy: ObservationCore.WatcherRef)
    -> ObservationCore.Computation
  {
    // The getter may drop the last reference to its object.
    let owner = owner.unsafelyUnwrapped.retain()
    defer { owner.release() }
    do {
      let result = try runDirectly()
      if case .failed = result { return result }
      hasResult = true
      return result
    } catch {
      failure = error
      return .failed
    }
  }

  @_documentation(visibility: internal)
  public override func wire(_ lazy: ObservationCore.WatcherRef, in engine: ObservationCore.Engine)
    throws
  {
    for dependency in declaration.dependencies {
      var root: NodeRef?
      let object = dependency.object?()
      defer { withExtendedLifetime(object) {} }
      if let object {
        root = object.observationToken(in: engine)?.node
        if root == nil {
          engine.wiring.hasMetForeign = false
          throw PathError(.otherLoop, path: "", component: 1)
        }
      } else if dependency.object != nil {
        continue
      }
      try engine.wiring.add(dependency.path, to: lazy, from: root)
    }
  }

  @_documentation(visibility: internal)
  public override func dependencies(of lazy: ObservationCore.WatcherRef) -> [ObservationCore
    .DeclaredDependency]
  {
    declaration.dependencies.map { dependency in
      DeclaredDependency(
        path: dependency.path, root: engine.flatMap { dependency.object?()?.currentNode(in: $0) },
        isForeign: dependency.object != nil)
    }
  }

  @_documentation(visibility: internal)
  public override func fail(_ lazy: ObservationCore.WatcherRef, _ error: any Error) {
    failure = error
  }

  @_documentation(visibility: internal)
  public override func reportFailure(of lazy: ObservationCore.WatcherRef) {
    guard let error = failure else { return }
    failure = nil
    engine?.report(.computation(property: title, message: "\(error)"))
  }

  @_documentation(visibility: internal)
  public override func title(_ watcher: ObservationCore.WatcherRef) -> String { title }

  @_documentation(visibility: internal)
  public override func ended(_ watcher: ObservationCore.WatcherRef, observedDied path: Path?) {
    record = nil
    engineReference = nil
    validity = LazyStorage.invalid
    trackingStamp = LazyStorage.unknownStamp
    claim.store(0, ordering: .releasing)
  }
}

// Lazy properties are confined to one thread, except if the program declares otherwise.
@available(*, unavailable)
extension LazyStorage: Sendable {}
