public import Lua
public import Observables

/// Takes back what was written at and below some objects in turns whose scripts met a limit (S8).
///
/// The objects stay covered from turn to turn: the prelude has their contents as they were when the
/// turn began. The loop says where turns begin and end.
final class StoppedTurns: TurnGuard {
  // The host owns it by its sandboxes.
  private unowned(unsafe) let host: LuaHost
  /// The transaction that is open in each turn.
  private let number: Int
  private let functions: Functions
  private var isOpen = false
  private var isDue = false
  private var hasEnded = false

  /// What the prelude does for it.
  struct Functions {
    /// Makes the present contents those to which the turn is taken back.
    let renew: LuaFunction
    let undo: LuaFunction
    let leave: LuaFunction
  }

  /// - Throws: `LuaError` where `roots` are none, or have a stored property without a setter, and
  ///   for no memory.
  /// - Complexity: O(objects below the roots).
  init(_ host: LuaHost, on roots: [any ObservableReference]) throws(LuaError) {
    guard let number = host.engine.transactions.begin(ofTurns: true) else {
      throw LuaError("too many transactions are open")
    }
    do {
      functions = try host.module.transactions.coverTurns(number, roots)
    } catch {
      host.engine.transactions.end(number)
      throw error
    }
    (self.host, self.number) = (host, number)
    host.loop.add(self)
    if host.loop.isInTurn { turnBegins() }
  }

  /// The turn under way is taken back before its watchers are called, or after that.
  func scriptsMetLimit() { if isOpen { isDue = true } }

  /// Lets go of the objects; what was written stays.
  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    host.loop.remove(self)
    turnEnds()
    run(functions.leave)
    host.engine.transactions.end(number)
  }

  // MARK: TurnGuard

  func turnBegins() {
    guard !hasEnded else { return }
    run(functions.renew)
    host.engine.transactions.open(number)
    isOpen = true
  }

  func takeBack() -> Bool {
    guard isDue, isOpen else { return false }
    isDue = false
    // Immediate watchers are called for the way back when it is over, under the limits of their
    // scripts.
    host.engine.immediates.beginBatch()
    run(functions.undo)
    host.engine.transactions.close(number, isUndone: true)
    host.engine.transactions.open(number)
    host.engine.immediates.endBatch()
    return true
  }

  func turnEnds() {
    guard isOpen else { return }
    (isOpen, isDue) = (false, false)
    host.engine.transactions.close(number, isUndone: false)
  }

  private func run(_ function: LuaFunction) {
    host.module.transactions.exempted {
      do throws(LuaError) { _ = try function.callPlainly(arguments: []) } catch {
        host.reports.report(
          error, .watcher, name: "undoStoppedTurns", site: "the program", cause: nil)
      }
    }
  }
}

extension LuaHost {
  /// Turns whose scripts meet a limit have never been for these objects, as
  /// ``ScriptLimits/undoStoppedTurns`` says, which takes models and collections before the host is
  /// there; this takes tables of scripts, too, and replaces what was said before.
  ///
  /// - Throws: `LuaError` where an object has a stored property without a setter, for a closed
  ///   state and no memory.
  /// - Complexity: O(objects below the roots).
  public func undoStoppedTurns(on roots: [any ObservableReference]) throws(LuaError) {
    try undoStoppedTurns(on: roots, of: sandboxes.main)
  }

  func undoStoppedTurns(
    on roots: [any ObservableReference], of sandbox: LuaSandbox
  ) throws(LuaError) {
    if isClosed { throw .closed }
    let fresh = roots.isEmpty ? nil : try StoppedTurns(self, on: roots)
    if sandbox === sandboxes.main {
      sandboxes.replaceStoppedTurns(by: fresh)
    } else {
      sandbox.stoppedTurns = fresh
    }
  }
}
