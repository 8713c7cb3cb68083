internal import CLua
internal import Lua
internal import Observables

/// The functions that the prelude needs for transactions (S8).
final class TransactionFunctions: ModuleSlice {
  /// The account of code that is not stopped: taking back what scripts wrote.
  private let account: UnsafeMutablePointer<clua_account>
  private var exemptions: [LuaInterrupter.Exemption] = []
  /// The function of the prelude that covers the turns of the loop.
  private var coverTurns: LuaFunction?

  override init(_ host: LuaHost) {
    account = .allocate(capacity: 1)
    account.initialize(to: clua_account())
    super.init(host)
  }

  deinit { account.deallocate() }

  override var functions: [NamedFunction] {
    [
      .init("open_transaction", open), .init("close_transaction", close), .init("cover", cover),
      .init(
        "end_transaction",
        { [self] L in
          engine.transactions.end(Int(L.integer(at: 1) ?? 0))
          return 0
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

  override func end() { coverTurns = nil }

  // MARK: Code that is not stopped

  /// Runs `body`, which takes back what scripts wrote: neither their time nor their memory limits
  /// it.
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

  /// Covers objects and all below them from turn to turn.
  func coverTurns(
    _ number: Int, _ roots: [any ObservableReference]
  ) throws(LuaError) -> StoppedTurns.Functions {
    var list = LuaValue.nil
    try state.withStack { L throws(LuaError) in
      if coverTurns == nil { try takeCoverTurns(L) }
      try host.push(roots: roots, to: L)
      list = try state.value(at: -1, of: L)
    }
    guard let coverTurns else { throw .closed }
    let functions = try coverTurns.callPlainly(arguments: [.integer(Int64(number)), list])
    guard functions.count == 3, case .function(let renew) = functions[0],
      case .function(let undo) = functions[1], case .function(let leave) = functions[2]
    else { throw .closed }
    return StoppedTurns.Functions(renew: renew, undo: undo, leave: leave)
  }

  /// Keeps the function of the prelude that covers turns.
  private func takeCoverTurns(_ L: LuaStack) throws(LuaError) {
    try host.module.loadLate("trees", L)
    guard let core = host.module.core else { throw .closed }
    try state.push(core.pin, to: L)
    try state.pushField("cover_turns", of: L)
    coverTurns = LuaFunction(pin: try state.pin(at: -1, of: L))
  }

  /// open_transaction() → the number of a transaction that begins.
  private func open(_ L: LuaStack) throws -> CInt {
    state.interrupter.spare()
    guard let number = engine.transactions.begin() else {
      throw LuaError("transactions are too many, one inside of the other")
    }
    engine.transactions.open(number)
    L.push(number)
    return 1
  }

  /// close_transaction(number, is_undone): what was written stays, or was taken back;
  /// `end_transaction` is called when no object is covered any more.
  private func close(_ L: LuaStack) -> CInt {
    engine.transactions.close(Int(L.integer(at: 1) ?? 0), isUndone: L.boolean(at: 2))
    return 0
  }

  /// cover(object, number, is_covered): writes to the object belong to a transaction.
  private func cover(_ L: LuaStack) throws -> CInt {
    let node = try arguments.observed(at: 1, of: L, "transaction")
    engine.transactions.cover(node, by: Int(L.integer(at: 2) ?? 0), L.boolean(at: 3))
    return 0
  }
}
