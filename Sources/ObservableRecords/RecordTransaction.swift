#if Records
  internal import Observables

  /// A transaction of a store under way; it takes back writes by reading the written rows anew.
  final class RecordTransaction: TransactionKeeper {
    private let engine: ObservationCore.Engine
    private var transaction: Transaction!
    private let revert: () -> Void
    /// Keeps the covered objects alive.
    private var covered: [any KeyPathObservable] = []

    /// Opens a transaction whose writes `revert` takes back; nil if too many are open.
    init?(_ engine: ObservationCore.Engine, revert: @escaping () -> Void) {
      (self.engine, self.revert) = (engine, revert)
      guard let transaction = Transaction(in: engine, keeper: self) else { return nil }
      self.transaction = transaction
      transaction.open()
    }

    /// Watchers that are pending only for writes to this object are not called if those are undone.
    func cover(_ object: any KeyPathObservable) {
      guard let node = object.currentNode(in: engine) else { return }
      covered.append(object)
      // Without a link the watchers of the object are called for writes that were taken back.
      try? transaction.cover(only: node)
    }

    func restore() { transaction.restore() }

    func close(isUndone: Bool) {
      transaction.close(isUndone: isUndone)
      transaction.end()
    }

    // MARK: TransactionKeeper

    func restore(_ nodes: [ObservationCore.NodeRef], in transaction: Transaction) { revert() }
  }
#endif
