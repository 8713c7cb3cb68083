/// Transactions over models and collections (S8).
extension Transaction {
  /// Runs `body`.
  ///
  /// If it throws, all its writes to stored properties at or below `roots` are undone, and the
  /// error is rethrown. Coalesced watchers are not called for undone writes. Immediate watchers
  /// were called for them, and are called again for the restored values when the transaction is
  /// over. A transaction inside `body` is a savepoint: if it fails and `body` catches the error,
  /// only its own writes are undone. Assigned values of lazy properties are undone, too.
  /// Registrations, timers, tasks and writes of other threads are not. `body` must neither flush
  /// nor wait. Tables of scripts need the transaction of their host.
  ///
  /// Call it on the thread of the loop that observes the objects.
  ///
  /// ```swift
  /// try Transaction.run(on: [order]) {
  ///   order.items.append(item)
  ///   try order.check()
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - roots: the objects that are covered together with everything below them; at least one.
  ///   - loop: the loop that observes them; by default, the loop of the first object.
  ///   - body: called at once, on the calling thread.
  /// - Throws: the error of `body`; ``TransactionError`` for a stored property without a setter, a
  ///   table of scripts, and too many open transactions; ``PathError`` if another loop observes one
  ///   of the objects.
  /// - Complexity: O(contents of the objects at and below the roots).
  @discardableResult
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
      throw TransactionError(reason: "too many nested transactions")
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
      // Immediate watchers are called for the restored values when the transaction is over.
      engine.immediates.beginBatch()
      transaction.restore()
      transaction.close(isUndone: true)
      engine.immediates.endBatch()
      throw error
    }
  }
}

/// The error when a transaction cannot begin, or cannot cover an object that was inserted below its
/// roots.
public struct TransactionError: Error {
  /// The rejected object or property, and the reason.
  public let reason: String
}

extension TransactionError: CustomStringConvertible {
  /// The sentence to show to the user.
  public var description: String { reason }
}

/// Keeps the contents that models and collections had when they were covered.
private final class ModelKeeper: TransactionKeeper {
  private let reader = TreeReader(keepsObjects: true)
  private var former = FormerContents<Snapshot>()

  func cover(_ node: NodeRef, in transaction: Transaction) throws {
    guard let object = node.model else {
      throw TransactionError(
        reason: "tables of scripts need the transaction of their host: LuaHost.transaction(on:)")
    }
    if let model = object as? any ObservableModel { try check(model) }
    former.keep(Snapshot(reader.contents(of: object)), of: node)
  }

  /// Rejects a model with a stored property that has no setter; a property that stores an object is
  /// allowed, because the object itself is covered.
  private func check(_ model: some ObservableModel) throws {
    let properties = type(of: model).properties
    for (slot, name) in properties.names.enumerated() {
      guard let read = properties.plainRead(slot), !properties.isWritable(slot),
        let value = try? read(model), let value = flattened(value), !isTreeObject(value)
      else { continue }
      throw TransactionError(
        reason: "a transaction could not roll back writes to '\(name)' of "
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
