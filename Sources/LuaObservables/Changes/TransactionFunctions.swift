internal import Lua
internal import Observables

/// The functions that the prelude needs for transactions (S8).
final class TransactionFunctions: ModuleSlice {
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
