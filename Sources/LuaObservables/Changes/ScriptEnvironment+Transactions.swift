internal import Lua
public import Observables

/// Turns that programs can undo (S8).
extension ScriptEnvironment {
  /// Runs `body`; if it throws, undoes every stored write that scripts or Swift made at or below
  /// `roots` during it, and rethrows the error.
  ///
  /// Coalesced watchers are not called for writes that were taken back. Immediate watchers were
  /// already called for these writes, so they are called again for the way back when the
  /// transaction is over. Lists regain their order, new keys are removed, and overrides of computed
  /// properties are as before. Registrations, timers, tasks and writes of other threads stay. A
  /// transaction inside `body` is a savepoint: if it fails and `body` catches the error, only the
  /// inner writes are taken back. `roots` are models, collections and tables of scripts. `body`
  /// must neither flush nor wait.
  ///
  /// Call this on the thread of the host's loop.
  ///
  /// - Throws: any error from `body`; `LuaError` if `roots` is empty, if an object has a stored
  ///   property without a setter, if a script called `obs.abort`, for too many open transactions, a
  ///   closed state, and no memory.
  /// - Complexity: O(objects below the roots); O(1) if a watcher of the whole tree follows exactly
  ///   the tables at and below the root.
  @discardableResult
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
  /// A list of objects for a transaction to cover.
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

  /// Pushes an object for a transaction to cover. [-0, +1, -]
  func push(root: any ObservableReference, to L: LuaStack) throws(LuaError) {
    if let table = root as? LuaTable {
      try state.push(table.pin, to: L)
    } else {
      try objects.push(root as AnyObject, to: L)
    }
  }
}
