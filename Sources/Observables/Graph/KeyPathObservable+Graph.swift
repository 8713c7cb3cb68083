extension Engine {
  /// The graph of all that is connected with `roots`, as it is now.
  ///
  /// `name` is how keys are spelled. Nothing is computed, wired or kept alive for it.
  package func graph(
    of roots: [NodeRef], firstIndex: Int = 0, naming name: ((SlotRef) -> String)? = nil
  ) -> ObservationGraph {
    // It reads what a computation may be depending on that asks for it.
    suspendTracking()
    defer { resumeTracking() }
    return GraphBuilder.graph(
      of: roots, firstIndex: firstIndex, naming: name ?? { $0.pointee.node.kind.name(of: $0) })
  }
}

extension KeyPathObservable {
  /// Who observes this object, and what depends on what: objects, watchers and lazy properties that
  /// are connected with it, as text.
  ///
  /// The same program gives the same text. No getter runs, and nothing is kept alive; what was
  /// replaced in this turn is where it was until the turn ends.
  ///
  /// - Complexity: O(n log n) for n objects, watchers and paths.
  public func graph(_ format: GraphFormat = .dot) -> String {
    guard let engine = currentObservation?.node.engine ?? Loop.current?.engine,
      let root = currentObservation?.node ?? observationToken(in: engine)?.node
    else { return ObservationGraph().text(format) }
    defer { engine.settleWhenIdle(root) }
    return engine.graph(of: [root]).text(format)
  }
}
