internal import CLua
internal import Lua
internal import Observables

/// The functions that the prelude needs for transactions (S8).
final class TransactionFunctions: ModuleSlice {
  /// The account of code that is not stopped: taking back what scripts wrote.
  private let account: UnsafeMutablePointer<clua_account>
  private var exemptions: [LuaInterrupter.Exemption] = []

  override init(_ host: LuaHost) {
    account = .allocate(capacity: 1)
    account.initialize(to: clua_account())
    super.init(host)
  }

  deinit { account.deallocate() }

  override var functions: [(String, ModuleFunction)] {
    [
      (
        "open_transaction",
        { [self] _ in
          state.interrupter.spare()
          engine.openTransaction()
          return 0
        }
      ),
      (
        "close_transaction",
        { [self] L in
          engine.closeTransaction(isUndone: L.boolean(at: 1))
          return 0
        }
      ),
      (
        "begin_exempt",
        { [self] _ in
          exemptions.append(state.interrupter.exempt(account))
          return 0
        }
      ),
      (
        "end_exempt",
        { [self] _ in
          if let last = exemptions.popLast() { state.interrupter.resume(last) }
          return 0
        }
      ),
      (
        "cover",
        { [self] L in
          let node = try arguments.observed(at: 1, of: L, "transaction")
          engine.cover(node, by: Int32(L.integer(at: 2) ?? 0))
          return 0
        }
      ),
    ]
  }
}
