internal import Lua
public import Observables

/// Turns that can be undone, for programs (S8).
extension ScriptEnvironment {
  /// Runs `body`; if it throws, takes back every stored write at or below `roots` since, by scripts
  /// and by Swift, and throws the error.
  ///
  /// Coalesced watchers are not called for writes that were taken back; immediate watchers, which
  /// were called for them, are called again for the way back, when the transaction is over. Lists
  /// have their order again, new keys are gone, overrides of computed properties are as before.
  /// Registrations, timers, tasks and writes of other threads stay. A transaction inside of `body`
  /// is a savepoint: where it fails and `body` catches the error, only its own writes are taken
  /// back. `roots` are models, collections and tables of scripts. `body` must neither flush nor
  /// wait.
  ///
  /// On the thread of the host's loop.
  ///
  /// - Throws: what `body` throws; `LuaError` if `roots` is empty, if an object has a stored
  ///   property without a setter, if a script called `obs.abort`, for too many open transactions,
  ///   a closed state, and no memory.
  /// - Complexity: O(objects below the roots); O(1) where a watcher of the whole tree follows just
  ///   the tables at and below the root.
  public func transaction<Result>(
    on roots: [any ObservableReference], _ body: () throws -> Result
  ) throws -> Result {
    let scope = try scriptScope()
    return try scope.entered {
      let functions = try scope.host.module.transactions.prelude()
      let list = try scope.host.list(of: roots)
      let transaction = try functions.begin.callPlainly(arguments: [list]).first ?? .nil
      let outcome = Swift.Result { try body() }
      let isKept = if case .success = outcome { true } else { false }
      var failure: LuaError?
      do throws(LuaError) {
        failure = try scope.host.module.transactions.conclude(transaction, isKept, functions)
      } catch {
        failure = error
      }
      let result = try outcome.get()
      // A script called `obs.abort`, or an object that was put below a root could not be covered.
      if let failure { throw failure }
      return result
    }
  }
}

extension LuaHost {
  /// A list of objects that a transaction covers.
  fileprivate func list(of roots: [any ObservableReference]) throws(LuaError) -> LuaValue {
    try state.withStack { L throws(LuaError) in
      try state.pushTable(elements: roots.count, to: L)
      for (index, root) in roots.enumerated() {
        try push(root: root, to: L)
        L.rawSet(index: index + 1, at: -2)
      }
      return try state.value(at: -1, of: L)
    }
  }

  /// Pushes an object that a transaction covers. [-0, +1, -]
  func push(root: any ObservableReference, to L: LuaStack) throws(LuaError) {
    if let table = root as? LuaTable {
      try state.push(table.pin, to: L)
    } else {
      try objects.push(root as AnyObject, to: L)
    }
  }
}
