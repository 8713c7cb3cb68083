#if Records
  internal import Observables

  /// A transaction under way: what it has written is taken back by reading the rows that were
  /// written anew.
  final class RecordTransaction: TransactionKeeper {
    private let engine: ObservationCore.Engine
    private var transaction: Transaction!
    private let revert: () -> Void
    /// The objects that it covers, which stay.
    private var covered: [any KeyPathObservable] = []

    /// Opens a transaction that `revert` takes back; nil where there are too many.
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
      // Where there is no link, its watchers are called for what was taken back.
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
