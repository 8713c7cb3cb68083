extension Engine {
  /// The graph of all that is connected with `roots`, as it is now.
  ///
  /// `name` is how keys are spelled. No property is computed, and nothing is wired or kept alive.
  /// Once `isStopped` is true the rest is left out, of its text, too.
  package func graph(
    of roots: [NodeRef], firstIndex: Int = 0, naming name: ((SlotRef) -> String)? = nil,
    hiding stranger: @escaping (WatcherRef) -> String? = { _ in nil },
    unless isStopped: @escaping () -> Bool = { false }
  ) -> ObservationGraph {
    // A tracked computation that asks for the graph must not depend on all that is read for it.
    suspendTracking()
    defer { resumeTracking() }
    return records.hold {
      GraphBuilder.graph(
        of: roots, firstIndex: firstIndex, naming: name ?? { $0.pointee.node.kind.name(of: $0) },
        hiding: stranger, unless: isStopped)
    }
  }
}

extension KeyPathObservable {
  /// The objects, watchers and lazy properties that are connected with this object, and what
  /// observes and depends on what, as text.
  ///
  /// The same program gives the same text. No getter runs, and nothing is kept alive; an object
  /// that was replaced in this turn is shown where it was until the turn ends.
  ///
  /// - Complexity: O(n log n) for n objects, watchers and paths.
  public func graph(_ format: GraphFormat = .dot) -> String {
    guard let engine = currentObservation?.node.engine ?? LoopChoice.engineForReading,
      let root = currentObservation?.node ?? observationToken(in: engine)?.node
    else { return ObservationGraph().text(format) }
    defer { engine.unobserveWhenIdle(root) }
    return engine.graph(of: [root]).text(format)
  }
}
