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
    defer { engine.nodes.unobserveWhenIdle(root) }
    return engine.inspection.graph(of: [root]).text(format)
  }
}
