internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Calls the callbacks of scripts.
///
/// Each host has one receiver. Its fields are parts of the host that calls of watchers need, which
/// shortens the access.
final class ScriptReceiver: Receiver {
  // The host is not retained: it owns this object.
  private let reference: Unmanaged<LuaHost>
  let state: LuaState
  let engine: Engine
  let tables: TableKind
  let observed: ObservedObjects
  let hooks: ScriptHooks
  private let anchors: AnchorTable
  private let sources: SourceNames
  private let endings: ScriptEndings
  let sandboxes: Sandboxes
  private let linkLimits: LinkLimits
  /// Watchers that open a prompt when they are called.
  @exclusivity(unchecked) private var breakingCalls: Set<UInt64> = []
  /// The number of the sandbox whose write a watcher of the prelude is being notified of.
  @exclusivity(unchecked) private(set) var notedWriter: UInt32 = 0

  init(_ host: LuaHost) {
    reference = .passUnretained(host)
    (state, engine, tables) = (host.state, host.engine, host.tables)
    (anchors, sources, sandboxes) = (host.anchors, host.sources, host.sandboxes)
    observed = ObservedObjects(host)
    hooks = ScriptHooks(host, tables, observed)
    endings = ScriptEndings(host)
    linkLimits = LinkLimits(host.state)
    super.init()
  }

