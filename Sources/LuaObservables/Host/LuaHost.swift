public import Lua
public import Observables

/// A Lua state on a loop, whose scripts observe tables and Swift objects (`require "obs"`).
///
/// A host runs scripts, gives them Swift objects and functions, and reports errors. It is confined
/// to the loop's thread: on other threads its throwing functions throw, and its other functions end
/// the program with a message. It ends with ``close()``, when it is dropped, or when the
/// `LoopThread` of its loop is stopped. <doc:ScriptableApp> shows one at work.
public final class LuaHost {
  // Each part has a field here; the parts find one another through the host.

  /// The state of the scripts.
  public let state: LuaState
  /// The loop that calls the scripts' watchers and timers.
  public private(set) var loop: Loop
  /// True as soon as ``close()`` has begun.
  @exclusivity(unchecked) public private(set) var isClosed = false

  package let engine: Engine
  /// Decides which objects scripts may change; set before scripts meet objects of these classes.
  @exclusivity(unchecked) package var writeGuard: WriteGuard?
  /// A reference for objects that may outlive the host.
  let reference = HostReference()
  let calls: ScriptCalls
  let paths = PathCache()
  let sources = SourceNames()
  let anchors = AnchorTable()
  let sandboxes: Sandboxes
  // These objects refer to the host, so they are made after its other properties are set.
  @exclusivity(unchecked) private(set) var objects: HostObjects!
  @exclusivity(unchecked) private(set) var tables: TableKind!
  @exclusivity(unchecked) private(set) var receiver: ScriptReceiver!
  @exclusivity(unchecked) private(set) var lazies: ScriptLazies!
  @exclusivity(unchecked) private(set) var module: ObsModule!
  private var turns: HostTurns!
  /// The interruption of a stand-alone program: a descriptor that is then readable, and whether an
  /// interruption was requested.
  package var interruption: (descriptor: CInt, isAsked: () -> Bool)?
  /// Lets signals end a stand-alone program again after a module has handled them.
  package var restoreSignals: (() -> Void)?

  /// Makes a host on `loop`, with Lua's standard libraries and the module `obs`.
  ///
  /// Without `loop`, the host uses the loop of this thread whose turn is under way, or the thread's
  /// only loop, or makes one. `require "obs"` works with any `libraries`; without `package`,
  /// `require` finds only `obs` and the open libraries.
  ///
  /// `limits` bounds the resources of scripts. With `.safe` libraries the limits contain any
  /// script, except scripts that crash Lua itself: `minimumLua` refuses Lua releases where this can
  /// happen (S6).
  ///
  /// - Precondition: without `loop`, the choice of a loop on this thread is unambiguous.
  /// - Throws: `LuaError` if memory runs out, the Lua library is too old, or the system refuses a
  ///   resource that a loop needs.
  public convenience init(
    loop: Loop? = nil, libraries: LuaLibraries = .all, limits: ScriptLimits = ScriptLimits(),
    minimumLua: LuaRelease? = nil
  ) throws(LuaError) {
    try minimumLua?.require()
    // The module needs these libraries; scripts get only the requested ones.
    let needed: LuaLibraries = [.base, .coroutine, .table, .string]
    let loop =
      loop ?? Loop.only(for: "runs the host's scripts", namedBy: "loop:")
      ?? Loop(unchecked: .system)
    if let refusal = loop.refusal { throw LuaError("\(refusal)") }
    try self.init(state: LuaState(libraries: libraries.union(needed)), loop: loop)
    try install()
    // The clock of scripts starts only when the first script does.
    if libraries.contains(.safe) { try shareLibraries() }
    try limit(to: limits)
    let surplus = needed.subtracting(libraries)
    if !surplus.isEmpty {
      try state.withStack { L throws(LuaError) in try module.withdraw(surplus, L) }
    }
    if !limits.undoStoppedTurns.isEmpty { try undoStoppedTurns(on: limits.undoStoppedTurns) }
  }

  /// Makes a host around a state whose libraries may not be open yet; call `install` next.
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
    loop.placeSources.append(sources)
    loop.members.append(reference)
    sources.state = state
  }

  deinit {
    precondition(
      state.isFreed || !state.stack.isRunning,
      "A LuaHost was dropped inside a call that does not keep it (this is a bug in LuaObservables)")
    // If the host holds the only reference to its loop, no other code can use the loop.
    if !isClosed, !isKnownUniquelyReferenced(&loop) { requireThread("dropped") }
    reference.host = nil
    state.attachment = nil
    state.turns = nil
    end()
    // Finalizers need the host's objects.
    state.finishClosing()
  }

  /// Ends every watcher and timer of the scripts, without calling `on_end`, and closes the state.
  ///
  /// Call this on the loop's thread. If a callback, or a function that a script runs, calls it, the
  /// script is stopped with the error `closed` as soon as that function returns: no other code of
  /// scripts runs, and the state is freed after the outermost call. Does nothing if the host is
  /// closed.
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
    loop.placeSources.removeAll { $0 === sources }
    loop.members.removeAll { $0 === reference }
    sandboxes.closeAll()
    receiver.end()
    engine.watchers.stopAll {
      $0 === receiver || $0 === module.debugging.probe || ($0 as? TableWatcher)?.host === self
        || $0 === lazies
    }
    tables.abandonAll()
    // Calls of callbacks are not counted, but the state must not be freed during one.
    guard engine.isOccupied || receiver.hooks.isRunning || state.stack.isRunning else {
      return state.close()
    }
    state.closeLater()
    loop.nextTurn { [state] in state.finishClosing() }
  }

  // MARK: Errors

  /// Called with errors in callbacks, which have no caller to catch them (T10): watchers, timers,
  /// tasks.
  ///
  /// A script's `obs.on_error` is called first. If it handles an error, this is called only in a
  /// host with `.safe` libraries, with a report that `isHandled`. Without either handler, errors go
  /// to the standard error stream.
  public var onError: ((LuaReport) -> Void)? {
    get { reports.onError }
    set { reports.onError = newValue }
  }

  /// The beginning of reports on the standard error stream.
  public var programName: String {
    get { reports.programName }
    set { reports.programName = newValue }
  }

  /// The number of errors reported so far.
  public var reportCount: Int { reports.count }

  /// Whether a script has set `obs.on_error`, so that the program continues after errors (T14).
  public var handlesErrors: Bool { reports.hasHook }

  // MARK: Scripts

  /// Runs `body` as a turn; within a callback it belongs to the turn under way.
  func turn<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
    try state.checkThread()
    if engine.isOccupied { return try body() }
    defer { recorder?.drain() }
    return try loop.turn(body)
  }

  /// Handles due work without waiting; for a host with its own loop.
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
