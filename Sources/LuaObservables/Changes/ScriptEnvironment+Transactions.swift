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
    var outcome: Swift.Result<Result, any Error>?
    let scope = try scriptScope()
    try withoutActuallyEscaping(body) { body in
      // Lua keeps the function until it is collected, but not what it calls.
      let call = TransactionBody { outcome = Swift.Result { try body() } }
      defer { call.body = nil }
      try scope.call("transaction", results: 0) { host, L throws(LuaError) in
        try host.push(roots: roots, to: L)
        try host.calls.push(
          { _ in
            call.body?()
            if case .failure = outcome { throw LuaError("a transaction of the program failed") }
            return 0
          }, to: L)
        return 2
      } result: { _, _ in
      }
    }
    guard let outcome else { throw LuaError("the transaction could not be opened") }
    return try outcome.get()
  }
}

extension LuaHost {
  /// Pushes a list of objects. [-0, +1, -]
  func push(roots: [any ObservableReference], to L: LuaStack) throws(LuaError) {
    try state.pushTable(elements: roots.count, to: L)
    for (index, root) in roots.enumerated() {
      if let table = root as? LuaTable {
        try state.push(table.pin, to: L)
      } else {
        try objects.push(root as AnyObject, to: L)
      }
      L.rawSet(index: index + 1, at: -2)
    }
  }
}

/// What a transaction runs, while it is open.
private final class TransactionBody {
  var body: (() -> Void)?
  init(_ body: @escaping () -> Void) { self.body = body }
}
