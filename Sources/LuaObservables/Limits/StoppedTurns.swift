public import Lua
public import Observables

/// Takes back writes at and below some objects in turns whose scripts met a limit (S8).
///
/// The objects stay covered from turn to turn. The loop calls this object when turns begin and end.
final class StoppedTurns: TurnGuard {
  // The host owns this object through its sandboxes.
  private unowned(unsafe) let host: LuaHost
  /// Keeps the roots alive.
  private let roots: [any ObservableReference]
  private let script: ScriptTransaction
  private var isOpen = false
  private var isDue = false
  private var hasEnded = false

  /// - Throws: `LuaError` if `roots` is empty or has a stored property without a setter, and for no
  ///   memory.
  /// - Complexity: O(objects below the roots).
  init(_ host: LuaHost, on roots: [any ObservableReference]) throws(LuaError) {
    do { script = try host.module.transactions.coverTurns(roots) } catch {
      throw error as? LuaError ?? LuaError("\(error)")
    }
    (self.host, self.roots) = (host, roots)
    host.loop.add(self)
    script.transaction.open()
    if host.loop.isInTurn { turnBegins() }
  }

  /// Marks the turn under way to be taken back, before or after its watchers are called.
  func scriptsMetLimit() { if isOpen { isDue = true } }

  /// Releases the objects; writes up to now stay.
  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    host.loop.remove(self)
    turnEnds()
    script.transaction.end()
  }

  // MARK: TurnGuard

  func turnBegins() {
    guard !hasEnded else { return }
    // Writes between the turns stay.
    script.transaction.close(isUndone: false)
    var failure: (any Error)?
    host.module.transactions.exempted {
      do { try script.coverAnew() } catch { failure = error }
    }
    if let failure { report(failure) }
    script.transaction.open()
    isOpen = true
  }

  func takeBack() -> Bool {
    if isOpen, let failure = script.transaction.failure {
      report(failure)
      isDue = true
    }
    guard isDue, isOpen else { return false }
    isDue = false
    // Immediate watchers are called for the way back after it, under the limits of their scripts.
    host.engine.immediates.beginBatch()
    host.module.transactions.exempted { script.transaction.restore() }
    if let failure = script.takeFailure() { report(failure) }
    script.transaction.close(isUndone: true)
    script.transaction.open()
    host.engine.immediates.endBatch()
    return true
  }

  func turnEnds() {
    guard isOpen else { return }
    (isOpen, isDue) = (false, false)
    script.transaction.close(isUndone: false)
    // Objects that are put below the roots between turns have to be covered, too.
    script.transaction.open()
  }

  private func report(_ error: any Error) {
    host.reports.report(
      error as? LuaError ?? LuaError("\(error)"), .watcher, name: "undoStoppedTurns",
      site: "the program", cause: nil)
  }
}

extension LuaHost {
  /// Undoes changes to these objects in turns whose scripts meet a limit, as
  /// ``ScriptLimits/undoStoppedTurns`` describes.
  ///
  /// That property takes models and collections before the host exists. This function takes tables
  /// of scripts, too, and replaces any earlier setting.
  ///
  /// - Throws: `LuaError` if an object has a stored property without a setter, for a closed state
  ///   and no memory.
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
