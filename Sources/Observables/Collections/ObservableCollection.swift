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

  /// Itself, as paths see it; not retained.
  @exclusivity(unchecked) unowned(unsafe) final var answering: (any PathAnswering)!

  init() {}

  deinit {
    if let node, let engine { engine.end(node) }
  }

  // MARK: Where it is observed

  /// Where it is observed by the loop of `engine`, which is the only one that may.
  public func observationToken(in engine: Engine) -> ObservationToken? {
    if let node {
      precondition(self.engine === engine, "This collection is observed by another loop already")
      return ObservationToken(node: node)
    }
    let node = engine.makeNode(
      kind: CollectionKind.shared, object: Unmanaged.passUnretained(self).toOpaque())
    (self.node, self.engine) = (node, engine)
    return ObservationToken(node: node)
  }

  /// Where it is observed now.
  public var currentObservation: ObservationToken? { node.map(ObservationToken.init(node:)) }

  /// Nothing is observed any longer.
  func detach() {
    (node, engine) = (nil, nil)
    observedHook = nil
  }
}

// Never shared between threads but by a program that says so.
@available(*, unavailable)
extension ObservableCollection: Sendable {}
