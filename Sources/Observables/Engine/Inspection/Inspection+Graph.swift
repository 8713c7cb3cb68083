extension Inspection {
  /// The current graph of everything that is connected with `roots`.
  ///
  /// `name` spells the keys. No property is computed, and nothing is wired or kept alive. Once
  /// `isStopped` is true, the rest of the graph and of its text is omitted.
  package func graph(
    of roots: [NodeRef], firstIndex: Int = 0, naming name: ((SlotRef) -> String)? = nil,
    hiding stranger: @escaping (WatcherRef) -> String? = { _ in nil },
    unless isStopped: @escaping () -> Bool = { false }
  ) -> ObservationGraph {
    // A tracked computation that requests the graph must not depend on all that is read for it.
    tracking.suspend()
    defer { tracking.resume() }
    return records.hold {
      GraphBuilder.graph(
        of: roots, firstIndex: firstIndex, naming: name ?? { $0.pointee.node.kind.name(of: $0) },
        hiding: stranger, unless: isStopped)
    }
  }
}
