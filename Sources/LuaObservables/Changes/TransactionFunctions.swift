internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Functions that the prelude needs for transactions (S8).
final class TransactionFunctions: ModuleSlice {
  /// The account for taking back writes of scripts, which no limit stops.
  private let account: UnsafeMutablePointer<clua_account>
  private var exemptions: [LuaInterrupter.Exemption] = []
  /// The prelude's transaction functions; nil until the prelude is loaded.
  private var known: ScriptTransaction.Functions?
  /// The histories of scripts, as keys of a weak table; nil until the prelude is loaded.
  private var tools: LuaTable?
  /// The transactions that scripts have opened, by number.
  private var open: [Int: ScriptTransaction] = [:]
  /// The transaction that is being taken back.
  var restoring: Transaction?

  override init(_ host: LuaHost) {
    account = .allocate(capacity: 1)
    account.initialize(to: clua_account())
    super.init(host)
  }

  deinit { account.deallocate() }

  override var functions: [NamedFunction] {
    [
      .init("set_transaction_functions", setFunctions), .init("begin_transaction", begin),
      .init("end_transaction", end), .init("transaction_failure", failure),
      .init("is_being_restored", isBeingRestored),
      .init(
        "turn_number",
        { [self] L in
          L.push(Int(truncatingIfNeeded: host.sandboxes.turnNumber))
          return 1
        }
      ),
      .init(
        "begin_exempt",
        { [self] _ in
          beginExempt()
          return 0
        }
      ),
      .init(
        "end_exempt",
        { [self] _ in
          endExempt()
          return 0
        }
      ),
    ]
  }

  override func end() {
    for script in open.values { script.transaction.end() }
    (known, tools, open) = (nil, nil, [:])
  }

  // MARK: Code without limits

  /// Runs `body`, which takes back writes of scripts, without their limits on time and memory.
  func exempted(_ body: () -> Void) {
    beginExempt()
    defer { endExempt() }
    body()
  }

  private func beginExempt() {
    exemptions.append(state.interrupter.exempt(account))
  }

  private func endExempt() {
    if let last = exemptions.popLast() { state.interrupter.resume(last) }
  }

  // MARK: Transactions

  /// set_transaction_functions(functions): sets the prelude's transaction functions.
  private func setFunctions(_ L: LuaStack) throws -> CInt {
    func function(_ name: String) throws(LuaError) -> LuaFunction {
      try state.pushField(name, at: 1, of: L)
      defer { L.pop() }
      return LuaFunction(pin: try state.pin(at: -1, of: L))
    }
    known = ScriptTransaction.Functions(
      begin: try function("begin"), conclude: try function("conclude"),
      makeTurns: try function("make_turns"), cover: try function("cover"),
      keep: try function("keep"), restore: try function("restore"), renew: try function("renew"),
      contents: try function("contents"))
    try state.pushField("tools", at: 1, of: L)
    tools = LuaTable(pin: try state.pin(at: -1, of: L))
    return 0
  }

  /// The prelude's transaction functions; loads the prelude first if necessary.
  func prelude() throws(LuaError) -> ScriptTransaction.Functions {
    if known == nil {
      try state.withStack { L throws(LuaError) in
        _ = try host.module.load(L)
        try host.module.loadLate("trees", L)
      }
    }
    guard let known else { throw .closed }
    return known
  }

  /// Whether the value at an index works on trees, but is no part of them: a history. [-0, +0, -]
  func isTool(at index: CInt, of L: LuaStack) -> Bool {
    let index = L.absolute(index)
    guard let tools, (try? state.push(tools.pin, to: L)) != nil else { return false }
    defer { L.pop(2) }
    L.pushCopy(at: index)
    return L.getOwn(at: -2) != .nil
  }

  /// Ends a transaction that the program began.
  ///
  /// - Returns: the error if the writes were taken back although the body succeeded; otherwise nil.
  func conclude(
    _ transaction: LuaValue, _ isKept: Bool, _ functions: ScriptTransaction.Functions
  ) throws(LuaError) -> LuaError? {
    var results = Result<[LuaValue], LuaError>.success([])
    engine.immediates.beginBatch()
    exempted {
      results = Result { () throws(LuaError) in
        try functions.conclude.callPlainly(arguments: [transaction, .boolean(isKept)])
      }
    }
    engine.immediates.endBatch()
    let outcome = try results.get()
    if !isKept || outcome.first == .boolean(true) { return nil }
    return LuaError(outcome.last?.shown ?? "the transaction has failed")
  }

  /// Covers objects, and everything below them, from turn to turn.
  func coverTurns(_ roots: [any ObservableReference]) throws -> ScriptTransaction {
    let functions = try prelude()
    var nodes: [NodeRef] = []
    try state.withStack { L throws(LuaError) in
      for root in roots {
        try host.push(root: root, to: L)
        nodes.append(try node(at: -1, of: L))
      }
    }
    let table = try functions.makeTurns.callPlainly(arguments: []).first ?? .nil
    return try ScriptTransaction(host, functions, table: table, on: nodes, isOfTurns: true)
  }

  private func node(at index: CInt, of L: LuaStack) throws(LuaError) -> NodeRef {
    do { return try arguments.observed(at: index, of: L, "transaction") } catch {
      throw error as? LuaError ?? LuaError("\(error)")
    }
  }

  /// begin_transaction(transaction, roots) → the number of the new transaction.
  private func begin(_ L: LuaStack) throws -> CInt {
    state.interrupter.spare()
    let functions = try prelude()
    var roots: [NodeRef] = []
    for index in stride(from: 1, through: lua_Integer(L.rawLength(at: 2)), by: 1) {
      L.rawGet(index: index, at: 2)
      roots.append(try node(at: L.height, of: L))
      L.pop()
    }
    let script = try ScriptTransaction(
      host, functions, table: try state.value(at: 1, of: L), on: roots)
    let number = (open.keys.max() ?? 0) + 1
    open[number] = script
    script.transaction.open()
    L.push(number)
    return 1
  }

  /// transaction_failure(number) → the error if an object could not be covered or kept; otherwise
  /// nil.
  private func failure(_ L: LuaStack) -> CInt {
    guard let failure = open[Int(L.integer(at: 1) ?? 0)]?.transaction.failure else {
      L.pushNil()
      return 1
    }
    state.pushError(failure, to: L)
    return 1
  }

  /// is_being_restored(object) → whether the transaction that is being taken back covers an object.
  private func isBeingRestored(_ L: LuaStack) throws -> CInt {
    let node = try arguments.existingNode(at: 1, of: L, "transaction")
    L.push(node.map { restoring?.isCovered($0) ?? false } ?? false)
    return 1
  }

  /// end_transaction(number, is_undone): ends a transaction; its writes stay, or are taken back.
  private func end(_ L: LuaStack) throws -> CInt {
    guard let script = open.removeValue(forKey: Int(L.integer(at: 1) ?? 0)) else { return 0 }
    let isUndone = L.boolean(at: 2)
    if isUndone { script.transaction.restore() }
    script.transaction.close(isUndone: isUndone)
    script.transaction.end()
    if let failure = script.takeFailure() { throw failure }
    return 0
  }
}
