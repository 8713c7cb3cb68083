/// The base class of observable arrays, dictionaries and sets: where they are observed.
///
/// Unobserved, a mutation costs a load and a branch more than that of the standard library's
/// collection. Confined to the thread of the loop that observes it.
public class ObservableCollection: KeyPathObservable {
  /// Where it is observed; nil while it is not.
  @usableFromInline @exclusivity(unchecked) final var node: NodeRef?
  @exclusivity(unchecked) private final var engine: Engine?
  /// Told which keys are observed (W1).
  final var observedHook: ((_ key: String, _ isObserved: Bool) -> Void)?
  /// The objects that digits follow, by number (C4).
  final var lastAnchor = 0
  /// How often slots had begun to want news when all observed ones were found quiet.
  final var quietArmings: UInt64 = 0

  /// Somebody reads its journal.
  @exclusivity(unchecked) final var isJournaling = false
  /// Some of its slots are observed, not only the whole.
  @exclusivity(unchecked) final var hasSlots = false
  /// Itself, as paths see it; not retained.
  @exclusivity(unchecked) unowned(unsafe) final var answering: (any PathAnswering)!

  init() {}

  deinit {
    if let node, let engine { engine.end(node) }
  }

  // MARK: Where it is observed

  /// Where it is observed by the loop of `engine`, which is the only one that may.
  @_documentation(visibility: internal)
  public func observationToken(in engine: ObservationCore.Engine) -> ObservationToken? {
    if let node {
      if self.engine !== engine {
        engine.hasMetForeign = true
        return nil
      }
      return ObservationToken(node: node)
    }
    let node = engine.makeNode(
      kind: CollectionKind.shared, object: Unmanaged.passUnretained(self).toOpaque())
    (self.node, self.engine) = (node, engine)
    return ObservationToken(node: node)
  }

  /// Where it is observed now.
  @_documentation(visibility: internal)
  public var currentObservation: ObservationToken? { node.map(ObservationToken.init(node:)) }

  /// What a tracked computation reads of the collection it depends on (Z10): all of it.
  @inlinable @inline(__always)
  final func access() {
    if isAnythingTracked { noteRead() }
  }

  @usableFromInline @inline(never)
  final func noteRead() {
    guard let engine = engine ?? Loop.current?.engine, engine.isTracking,
      let node = observationToken(in: engine)?.node,
      let every = try? node.kind.slot(
        Engine.everything.steps[0], at: 0, of: Engine.everything, on: node)
    else { return }
    engine.noteRead(every)
  }

  /// A mutation has to be told: not while everybody who watches is to be called anyway.
  @usableFromInline final var isHeard: Bool {
    guard let node else { return false }
    if isJournaling || node.pointee.every.map({ $0.pointee.wants != 0 }) == true { return true }
    return hasSlots && quietArmings != node.engine.armings.pointee
  }

  /// Nothing is observed any longer.
  func detach() {
    (node, engine) = (nil, nil)
    (isJournaling, hasSlots) = (false, false)
    observedHook = nil
  }
}

// Never shared between threads but by a program that says so.
@available(*, unavailable)
extension ObservableCollection: Sendable {}
