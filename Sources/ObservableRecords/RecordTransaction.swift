#if Records
  internal import Observables

  /// A transaction under way.
  final class RecordTransaction {
    private let engine: ObservationCore.Engine
    private var covered: [(object: any KeyPathObservable, node: ObservationCore.NodeRef)] = []

    /// The number by which the engine knows it.
    private let number: Int

    /// Opens a transaction; nil where there are too many.
    init?(_ engine: ObservationCore.Engine) {
      guard let number = engine.transactions.begin() else { return nil }
      (self.engine, self.number) = (engine, number)
      engine.transactions.open(number)
    }

    /// Watchers that are pending only for writes to this object are not called if those are undone.
    func cover(_ object: any KeyPathObservable) {
      guard let node = object.currentNode(in: engine) else { return }
      engine.transactions.cover(node, by: number, true)
      covered.append((object, node))
    }

    func close(isUndone: Bool) {
      engine.transactions.close(number, isUndone: isUndone)
      // An object may have lost all its watchers meanwhile.
      for (object, node) in covered where object.currentNode(in: engine) == node {
        engine.transactions.cover(node, by: number, false)
      }
      engine.transactions.end(number)
    }
  }
#endif
