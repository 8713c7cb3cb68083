public import Lua
public import Observables

/// A Lua state on a loop, whose scripts observe tables and Swift objects (`require "obs"`).
///
/// Confined to the loop's thread: elsewhere its functions throw, and those that throw nothing end
/// the program with a sentence. A host runs scripts, takes Swift objects and functions, and reports
/// errors. It ends with ``close()``, or when it is dropped. <doc:ScriptableApp> shows one at work.
public final class LuaHost {
  // It has a field for each of its parts, which find one another through it.

  /// The state of the scripts.
  public let state: LuaState
  /// The loop that calls the watchers and timers of the scripts.
  public private(set) var loop: Loop
  /// True as soon as ``close()`` has begun.
  @exclusivity(unchecked) public private(set) var isClosed = false

  package let engine: Engine
  /// What scripts may not change; set before they meet objects of the classes.
  @exclusivity(unchecked) package var writeGuard: WriteGuard?
  /// The reference for objects that may live longer than the host.
  let reference = HostReference()
  let calls: ScriptCalls
  let paths = PathCache()
  let sources = SourceNames()
  let anchors = AnchorTable()
  let sandboxes: Sandboxes
  // These objects refer to the host, and are made when its other properties are set.
  @exclusivity(unchecked) private(set) var objects: HostObjects!
  @exclusivity(unchecked) private(set) var tables: TableKind!
  @exclusivity(unchecked) private(set) var receiver: ScriptReceiver!
  @exclusivity(unchecked) private(set) var lazies: ScriptLazies!
  @exclusivity(unchecked) private(set) var module: ObsModule!
  private var turns: HostTurns!
  /// How a program that stands alone is interrupted: a descriptor that can be read then, and
  /// whether it was.
  package var interruption: (descriptor: CInt, isAsked: () -> Bool)?
  /// Makes signals end such a program again that a module has handled meanwhile.
  package var restoreSignals: (() -> Void)?

  /// A host on `loop`, with Lua's standard libraries and the module `obs`.
  ///
  /// Without a loop it is on the one of this thread whose turn is under way, or on the only one, or
  /// makes one. `require "obs"` works with any `libraries`; without `package`, `require` finds only
  /// `obs` and those.
  ///
  /// `limits` are what its scripts may use; with `.safe` libraries they contain any script, but for
  /// those that crash Lua itself: `minimumLua` refuses releases in which they can (S6).
  ///
  /// - Precondition: without `loop`, no two loops of this thread are meant alike.
  /// - Throws: `LuaError` where there is no memory for it, the library of Lua is too old, or the
  ///   system refuses what a loop needs.
  public convenience init(
    loop: Loop? = nil, libraries: LuaLibraries = .all, limits: ScriptLimits = ScriptLimits(),
    minimumLua: LuaRelease? = nil
  ) throws(LuaError) {
    try minimumLua?.require()
    // The module needs these libraries itself; scripts only get those in `libraries`.
    let needed: LuaLibraries = [.base, .coroutine, .table, .string]
    let loop =
      loop ?? Loop.only(for: "runs the host's scripts", namedBy: "loop:")
      ?? Loop(unchecked: .system)
    if let refusal = loop.refusal { throw LuaError("\(refusal)") }
    try self.init(state: LuaState(libraries: libraries.union(needed)), loop: loop)
    try install()
    // The time of scripts does not begin before they do.
    if libraries.contains(.safe) { try shareLibraries() }
    try limit(to: limits)
    let surplus = needed.subtracting(libraries)
    if !surplus.isEmpty {
      try state.withStack { L throws(LuaError) in try module.withdraw(surplus, L) }
    }
    if !limits.undoStoppedTurns.isEmpty { try undoStoppedTurns(on: limits.undoStoppedTurns) }
  }

  /// A host around a state whose libraries may not be open yet; `install` is called next.
  package init(state: LuaState, loop: Loop) {
    self.state = state
    self.loop = loop
    engine = loop.engine
    calls = ScriptCalls(state)
    sandboxes = Sandboxes(state, engine)
    objects = HostObjects(self)
    tables = TableKind(self)
    receiver = ScriptReceiver(self)
    lazies = ScriptLazies(self)
    module = ObsModule(self)
    reference.host = self
    sandboxes.main.start(in: self)
    turns = HostTurns(self)
    state.attachment = self
    state.turns = turns
    state.confine(to: engine.isHereCheck)
  }

  deinit {
    precondition(
      state.isFreed || !state.stack.isRunning,
      "A LuaHost was dropped inside of a callback of its own: it is to be kept until that returns")
    // Where the host has the only reference to its loop, no other code can use the loop.
    if !isClosed, !isKnownUniquelyReferenced(&loop) { requireThread("dropped") }
    reference.host = nil
    state.attachment = nil
    state.turns = nil
    end()
    // Finalizers need the objects of the host.
    state.finishClosing()
  }

  /// Ends every watcher and timer of the scripts, without calling `on_end`, and closes the state.
  ///
  /// To be called on the loop's thread. Called by a callback, or by a function that a script runs,
  /// it stops all others at once, and the state is freed when that one has returned. Does nothing
  /// when the host is closed.
  public func close() {
    guard !isClosed else { return }
    requireThread("closed")
    end()
  }

  private func end() {
    guard !isClosed else { return }
    sandboxes.endStoppedTurns()
    isClosed = true
    module.end()
    sandboxes.closeAll()
    receiver.end()
    engine.watchers.stopAll {
      $0 === receiver || $0 === module.debugging.probe || ($0 as? TableWatcher)?.host === self
        || $0 === lazies
    }
    tables.abandonAll()
    // Callbacks are called without counting them: within one the state must not be freed.
    guard engine.isOccupied || receiver.hooks.isRunning || state.stack.isRunning else {
      return state.close()
    }
    state.closeLater()
    loop.nextTurn { [state] in state.finishClosing() }
  }

  // MARK: Errors

  /// Called with errors in callbacks, which have no caller (T10): watchers, timers, tasks.
  ///
  /// A script's own `obs.on_error` comes first; what it takes is seen here only in a host with
  /// `.safe` libraries, as a report that `isHandled`. Without either they go to the standard error
  /// stream.
  public var onError: ((LuaReport) -> Void)? {
    get { reports.onError }
    set { reports.onError = newValue }
  }

  /// What reports on the standard error stream begin with.
  public var programName: String {
    get { reports.programName }
    set { reports.programName = newValue }
  }

  /// How many errors were reported so far.
  public var reportCount: Int { reports.count }

  /// Whether a script has set `obs.on_error`, so that it goes on after errors (T14).
  public var handlesErrors: Bool { reports.hasHook }

  // MARK: Scripts

  /// Runs `body` as a turn; within a callback it belongs to the turn under way.
  func turn<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
    try state.checkThread()
    if engine.isOccupied { return try body() }
    defer { recorder?.drain() }
    return try loop.turn(body)
  }

  /// Handles what is due, without waiting; for a host with a loop of its own.
  ///
  /// - Returns: whether anything could still happen.
  @discardableResult
  public func step() -> Bool {
    requireThread("stepped")
    defer { recorder?.drain() }
    return loop.step()
  }

  /// Traps on another thread; for functions that cannot throw.
  func requireThread(_ what: String) {
    precondition(
      state.isOnThread,
      "A LuaHost is \(what) on the thread of its loop; other threads post to the loop's inbox")
  }
}