  var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }

  private var isClosed: Bool { reference._withUnsafeGuaranteedRef { $0.isClosed } }

  /// Makes calls of a watcher open a prompt from now on.
  func breakOnCalls(of watcher: WatcherRef) { breakingCalls.insert(watcher.pointee.id) }

  /// Ends the parts when the host closes.
  func end() {
    endings.end()
    hooks.end()
  }

  // MARK: Limits

  override var payer: UnsafeMutableRawPointer? { linkLimits.payer }

  override func charge(_ bytes: Int, to payer: UnsafeMutableRawPointer?) {
    linkLimits.charge(bytes, to: payer)
  }

  override func checkLimits() throws { try linkLimits.check() }

  override func checkTime() throws { try linkLimits.checkTime() }

  override func prepare(_ watcher: WatcherRef, _ body: () -> Void) {
    reference.keeping {
      sandboxes.entered(watcher.script.pointee.sandbox, payment(inFlush: watcher)) {
        state.interrupter.runEngine(state.stack, body)
      }
    }
  }

  /// The time that pays for a call in the flush: the sandbox's time if its scripts caused the call,
  /// otherwise its allowance (S5).
  private func payment(inFlush watcher: WatcherRef) -> Sandboxes.Payment {
    watcher.script.pointee.isCausedByOthers ? .allowanceAlways : .own
  }

  override func waitsForFlush(_ watcher: WatcherRef) -> Bool {
    let script = watcher.script
    guard !script.pointee.isInternal, sandboxes.isOverdrawn(script.pointee.sandbox) else {
      return false
    }
    script.pointee.isCausedByOthers = true
    return true
  }

  override func waitsForNextTurn(_ watcher: WatcherRef) -> Bool {
    payment(inFlush: watcher) != .own && sandboxes.hasSpentAllowance(watcher.script.pointee.sandbox)
  }

  override func mayStartOver(after error: any Error) -> Bool {
    (error as? LuaError)?.code == .timeLimit
  }

  override func reportExhausted(_ error: any Error, _ watcher: WatcherRef) {
    // Errors that stop scripts are reported once per turn; the end of a watcher is always reported.
    let isMemory = (error as? LuaError)?.code == .memory
    report(
      LuaError(
        isMemory ? .memory : .quota,
        isMemory
          ? "the watcher has ended: not enough memory to follow its key path"
          : "the watcher has ended: following its key path took too long"),
      .watcher, of: watcher)
  }

  // MARK: Receiver

  override func deliver(_ watcher: WatcherRef) {
    enteredInFlush(watcher) { call(watcher, change: nil) }
  }

  override func deliverInFlush(_ watcher: WatcherRef, _ change: ImmediateChange, path: Path) {
    enteredInFlush(watcher) { call(watcher, change: (change, path)) }
  }

  @inline(__always)
  private func enteredInFlush(_ watcher: WatcherRef, _ body: () -> Void) {
    let script = watcher.script
    let payment = payment(inFlush: watcher)
    script.pointee.isCausedByOthers = false
    reference.keeping { sandboxes.entered(script.pointee.owner, payment, body) }
  }

  override func deliver(_ watcher: WatcherRef, _ change: ImmediateChange, path: Path) {
    reference.keeping {
      let owner = watcher.script.pointee.owner
      guard watcher.script.pointee.isInternal else {
        return sandboxes.entered(owner, .allowance) { call(watcher, change: (change, path)) }
      }
      let outer = notedWriter
      defer { notedWriter = outer }
      notedWriter = sandboxes.writer(self)
      sandboxes.entered(owner.sandbox, .allowance) {
        host.module.transactions.exempted { call(watcher, change: (change, path)) }
      }
    }
  }

  override func accept(
    _ change: ImmediateChange, for watcher: WatcherRef
  ) -> ImmediateChange? {
    reference.keeping {
      sandboxes.entered(watcher.script.pointee.sandbox, .allowance) {
        compare(change, for: watcher)
      }
    }
  }

  override func isEqual(_ old: Operand, _ new: Operand, for watcher: WatcherRef) -> Bool {
    reference.keeping {
      sandboxes.entered(watcher.script.pointee.sandbox, payment(inFlush: watcher)) {
        compare(old, new, for: watcher)
      }
    }
  }

  override func save(_ change: Change) -> AnyObject? { saved(.written(change)) }

  override func keep(_ saved: AnyObject, whilePaused watcher: WatcherRef, isDerived: Bool)
    -> AnyObject
  { kept(saved, by: watcher, isDerived: isDerived) }

  override func takeKept(_ saved: AnyObject, of watcher: WatcherRef) -> AnyObject? {
    taken(saved, of: watcher)
  }

  override func isObserverAlive(_ watcher: WatcherRef) -> Bool {
    guard let root = watcher.pointee.root else { return false }
    // The callbacks of a Swift object belong to its userdata, which the collector may have given up
    // (L8).
    if !observed.isTable(root), !host.objects.isKnown(root) { return false }
    guard watcher.script.pointee.parts.contains(.observer) else { return true }
    let L = state.stack
    defer { L.pop() }
    return pushObserver(of: watcher, to: L)
  }

  override func ended(_ watcher: WatcherRef, observedDied path: Path?) {
    endings.ended(watcher, observedDied: path)
  }

  override func reportUnknown(_ error: PathError, of watcher: WatcherRef, in engine: Engine) {
    report(
      LuaError(error.description),
      watcher.pointee.traits.contains(.immediate) ? .immediate : .watcher, of: watcher)
  }

  override func isPartOfProgram(_ watcher: WatcherRef) -> Bool {
    !watcher.script.pointee.isInternal
  }

  override func title(_ watcher: WatcherRef) -> String {
    let (name, site) = title(of: watcher)
    return name == site ? name : "\(name) (\(site))"
  }

  override func label(_ watcher: WatcherRef) -> (name: String, site: String?) {
    let (name, site) = title(of: watcher)
    return (name, site)
  }

  /// Notes the running "file:line" as the cause of the watcher's next call; no cause is noted for
  /// Swift code that no script has called.
  override func noteCause(of watcher: WatcherRef) {
    let L = state.stack
    // Swift code can write at any stack depth.
    guard !isClosed, L.hasRoom(for: 8) else { return }
    let script = watcher.script
    script.pointee.cause = sources.current(L)
    script.pointee.isCausedByOthers = sandboxes.isCausedByOthers(script.pointee.sandbox)
  }

  // MARK: Calling

  /// Calls the callback of a watcher with (observed, observer), and a change for an immediate
  /// watcher.
  private func call(_ watcher: WatcherRef, change: (ImmediateChange, Path)?) {
    let L = state.stack
    guard let root = watcher.pointee.root else { return }
    if state.interrupter.isStopping {
      return reportStop(of: watcher, change == nil ? .watcher : .immediate)
    }
    guard L.hasRoom(for: 24) else {
      report(
        L.noRoom(to: "call a watcher"),
        change == nil ? .watcher : .immediate, of: watcher)
      return
    }
    let height = L.height
    if !breakingCalls.isEmpty, breakingCalls.contains(watcher.pointee.id) {
      host.module.debugging.breakOnCall(of: watcher, L)
    }
    let identity = pushIdentity(of: watcher, L)
    let cause = watcher.script.pointee.cause
    let status: CInt
    if change == nil, tables.isKind(of: root), root.pointee.context != 0,
      watcher.script.pointee.isPlain
    {
      // The usual case is one step: the anchor leads to the table, and the table to its callbacks.
      status = clua_callkept(
        L.pointer, anchors.reference, CInt(root.pointee.context),
        ScriptWatcher.key(watcher, .callback))
    } else {
      status = call(watcher, of: root, change, L)
    }
    if status != LUA_OK {
      let (name, site) = title(of: identity, L)
      host.reports.reportError(
        status, L, change == nil ? .watcher : .immediate, name: name, site: site,
        cause: cause.line > 0 ? sources.text(cause) : nil)
    }
    L.height = height
  }

  /// The data for a report about a watcher that its own callback may end.
  struct WatcherIdentity {
    let site: Site
    /// The stack index of its name; 0 without a name.
    let name: CInt
  }

  /// Pushes the name of a watcher, if it has one. [-0, +(0|1), -]
  func pushIdentity(of watcher: WatcherRef, _ L: LuaStack) -> WatcherIdentity {
    let site = watcher.script.pointee.site
    guard watcher.script.pointee.parts.contains(.name), let root = watcher.pointee.root else {
      return WatcherIdentity(site: site, name: 0)
    }
    observed.pushKept(ScriptWatcher.key(watcher, .name), of: root, to: L)
    return WatcherIdentity(site: site, name: L.height)
  }

  func title(
    of watcher: WatcherIdentity, _ L: LuaStack
  ) -> (name: String, site: String) {
    let site = sources.text(watcher.site)
    guard watcher.name > 0, L.isString(at: watcher.name) else { return (site, site) }
    return (state.text(at: watcher.name, of: L), site)
  }

  /// Reports an error of a watcher that occurred outside its callback.
  func report(_ error: LuaError, _ kind: LuaReport.Kind, of watcher: WatcherRef) {
    host.reports.report(
      error, kind, name: title(of: watcher).name, site: sources.text(watcher.script.pointee.site),
      cause: cause(of: watcher))
  }

  /// Reports a stop that the engine noticed while it worked for a script.
  @inline(never)
  private func reportStop(of watcher: WatcherRef, _ kind: LuaReport.Kind) {
    if let error = state.unreportedStop() { report(error, kind, of: watcher) }
  }

  /// The "file:line" of the write that last made a script's watcher pending.
  func cause(of watcher: WatcherRef) -> String? {
    guard isScript(watcher), watcher.script.pointee.cause.line > 0 else { return nil }
    return sources.text(watcher.script.pointee.cause)
  }

  /// Does the same as `clua_tracedcall`, for any root and arguments. [-0, +(0|1), -]
  private func call(
    _ watcher: WatcherRef, of root: NodeRef, _ change: (ImmediateChange, Path)?,
    _ L: LuaStack
  ) -> CInt {
    let script = watcher.script
    let height = L.height
    if script.pointee.parts.contains(.driver) {
      observed.pushKept(ScriptWatcher.key(watcher, .driver), of: root, to: L)
    }
    observed.pushKept(ScriptWatcher.key(watcher, .callback), of: root, to: L)
    if !script.pointee.parts.contains(.objects) {
      observed.push(root, to: L)
    } else if case .written(let change)? = change?.0 {
      observed.push(change.node, to: L)
    } else {
      L.pushNil()
    }
    do {
      if script.pointee.parts.contains(.edits) { try pushEdits(of: watcher, to: L) }
      if script.pointee.parts.contains(.observer) {
        pushObserver(of: watcher, to: L)
      } else {
        L.pushNil()
      }
      if let (change, path) = change, !script.pointee.parts.contains(.edits) {
        try pushChange(change, path, to: L)
      }
    } catch {
      state.pushError(error, to: L)
      return LUA_ERRRUN
    }
    return clua_watchercall(L.pointer, L.height - height - 1, 0)
  }

  /// Pushes the edits for a watcher, on its scripts' time, as thousands may watch a long list. [-0,
  /// +1, -]
  private func pushEdits(of watcher: WatcherRef, to L: LuaStack) throws(LuaError) {
    try state.interrupter.runForScripts(L) { () throws(LuaError) in
      try host.edits.push(for: watcher, to: L)
    }
  }

  /// The number of watchers that the prelude has registered for a sandbox on an object.
  ///
  /// - Complexity: O(watchers of the object).
  func internals(of sandbox: LuaSandbox, on root: NodeRef) -> Int {
    var count = 0
    engine.watchers.forEach(of: root) { watcher in
      guard isScript(watcher), watcher.script.pointee.isInternal,
        watcher.script.pointee.sandbox == sandbox.number
      else { return }
      count += 1
    }
    return count
  }

  /// Calls `body` with each watcher of a sandbox, including the prelude's watchers for it.
  ///
  /// - Complexity: O(its watchers); for the main sandbox O(all watchers).
  private func forEachWatcher(of sandbox: LuaSandbox, _ body: (WatcherRef) -> Void) {
    if let watchers = sandbox.watchers {
      watchers.forEach(in: engine.watchers, body)
    } else {
      engine.watchers.forEach { watcher in
        if isScript(watcher), watcher.script.pointee.sandbox == sandbox.number { body(watcher) }
      }
    }
  }

  /// Ends the watchers of a sandbox, and the prelude's watchers for it, without calling `on_end`.
  func stopWatchers(of sandbox: LuaSandbox) {
    forEachWatcher(of: sandbox) { engine.watchers.stop($0) }
  }

  /// Pauses the watchers of a sandbox; returns the watchers that were not already paused.
  func pauseWatchers(of sandbox: LuaSandbox) -> [WatcherID] {
    var paused: [WatcherID] = []
    forEachWatcher(of: sandbox) { watcher in
      if watcher.script.pointee.isInternal || watcher.pointee.isPaused { return }
      paused.append(watcher.identity)
      engine.watchers.pause(watcher)
    }
    return paused
  }

  /// Active watchers registered after watcher `number`, in order.
  func live(after number: UInt64) -> [LiveObject] {
    var found: [WatcherID] = []
    engine.watchers.forEach { watcher in
      guard watcher.pointee.id > number, isScript(watcher) else { return }
      // A wait counts as its task, and a watcher of the prelude as the watcher it serves.
      let script = watcher.script.pointee
      if !script.isInternal, !script.isAwaited { found.append(watcher.identity) }
    }
    return found.sorted { $0.number < $1.number }.compactMap { name in
      guard let watcher = engine.watchers[name] else { return nil }
      let (name, site) = title(of: watcher)
      return LiveObject(kind: .watcher, name: name, site: site)
    }
  }

  func resumeWatchers(_ names: [WatcherID]) {
    for name in names {
      if let watcher = engine.watchers[name] { engine.watchers.resume(watcher) }
    }
  }

  // MARK: Properties of watchers

  /// Whether a watcher belongs to a script.
  func isScript(_ watcher: WatcherRef) -> Bool {
    watcher.pointee.receiver.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
  }

  /// Ends the watchers of a model whose userdata is gone, and the callbacks with it.
  func stopWatchers(of object: AnyObject) {
    guard let root = (object as? any KeyPathObservable)?.currentNode(in: engine) else { return }
    engine.watchers.forEach(of: root) { if isScript($0) { engine.watchers.stop($0) } }
  }

  /// Pushes the observer; pushes nil and returns false if it is gone. [-0, +1, -]
  @discardableResult
  func pushObserver(of watcher: WatcherRef, to L: LuaStack) -> Bool {
    host.paths.pushObserver(watcher.pointee.index, to: L)
    return !L.isNil(at: -1)
  }

  /// The name of a watcher, and the "file:line" of its registration.
  func title(of watcher: WatcherRef) -> (name: String, site: String) {
    let site = sources.text(watcher.script.pointee.site)
    guard watcher.script.pointee.parts.contains(.name), let root = watcher.pointee.root,
      !root.isDead
    else {
      return (site, site)
    }
    let L = state.stack
    observed.pushKept(ScriptWatcher.key(watcher, .name), of: root, to: L)
    defer { L.pop() }
    return (L.isString(at: -1) ? state.text(at: -1, of: L) : site, site)
  }

  // MARK: Tables that end

  /// Ends the node of a table that was collected.
  ///
  /// The node's kept values are on top of the stack, nil if Lua has freed them. Its callbacks go
  /// with it, except `on_end` callbacks that are still to be called.
  func tableEnded(_ L: LuaStack, _ owner: UnsafeMutableRawPointer?) {
    guard let owner, !isClosed else { return }
    host.calls.entered(L) { tableEnded(owner.assumingMemoryBound(to: Node.self), L) }
  }

  /// Queues the watchers of a table that the collector gave up, but that its finalizer may keep
  /// (L8).
  func tableRevived(_ L: LuaStack, _ node: OpaquePointer) {
    guard !isClosed, let owner = clua_node_owner(node) else { return }
    host.calls.entered(L) { engine.delivery.revive(owner.assumingMemoryBound(to: Node.self)) }
  }

  private func tableEnded(_ root: NodeRef, _ L: LuaStack) {
    tables.abandonJournal(of: root)
    if L.hasRoom(for: 8) {
      engine.watchers.forEach(of: root) { watcher in
        guard isScript(watcher), watcher.script.pointee.parts.contains(.end) else { return }
        // If the observer was collected first, its watchers have ended without a call (L3).
        if watcher.script.pointee.parts.contains(.observer) {
          defer { L.pop() }
          if !pushObserver(of: watcher, to: L) { return }
        }
        endings.note(watcher, L)
      }
    }
    engine.nodes.end(root)
  }
}
