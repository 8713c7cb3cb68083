extension Inspection {
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
    tracking.suspend()
    defer { tracking.resume() }
    return records.hold {
      GraphBuilder.graph(
        of: roots, firstIndex: firstIndex, naming: name ?? { $0.pointee.node.kind.name(of: $0) },
        hiding: stranger, unless: isStopped)
    }
  }
}
