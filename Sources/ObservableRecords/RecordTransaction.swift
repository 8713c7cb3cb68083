#if Records
  internal import Observables

  /// A transaction of a store; it undoes writes by reading the written rows again.
  final class RecordTransaction: TransactionKeeper {
    private let engine: ObservationCore.Engine
    private var transaction: Transaction!
    private let revert: () -> Void
    /// Keeps the covered objects alive.
    private var covered: [any KeyPathObservable] = []

    /// Opens a transaction whose writes `revert` undoes; nil if too many are open.
    init?(_ engine: ObservationCore.Engine, revert: @escaping () -> Void) {
      (self.engine, self.revert) = (engine, revert)
      guard let transaction = Transaction(in: engine, keeper: self) else { return nil }
      self.transaction = transaction
      transaction.open()
    }

    /// Makes an object part of the transaction: watchers that are pending only for its writes are
    /// not called if the writes are undone.
    func cover(_ object: any KeyPathObservable) {
      guard let node = object.currentNode(in: engine) else { return }
      covered.append(object)
      // If this fails, the watchers of the object are called for undone writes, too.
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
