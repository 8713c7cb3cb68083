/// Transactions over models and collections (S8).
extension Transaction {
  /// Runs `body`; if it throws, takes back every stored write at or below `roots` since, and throws
  /// the error.
  ///
  /// Coalesced watchers are not called for writes that were taken back; immediate watchers, which
  /// were called for them, are called again for the way back, when the transaction is over. A
  /// transaction inside of `body` is a savepoint: where it fails and `body` catches the error, only
  /// its own writes are taken back. Assigned values of lazy properties are taken back, too.
  /// Registrations, timers, tasks and writes of other threads stay. `body` must neither flush nor
  /// wait. Tables of scripts need the transaction of their host.
  ///
  /// On the thread of the loop that observes the objects.
  ///
  /// ```swift
  /// try Transaction.run(on: [order]) {
  ///   order.items.append(item)
  ///   try order.check()
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - roots: the objects that are covered with all below them; at least one.
  ///   - loop: the loop that observes them; without one, that of the first object.
  ///   - body: is called at once, on the calling thread.
  /// - Throws: what `body` throws; ``TransactionError`` for a stored property without a setter, a
  ///   table of scripts, and too many open transactions; ``PathError`` where another loop observes
  ///   one of the objects.
  /// - Complexity: O(contents of the objects at and below the roots).
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

/// A transaction could not begin, or could not cover an object that was put below its roots.
public struct TransactionError: Error {
  /// The object or property that is refused, and why.
  public let reason: String
}

extension TransactionError: CustomStringConvertible {
  /// The sentence that a user sees.
  public var description: String { reason }
}

/// Keeps the contents that models and collections had when they were covered.
private final class ModelKeeper: TransactionKeeper {
  private var reader = TreeReader()
  private var former = FormerContents<Snapshot>()

  func cover(_ node: NodeRef, in transaction: Transaction) throws {
    guard let object = node.model else {
      throw TransactionError(
        reason: "tables of scripts need the transaction of their host: LuaHost.transaction(on:)")
    }
    if let model = object as? any ObservableModel { try check(model) }
    former.keep(Snapshot(reader.contents(of: object)), of: node)
  }

  /// Refuses a model with a stored property that has no setter, unless it stores an object: that
  /// is covered itself.
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
    if let other = other as? ModelKeeper { former.correct(node, by: other.former) }
  }

  func restore(_ nodes: [NodeRef], in transaction: Transaction) {
    for node in nodes {
      guard let object = node.model, let contents = former[node] else { continue }
      contents.write(to: object, over: Snapshot(reader.contents(of: object)))
    }
  }
}
