internal import Lua
public import Observables

/// Turns that can be undone, for programs (S8).
extension ScriptEnvironment {
  /// Runs `body`; if it throws, every stored write at or below `roots` that was made meanwhile is
  /// taken back, by scripts and by Swift, and the error goes on.
  ///
  /// Watchers are not called for what never happened; immediate ones that were called are called
  /// for the way back. Lists have their order again, new keys are gone, overrides of computed
  /// properties are what they were. Registrations, timers, tasks and writes of other threads stay.
  /// Transactions inside of it are savepoints: an inner one that fails takes back its own writes,
  /// and the outer one goes on. `roots` are models, collections and tables of scripts. `body` must
  /// neither flush nor wait.
  ///
  /// - Throws: what `body` throws; `LuaError` where `roots` are none, or have a stored property
  ///   without a setter, for a closed state and no memory.
  /// - Complexity: O(objects below the roots).
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
      // A script has called `obs.abort`, or an object that came could not be covered.
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
