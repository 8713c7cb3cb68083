extension KeyPathObservable {
  /// A text that shows the objects, watchers and lazy properties connected with this object, and
  /// how they observe and depend on each other.
  ///
  /// The same program gives the same text. No getter runs, and nothing is kept alive. Until the
  /// turn ends, an object that was replaced in it is shown at its old place.
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
