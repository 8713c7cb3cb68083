import Synchronization

/// What a lazy property of a model is, whatever its type: where it is declared, and its record in
/// the engine, which it has once it is observed or depends on something.
public class LazyStorage: ObservationCore.Receiver {
  @exclusivity(unchecked) private final var record: WatcherRef?
  @exclusivity(unchecked) private final var owner: Unmanaged<AnyObject>?
  @exclusivity(unchecked) private final var known: LazyDeclaration?
  /// The same, for where counting references would be felt.
  @exclusivity(unchecked) private final var knownReference: Unmanaged<LazyDeclaration>?
  @exclusivity(unchecked) private final var engineReference: Unmanaged<Engine>?
  /// Where the engine is that computes it, or 0: loops of several threads may observe its model.
  private final let claim = Atomic<UInt>(0)
  /// `owner` and the declaration are set, for good.
  private final let isBound = Atomic(false)
  /// Held while any of them are, which leads to this one again.
  private static let bindingLock = RecursiveLock()
  /// Whether the value is up to date: in the slot, or, without a record, one of two constants.
  @usableFromInline @exclusivity(unchecked) final var validity = LazyStorage.invalid
  /// Not 0 where somebody may have to know that it is read: the number of the tracked computation
  /// that is running, or, without a record, a constant.
  @usableFromInline @exclusivity(unchecked) final var trackingStamp = LazyStorage.unknownStamp
  @exclusivity(unchecked) private final var isRunning = false
  @exclusivity(unchecked) private final var hasResult = false
  @exclusivity(unchecked) private final var loadedResult: Computation?
  /// Why the last computation failed.
  @exclusivity(unchecked) private final var failure: (any Error)?

  /// An unbound one; nothing but what a `Lazy` needs.
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

  /// The value is up to date: reading it computes nothing.
  public final var isValid: Bool { validity.pointee }

  /// The next read computes anew.
  ///
  /// Watchers are called if that gives another value. Harmless where it is invalid.
  public final func invalidate() {
    attachIfHeard()
    guard let record else {
      validity = LazyStorage.invalid
      return
    }
    engine!.invalidate(explicitly: record)
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

  /// Finds out where it is declared.
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

  /// Binds it where the declaration is known already.
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

  /// Its key is observed, or read by a tracked computation; nothing where another loop computes it.
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

  /// The same for one that is bound to the only object that has it.
  final func attach(to slot: SlotRef, in engine: Engine) {
    guard record == nil, isClaimed(by: engine) else { return }
    let hasValue = validity.pointee
    var flags = declaration.flags
    // Valid or not, it has a value to compare the next one with.
    if hasValue { flags.insert(.known) }
    engineReference = .passUnretained(engine)
    let record = engine.makeLazy(slot, receiver: self, flags: flags)
    self.record = record
    validity = slot.validity
    trackingStamp = UnsafePointer(engine.trackingStamp)
    if hasValue, !flags.contains(.uncached) { engine.overridden(record, .same) }
  }

  /// Another loop computes it.
  final func isAttached(elsewhereThan engine: Engine) -> Bool {
    let claim = claim.load(ordering: .relaxed)
    return claim != 0 && claim != address(of: engine)
  }

  private final func address(of engine: Engine) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(engine).toOpaque())
  }

  /// What depends on something needs a record to hear of it, and so does what somebody watches with
  /// all properties of its object.
  final func attachIfHeard() {
    guard record == nil, let model = model as? any ObservableModel else { return }
    let node = model.observation.existingNode
    guard declaration.isDependent || node?.pointee.every != nil,
      let engine = node?.engine ?? Loop.current?.engine
    else { return }
    model.attachLazy(slotIndex, in: engine)
  }

  /// What is read here belongs to the tracked computation that is running.
  @usableFromInline @inline(never)
  final func noteRead() {
    if !isAnythingTracked { return }
    if let slot = record?.slot {
      engineReference?._withUnsafeGuaranteedRef { $0.noteRead(slot) }
    } else if let model = model as? any ObservableModel {
      model.access(slotIndex)
    }
  }

  /// Another value takes the place of the one that there is.
  @usableFromInline
  final func beginReplacing() -> (isFlawed: Bool, isBased: Bool, keepsBase: Bool) {
    guard let record, let engine else { return (false, false, false) }
    if record.isFlawed {
      return (true, false, false)
    }
    engine.willReplaceValue(of: record)
    if record.hasBase { return (false, true, false) }
    return (false, false, engine.shouldKeepBase(of: record))
  }

  // MARK: Computing

  func anyValue() throws -> Any? { nil }
  var anyPeek: Any? { nil }

  /// Makes the value valid.
  final func update() throws {
    attachIfHeard()
    if isRunning {
      // Its loader may have stored it.
      if loadedResult != nil { return }
      throw LazyError.cycle(names: cycle)
    }
    guard let record, let engine, !declaration.flags.contains(.uncached) else {
      _ = try withExtendedLifetime(model) { try runDirectly() }
      if record == nil { validity = isKept ? LazyStorage.valid : LazyStorage.invalid }
      return
    }
    hasResult = false
    // An object that did not survive its getter has the value all the same.
    if engine.settle(record) || (hasResult && self.record == nil) { return }
    guard let failure else { throw LazyError.cycle(names: engine.cycle(to: record)) }
    throw failure
  }

  /// Whether its value is to be found again.
  private final var isKept: Bool {
    !declaration.flags.contains(.uncached) && (record != nil || !declaration.isDependent)
  }

  private final var cycle: [String] {
    guard let record, let engine else { return [declaration.name, declaration.name] }
    return engine.cycle(to: record)
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

  /// A loader is at work that may store the value.
  final var isLoading: Bool { isRunning && declaration.isLoaded }
  final func loaded(with result: Computation) {
    // Twice is once: what counts is the value before the loader.
    if case .changed? = loadedResult { return }
    loadedResult = result
  }
  final func takeLoaded() -> Computation? { loadedResult }

  final func willAssign() {
    if let record, let engine { engine.willAssign(record) }
  }

  final func overridden(_ computation: Computation) {
    if let record, let engine {
      engine.overridden(record, computation)
    } else {
      validity = isKept ? LazyStorage.valid : LazyStorage.invalid
    }
  }

  /// A plain read met an error: it is that of the getter that reads, if one does.
  final func noteUnheard(_ error: any Error) {
    if let engine = engine ?? Loop.current?.engine, engine.failRunning(error) { return }
    engine?.report(.computation(property: title, message: "\(error)"))
  }

  /// How errors name it.
  final var title: String {
    model.map { "\(type(of: $0)).\(declaration.name)" } ?? declaration.name
  }

  // MARK: Receiver

  @_documentation(visibility: internal)
  public override func compute(_ lazy: ObservationCore.WatcherRef, isNested: Bool)
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
      if let object = dependency.object?() {
        root = object.observationToken(in: engine)?.node
        if root == nil {
          engine.hasMetForeign = false
          throw PathError(.otherLoop, path: "", component: 1)
        }
      } else if dependency.object != nil {
        continue
      }
      try engine.add(dependency.path, to: lazy, from: root)
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

// Never shared between threads but by a program that says so.
@available(*, unavailable)
extension LazyStorage: Sendable {}
