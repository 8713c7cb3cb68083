internal import CLua
public import Lua
public import Observables

/// A Lua state on a loop, whose scripts observe tables and Swift objects (`require "obs"`).
///
/// Confined to the loop's thread: elsewhere its functions throw, and those that throw nothing end
/// the program with a sentence. A host runs scripts, takes Swift objects and functions, and reports
/// errors. It ends with ``close()``, or when it is dropped. <doc:ScriptableApp> shows one at work.
public final class LuaHost {
  /// The state of the scripts.
  public let state: LuaState
  /// The loop that calls their watchers and timers.
  public private(set) var loop: Loop
  /// Told of errors in callbacks, which have no caller (T10): watchers, timers, tasks.
  ///
  /// A script's own `obs.on_error` comes first. Without either they go to the standard error
  /// stream.
  public var onError: ((LuaReport) -> Void)?
  /// What reports on the standard error stream begin with.
  public var programName = "obs-lua"
  /// How many errors were reported so far.
  public internal(set) var reportCount = 0
  /// True as soon as ``close()`` has begun.
  @exclusivity(unchecked) public private(set) var isClosed = false

  package let engine: Engine
  /// For who may outlive the host.
  let reference = HostReference()
  @exclusivity(unchecked) private(set) var tables: TableKind!
  let receiver = ScriptReceiver()
  @exclusivity(unchecked) private(set) var lazies: ScriptLazies!
  /// The write that Lua is at, if it is one that somebody hears.
  @exclusivity(unchecked) var writing: UnsafePointer<clua_write>?
  /// The call that the stack places of this write belong to: scripts that run meanwhile have
  /// others.
  @exclusivity(unchecked) var frame: UnsafeRawPointer?
  let paths = PathCache()
  let objects = HostObjects()
  let sources = SourceNames()
  let anchors = AnchorTable()
  let probe = ChangeProbe()
  private var turns: HostTurns!
  /// Registry reference of what the module has for global variables; 0 where it has those of
  /// scripts.
  private(set) var preludeGlobals: CInt = 0
  /// Keys of callbacks that cannot be those of their watchers' numbers lie beyond all of those.
  var lastSpareKey: Int64 = 1 << 50
  /// Watchers that stop at a prompt when they are called.
  @exclusivity(unchecked) var breakingCalls: Set<UInt64> = []
  @exclusivity(unchecked) var scopes = 0
  var scopeLists: [LuaTable] = []
  /// The module `obs`, once somebody asked for it.
  var module: LuaTable?
  /// Told when the module was asked for first: the script uses the loop.
  package var moduleDidLoad: (() -> Void)?
  /// The function of the prelude that makes a function wait; there with the module.
  var awaiting: LuaFunction?
  /// Results that tasks wait for.
  var pendingResults: [Int: PendingCall] = [:]
  var lastResult = 0
  /// Where operations of `AsyncResult` run; nil for the pool that all tasks share.
  package var operationExecutor: (any TaskExecutor)?
  var errorHook: LuaFunction?
  var isReporting = false
  var exitHooks: [(LuaFunction, site: String)] = []
  @exclusivity(unchecked) var endings: [Ending] = []
  @exclusivity(unchecked) var recorder: ScriptRecorder?
  var timers: [Int: LoopTimer] = [:]
  /// Callbacks of `next_turn` that were neither called nor stopped.
  var waitingTurns: Set<Int> = []
  var lastTimer = 0
  @exclusivity(unchecked) var hookDepth = 0

  /// A host on `loop`, with Lua's standard libraries and the module `obs`.
  ///
  /// Without a loop it is on the current one of this thread, or makes one. `require "obs"` is there
  /// whatever `libraries` are; without `package` it is all that `require` finds, besides those.
  ///
  /// - Throws: `LuaError` where there is no memory for it.
  public convenience init(
    loop: Loop? = nil, libraries: LuaLibraries = .all
  ) throws(LuaError) {
    // What the module is made of; scripts are given what was asked for.
    let needed: LuaLibraries = [.base, .coroutine, .table, .string]
    try self.init(
      state: LuaState(libraries: libraries.union(needed)), loop: loop ?? Loop.current ?? Loop())
    try install()
    let surplus = needed.subtracting(libraries)
    if surplus.isEmpty { return }
    try state.withStack { L throws(LuaError) in
      try state.check(clua_try_withdrawlibs(L, surplus.rawValue, &preludeGlobals), L)
    }
  }

  /// A host around a state whose libraries may not be open yet; `install` comes next.
  package init(state: LuaState, loop: Loop) {
    self.state = state
    self.loop = loop
    engine = loop.engine
    tables = TableKind(self)
    lazies = ScriptLazies(self)
    reference.host = self
    turns = HostTurns(self)
    state.attachment = self
    state.turns = turns
    state.confine(to: engine.isHereCheck)
    receiver.host = self
    objects.host = self
    probe.host = self
  }

