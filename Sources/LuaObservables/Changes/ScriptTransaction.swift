internal import Lua
internal import Observables

/// A transaction over tables of scripts and objects of the host program.
///
/// It keeps the contents of tables from before their first write. The prelude reads objects of the
/// host program when they are covered, and later writes back the differences.
final class ScriptTransaction: TransactionKeeper {
  // The host owns it.
  private unowned(unsafe) let host: LuaHost
  private let functions: Functions
  /// The prelude's table for the transaction.
  private let table: LuaValue
  /// The sandbox whose writes are taken back; 0 for all writes.
  private let sandbox: UInt32
  private let roots: [NodeRef]
  private let isOfTurns: Bool
  private(set) var transaction: Transaction!
  /// The error of a prelude function that failed.
  private var failure: LuaError?
  private var former = FormerContents<LuaValue>()

  /// Prelude functions, which see a transaction as a table.
  struct Functions {
    /// begin(roots) → transaction.
    let begin: LuaFunction
    /// conclude(transaction, ok, message) → whether the writes stay, and the error if they do not.
    let conclude: LuaFunction
    /// make_turns() → the transaction of turns.
    let makeTurns: LuaFunction
    /// cover(transaction, object): reads an object of the host program.
    let cover: LuaFunction
    /// keep(transaction, table, former): notes the former contents of a table, and watches the
    /// table for writes of other sandboxes.
    let keep: LuaFunction
    /// restore(transaction, written): gives objects their former contents.
    ///
    /// `written` has each object, followed by the former contents of a table, or by false.
    let restore: LuaFunction
    /// renew(transaction, objects): reads objects of the host program again.
    let renew: LuaFunction
    /// contents(object) → a copy of the stored contents.
    let contents: LuaFunction
  }

  /// Covers objects of scripts and of the program.
  ///
  /// - Throws: `LuaError` for too many transactions, an object with a stored property without a
  ///   setter, and no memory.
  init(
    _ host: LuaHost, _ functions: Functions, table: LuaValue, on roots: [NodeRef],
    isOfTurns: Bool = false
  ) throws {
    (self.host, self.functions, self.table, self.roots) = (host, functions, table, roots)
    self.isOfTurns = isOfTurns
    sandbox = isOfTurns ? 0 : host.sandboxes.current.number
    transaction = Transaction(
      in: host.engine, keeper: self, receiver: CoveringReceiver(host), isOfTurns: isOfTurns)
    guard let transaction else {
      throw LuaError("too many nested transactions")
    }
    do {
      for root in roots { try transaction.cover(root, mayAdopt: !isOfTurns) }
    } catch {
      transaction.end()
      throw error
    }
  }

  /// Returns the error of the last restoration that failed, and clears it.
  func takeFailure() -> LuaError? {
    defer { failure = nil }
    return failure
  }

  /// Covers exactly the objects that are below the roots now.
  func coverAnew() throws { try transaction.coverAnew(roots) }

  // MARK: TransactionKeeper

  func cover(_ node: NodeRef, in transaction: Transaction) throws {
    guard !host.tables.isKind(of: node) else { return }
    _ = try functions.cover.callPlainly(arguments: [table, value(of: node)])
  }

  var ownsWrites: Bool { sandbox == 0 || host.sandboxes.writer(host.receiver) == sandbox }

  func keep(_ node: NodeRef, _ change: Change, in transaction: Transaction) throws -> Bool {
    // Writes of other sandboxes before this sandbox's first write stay.
    guard ownsWrites else { return false }
    guard host.tables.isKind(of: node) else { return true }
    var contents = LuaValue.nil
    var failure: (any Error)?
    host.module.transactions.exempted {
      do {
        try host.state.withStack { L throws(LuaError) in
          try host.tables.pushFormerContents(change, to: L)
          contents = try host.state.value(at: -1, of: L)
        }
        if sandbox != 0 {
          _ = try functions.keep.callPlainly(arguments: [table, value(of: node), contents])
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    former.keep(contents, of: node)
    return true
  }

  func correct(_ node: NodeRef, by other: any TransactionKeeper) {
    if let other = other as? ScriptTransaction { former.correct(node, by: other.former) }
  }

  func restore(_ nodes: [NodeRef], in transaction: Transaction) {
    host.module.transactions.restoring = transaction
    defer { host.module.transactions.restoring = nil }
    call(functions.restore) { L throws(LuaError) in
      try host.state.pushTable(elements: 2 * nodes.count, to: L)
      for (index, node) in nodes.enumerated() {
        try host.state.push(value(of: node), to: L)
        L.rawSet(index: 2 * index + 1, at: -2)
        if let former = former[node] {
          try host.state.push(former, to: L)
        } else {
          L.push(false)
        }
        L.rawSet(index: 2 * index + 2, at: -2)
      }
    }
  }

  func forget(_ nodes: [NodeRef], in transaction: Transaction, wereRestored: Bool) {
    former.removeAll()
    // The next turn is restored to the present contents.
    let objects = wereRestored || !isOfTurns ? [] : nodes.filter { !host.tables.isKind(of: $0) }
    if objects.isEmpty { return }
    call(functions.renew) { L throws(LuaError) in
      try host.state.pushTable(elements: objects.count, to: L)
      for (index, node) in objects.enumerated() {
        try host.state.push(value(of: node), to: L)
        L.rawSet(index: index + 1, at: -2)
      }
    }
  }

  func withoutLimits(_ body: () -> Void) { host.state.interrupter.withUnlimitedMemory(body) }

  /// Calls a prelude function with the transaction's table and a list.
  private func call(_ function: LuaFunction, _ push: (LuaStack) throws(LuaError) -> Void) {
    host.module.transactions.exempted {
      do throws(LuaError) {
        var list = LuaValue.nil
        try host.state.withStack { L throws(LuaError) in
          try push(L)
          list = try host.state.value(at: -1, of: L)
        }
        _ = try function.callPlainly(arguments: [table, list])
      } catch {
        failure = failure ?? error
      }
    }
  }

  private func value(of node: NodeRef) throws(LuaError) -> LuaValue {
    var value = LuaValue.nil
    try host.state.withStack { L throws(LuaError) in
      host.receiver.observed.push(node, to: L)
      value = try host.state.value(at: -1, of: L)
    }
    return value
  }
}

/// The receiver for the links of transactions, which charges their memory to the scripts.
private final class CoveringReceiver: Receiver {
  private let limits: LinkLimits

  init(_ host: LuaHost) {
    limits = LinkLimits(host.state)
    super.init()
    chargesLinks = host.receiver.chargesLinks
  }

  override var payer: UnsafeMutableRawPointer? { limits.payer }

  override func charge(_ bytes: Int, to payer: UnsafeMutableRawPointer?) {
    limits.charge(bytes, to: payer)
  }

  override func checkLimits() throws { try limits.check() }

  override func title(_ watcher: WatcherRef) -> String { "a transaction" }
}
