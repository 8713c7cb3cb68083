import Synchronization

/// Transactions over models and collections (S8).
extension Transaction {
  /// Runs `body`; if it throws, every stored write at or below `roots` that was made meanwhile is
  /// taken back, and the error goes on.
  ///
  /// Watchers are not called for what never happened; immediate ones that were called are called
  /// for the way back. Transactions inside of it are savepoints: an inner one that fails takes back
  /// its own writes, and the outer one goes on. Assigned values of lazy properties are taken back,
  /// too. Registrations, timers, tasks and writes of other threads stay. `body` must neither flush
  /// nor wait. Called on the thread of the loop that observes the objects. Tables of scripts need
  /// the transaction of their host.
  ///
  /// ```swift
  /// try Transaction.run(on: [order]) {
  ///   order.items.append(item)
  ///   try order.check()
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - roots: the objects; at least one.
  ///   - loop: the loop that observes them; without one, that of the first object.
  /// - Throws: what `body` throws; ``TransactionError`` for an object whose properties could not be
  ///   taken back; ``PathError`` where another loop observes one of the objects.
  /// - Complexity: O(objects below the roots).
  public static func run<Result>(
    on roots: [any KeyPathObservable], in loop: Loop? = nil, _ body: () throws -> Result
  ) throws -> Result {
    precondition(!roots.isEmpty, "A transaction names at least one object")
    let engine = try roots[0].engine(of: loop)
    let nodes = try roots.map { root in
      guard let node = root.observationToken(in: engine)?.node else {
        engine.wiring.hasMetForeign = false
        throw PathError(.otherLoop, path: "", component: 1)
      }
      return node
    }
    let keeper = ModelKeeper()
    guard let transaction = Transaction(in: engine, keeper: keeper) else {
      throw TransactionError(reason: "transactions are too many, one inside of the other")
    }
    defer { transaction.end() }
    for node in nodes { try transaction.cover(node) }
    if engine.wiring.hasMetForeign {
      engine.wiring.hasMetForeign = false
      throw PathError(.otherLoop, path: "**", component: 1)
    }
    transaction.open()
    do {
      let result = try body()
      if let failure = transaction.failure { throw failure }
      transaction.close(isUndone: false)
      return result
    } catch {
      // Immediate watchers are called for the way back when the transaction is over.
      engine.immediates.beginBatch()
      transaction.restore()
      transaction.close(isUndone: true)
      engine.immediates.endBatch()
      throw error
    }
  }
}

/// An object that a transaction could not give back what it had.
public struct TransactionError: Error {
  /// Why that is so.
  public let reason: String
}

extension TransactionError: CustomStringConvertible {
  /// The sentence that a user sees.
  public var description: String { reason }
}

/// Keeps what models and collections had when they were covered.
private final class ModelKeeper: TransactionKeeper {
  private var reader = TreeReader()
  private var former: [NodeRef: (contents: Snapshot, order: UInt64)] = [:]
  private static let lastOrder = Atomic<UInt64>(0)

  func cover(_ node: NodeRef, in transaction: Transaction) throws {
    guard let object = node.model else {
      throw TransactionError(
        reason: "tables of scripts need the transaction of their host: LuaHost.transaction(on:)")
    }
    if let model = object as? any ObservableModel { try check(model) }
    let order = ModelKeeper.lastOrder.add(1, ordering: .relaxed).newValue
    former[node] = (Snapshot(reader.contents(of: object)), order)
  }

  /// - Throws: an error for a model that has a stored property without a setter, and no collection
  ///   there.
  private func check(_ model: some ObservableModel) throws {
    let properties = type(of: model).properties
    for (slot, name) in properties.names.enumerated() {
      guard let read = properties.plainRead(slot), !properties.isWritable(slot),
        let value = try? read(model), let value = flattened(value), !isTreeObject(value)
      else { continue }
      throw TransactionError(
        reason: "a transaction could not take back what is written to '\(name)' of "
          + "\(properties.typeName): it has no setter")
    }
  }

  func correct(_ node: NodeRef, by other: any TransactionKeeper) {
    guard let earlier = (other as? ModelKeeper)?.former[node], let own = former[node],
      own.order > earlier.order
    else { return }
    former[node] = earlier
  }

  func restore(_ nodes: [NodeRef], in transaction: Transaction) {
    for node in nodes {
      guard let object = node.model, let contents = former[node]?.contents else { continue }
      contents.write(to: object, over: Snapshot(reader.contents(of: object)))
    }
  }
}
