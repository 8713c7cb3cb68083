/// The base class of observable arrays, dictionaries and sets.
///
/// While the collection is not observed, a mutation costs one load and one branch more than in the
/// standard library. The collection is confined to the thread of the loop that observes it.
public class ObservableCollection: KeyPathObservable {
  /// The node of the collection; nil while it is not observed.
  @usableFromInline @exclusivity(unchecked) final var node: NodeRef?
  @exclusivity(unchecked) private final var engine: Engine?
  /// Hooks that are called when a key gets its first watcher or loses its last one (W1).
  final var observedHooks = ObservedHooks()
  /// The last number assigned to an object that digits follow (C4).
  final var lastAnchor = 0
  /// The engine's count of armed slots when all observed slots were last found quiet.
  final var quietArmings: UInt64 = 0

  /// Whether a watcher reads the journal.
  @exclusivity(unchecked) final var isJournaling = false
  /// Whether individual slots are observed, not only the whole collection.
  @exclusivity(unchecked) final var hasSlots = false
  /// The collection itself, in the form that paths use; not retained.
  @exclusivity(unchecked) unowned(unsafe) final var answering: (any PathAnswering)!

  /// The object whose list this is, if insertions and removals have to reach that object.
  package final weak var owner: AnyObject?
  /// The object that alone may change the collection, if there is one.
  package final var source: (any CollectionSource)?

  init() {}

  deinit {
    if let node, let engine { engine.nodes.end(node) }
  }

  // MARK: Places of observation

  /// The place where the loop of `engine` observes the collection; only one loop can observe it.
  @_documentation(visibility: internal)
  public func observationToken(in engine: ObservationCore.Engine) -> ObservationToken? {
    if let node {
      if self.engine !== engine {
        engine.wiring.hasMetForeign = true
        return nil
      }
      return ObservationToken(node: node)
    }
    let node = engine.nodes.make(
      kind: CollectionKind.shared, object: Unmanaged.passUnretained(self).toOpaque())
    (self.node, self.engine) = (node, engine)
    return ObservationToken(node: node)
  }

  /// The place where the collection is observed now.
  @_documentation(visibility: internal)
  public var currentObservation: ObservationToken? { node.map(ObservationToken.init(node:)) }

  /// Notes that a tracked computation reads the collection, and so depends on its whole contents
  /// (Z10).
  @inlinable @inline(__always)
  final func access() {
    if isAnythingTracked { noteRead() }
  }

  @usableFromInline @inline(never)
  final func noteRead() {
    guard let engine = LoopChoice.trackingEngine(engine),
      let node = observationToken(in: engine)?.node,
      let every = try? node.kind.slot(
        Path.everything.steps[0], at: 0, of: Path.everything, on: node)
    else { return }
    engine.tracking.noteRead(every)
  }

  /// Whether a mutation has to be reported; false while all watchers are pending already.
  @usableFromInline final var isHeard: Bool {
    guard let node else { return false }
    if isJournaling || node.pointee.every.map({ $0.pointee.wants != 0 }) == true { return true }
    return hasSlots && quietArmings != node.engine.slots.armings.pointee
  }

  /// Forgets the node, because nothing of the collection is observed any longer.
  func detach() {
    (node, engine) = (nil, nil)
    (isJournaling, hasSlots) = (false, false)
    observedHooks = ObservedHooks()
  }
}

/// Something that a collection follows, such as a query of a database.
package protocol CollectionSource: AnyObject {
  /// The error of code that changes the collection.
  var refusal: String { get }
}

// Collections are confined to one thread, except if the program declares otherwise.
@available(*, unavailable)
extension ObservableCollection: Sendable {}