  deinit {
    precondition(
      state.isFreed || !clua_isrunning(state.pointer),
      "A LuaHost was dropped inside of a callback of its own: it is to be kept until that returns")
    // Nobody else can use a loop that goes with its host.
    if !isClosed, !isKnownUniquelyReferenced(&loop) { requireThread("dropped") }
    reference.host = nil
    state.attachment = nil
    state.turns = nil
    end()
    // Finalizers need what goes with the host.
    state.finishClosing()
  }

  /// Replaces the base functions that could tell an observed table from a plain one, and offers the
  /// module `obs`.
  ///
  /// To be called when the libraries are open and before any script runs.
  package func install() throws(LuaError) {
    assert(Slot.isAsInC, "A slot is laid out otherwise in C (this is a bug in LuaObservables)")
    try state.withStack { L throws(LuaError) in
      var observation = clua_observation(
        context: Unmanaged.passUnretained(self).toOpaque(),
        written: { context, L, write in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.written(L!, write!)
          }
        },
        ended: { context, L, node, owner in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.ended(L!, node!, owner)
          }
        },
        revived: { context, L, node in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.revived(L!, node!)
          }
        },
        armings: engine.armings,
        compute: { context, L, slot in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.computeLazy(L!, slot!)
          }
        },
        evaluated: { evaluation in
          Unmanaged<ScriptLazies>.fromOpaque(evaluation!.pointee.context)._withUnsafeGuaranteedRef {
            $0.evaluated(evaluation!)
          }
        },
        assign: { context, L, slot, isInvalid in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.assignLazy(L!, slot!, isInvalid: isInvalid)
          }
        },
        read: { context, L, table, slot, reading in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.noteRead(L!, table!, slot, clua_reading(UInt32(reading)))
          }
        },
        stamp: engine.trackingStamp)
      try state.check(clua_try_observation_install(L, &observation), L)
      try state.check(clua_try_watchyields(L), L)
      lazies.install(L)
      try anchors.install(state, L)
      try paths.install(state, L)
      try sources.install(state, L)
      try objects.install(L)
      try installHandles(L)
      try installModule(L)
    }
  }

  /// Ends every watcher and timer of the scripts, telling nobody, and closes the state.
  ///
  /// To be called on the loop's thread. Called by a callback, or by a function that a script runs,
  /// it stops all others at once, and frees the state when that has returned. Harmless when it is
  /// closed.
  public func close() {
    guard !isClosed else { return }
    requireThread("closed")
    end()
  }

  private func end() {
    guard !isClosed else { return }
    isClosed = true
    for timer in timers.values { timer.stop() }
    timers = [:]
    cancelResults()
    if let recorder { engine.use(recorder, isNeeded: false) }
    endings = []
    engine.stopAll {
      $0 === receiver || $0 === probe || ($0 as? TableWatcher)?.host === self
        || $0 === lazies
    }
    tables.abandonAll()
    exitHooks = []
    errorHook = nil
    scopeLists = []
    (module, awaiting) = (nil, nil)
    (objects.arrayMethods, objects.setMethods) = (nil, nil)
    // Callbacks are called without counting them: in one of them the state has to wait.
    guard engine.isOccupied || hookDepth > 0 || clua_isrunning(state.pointer) else {
      return state.close()
    }
    state.closeLater()
    loop.nextTurn { [state] in state.finishClosing() }
  }

  // MARK: Scripts

  /// Runs a file as a turn: watchers are called when it ends, or with those of the turn under way
  /// where a callback calls this.
  ///
  /// - Throws: `LuaError` for a file that cannot be read, a syntax error, and what the script
  ///   raised.
  @discardableResult
  public func run(file path: String) throws(LuaError) -> [LuaValue] {
    try turn { () throws(LuaError) in try state.runFile(path) }
  }

  /// Runs `text` as a turn; `name` is what error messages call it.
  ///
  /// - Throws: `LuaError` for a syntax error, and for what the script raised.
  @discardableResult
  public func run(_ text: String, name: String = "=script") throws(LuaError) -> [LuaValue] {
    try turn { () throws(LuaError) in try state.run(text, name: name) }
  }

  /// Within a callback `body` belongs to the turn under way.
  private func turn<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
    try state.checkThread()
    if engine.isOccupied { return try body() }
    return try loop.turn(body)
  }

  /// Handles what is due, without waiting; for a host with a loop of its own.
  ///
  /// - Returns: whether anything could still happen.
  @discardableResult
  public func step() -> Bool {
    requireThread("stepped")
    return loop.step()
  }

  /// What throws nothing can only stop here.
  func requireThread(_ what: String) {
    precondition(
      state.isOnThread,
      "A LuaHost is \(what) on the thread of its loop; other threads post to the loop's inbox")
  }

  /// The value by which scripts know a Swift model or collection; the same for the same object.
  ///
  /// - Throws: `LuaError` for a closed state, or no memory.
  public func value(for object: some KeyPathObservable) throws(LuaError) -> LuaValue {
    try state.withStack { L throws(LuaError) in
      try objects.push(object, to: L)
      return try state.value(at: -1, of: L)
    }
  }
}
