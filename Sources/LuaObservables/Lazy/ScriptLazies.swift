internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// The lazy properties of tables, which the engine computes by getters of scripts.
///
/// Each host has one such receiver. A record's context contains the number of its cell.
final class ScriptLazies: Receiver {
  // The host is not retained: it owns this object.
  private let reference: Unmanaged<LuaHost>
  var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }
  var arguments: Arguments { Arguments(host) }
  let state: LuaState
  let engine: Engine
  let calls: ScriptCalls
  private let linkLimits: LinkLimits
  /// The C record of all lazy properties of the state.
  @exclusivity(unchecked) private var shared: OpaquePointer?
  /// The number of nested script reads that wait for a property.
  @exclusivity(unchecked) var readings = 0
  /// The payer for the time of the running getter.
  @exclusivity(unchecked) private var timePayer = TimePayer.running
  /// The last property that was not computed because no time was left for it.
  @exclusivity(unchecked) private var unpaid: WatcherID?
  /// The property whose getter is running, unless another getter runs inside it.
  @exclusivity(unchecked) private var evaluating: WatcherRef?
  @exclusivity(unchecked) private var spareNumbers: [Int] = []
  @exclusivity(unchecked) private var lastNumber = 0

  init(_ host: LuaHost) {
    reference = .passUnretained(host)
    (state, engine, calls) = (host.state, host.engine, host.calls)
    linkLimits = LinkLimits(host.state)
    super.init()
  }

  override var payer: UnsafeMutableRawPointer? { linkLimits.payer }

  override func charge(_ bytes: Int, to payer: UnsafeMutableRawPointer?) {
    linkLimits.charge(bytes, to: payer)
  }

  override func checkLimits() throws { try linkLimits.check() }

  override func checkTime() throws { try linkLimits.checkTime() }

  private var isClosed: Bool { reference._withUnsafeGuaranteedRef { $0.isClosed } }

  func install(_ L: LuaStack) { shared = clua_lazy_shared(L.pointer) }

  /// Makes a record's context from a cell number and the declaration's flags.
  func makeContext(_ flags: CInt) -> Int {
    if let number = spareNumbers.popLast() { return number << 8 | Int(flags) }
    lastNumber += 1
    return lastNumber << 8 | Int(flags)
  }

  func release(_ context: Int) { spareNumbers.append(context >> 8) }

  // MARK: Computing

  /// Runs a getter inside another one, in a coroutine, as it may wait for values that it reads.
  override func compute(_ lazy: WatcherRef) -> Computation {
    let L = state.stack
    guard hasRoom(for: lazy, L) else { return .failed }
    var slot: UnsafeMutablePointer<clua_slot>?
    return reference.keeping {
      let computation = clua_lazy_start(L.pointer, lazy.number, lazy.comparison, &slot)
      return result(of: computation, slot, lazy)
    }
  }

  private func hasRoom(for lazy: WatcherRef, _ L: LuaStack) -> Bool {
    if L.hasRoom(for: 32) { return true }
    fail(lazy, L.noRoom(to: "compute a property"))
    return false
  }

  /// Runs getters one after another, in one protected call as long as the same code pays for them.
  override func computeAll(_ first: WatcherRef, in engine: Engine) {
    let L = state.stack
    guard hasRoom(for: first, L) else { return engine.settling.take(.failed, of: first) }
    reference.keeping { computeAll(first, L) }
  }

  private func computeAll(_ first: WatcherRef, _ L: LuaStack) {
    let outer = (evaluating, timePayer)
    defer { (evaluating, timePayer) = outer }
    evaluating = first
    while let lazy = evaluating {
      timePayer = timePayer(of: lazy)
      unpaid = nil
      switch timePayer {
      case .running: evaluate(lazy, L)
      case .allowance(let sandbox):
        host.sandboxes.entered(sandbox, .allowanceAlways) { evaluate(lazy, L) }
      case .none:
        unpaid = lazy.identity
        fail(lazy, LuaError("the script that declared the property has no time left for it"))
        finish(lazy, CLUA_COMPUTED_FAILED)
      }
    }
  }

  private func evaluate(_ lazy: WatcherRef, _ L: LuaStack) {
    var evaluation = clua_evaluation()
    evaluation.context = Unmanaged.passUnretained(self).toOpaque()
    evaluation.prepare(lazy)
    // The following properties are computed in the same call.
    if !clua_lazy_evaluate(L.pointer, shared, &evaluation) {
      finish(evaluating.unsafelyUnwrapped, CLUA_COMPUTED_FAILED)
    }
  }

  /// The payers for the time of a getter (S5).
  private enum TimePayer: Equatable {
    /// The running code.
    case running
    /// A sandbox's allowance for calls that others cause.
    case allowance(UInt32)
    /// No time is left.
    case none
  }

  /// Returns the payer for a getter: the running code, or, if no script code is reading, the
  /// allowance of the declaring sandbox.
  @inline(__always)
  private func timePayer(of lazy: WatcherRef) -> TimePayer {
    readings > 0 || !host.sandboxes.hasSeveral ? .running : timePayer(ofUnread: lazy)
  }

  @inline(never)
  private func timePayer(ofUnread lazy: WatcherRef) -> TimePayer {
    let sandboxes: Sandboxes = host.sandboxes
    let owner = sandbox(of: lazy)
    if !sandboxes.isCausedByOthers(owner) { return .running }
    guard sandboxes.isOpen(owner), !sandboxes.hasSpentAllowance(owner) else { return .none }
    return .allowance(owner)
  }

  /// Finishes the property whose getter has run; returns true with the next one whose getter must
  /// run.
  func evaluated(_ evaluation: UnsafeMutablePointer<clua_evaluation>) -> Bool {
    finish(evaluating.unsafelyUnwrapped, evaluation.pointee.result)
    guard let next = evaluating, timePayer(of: next) == timePayer else { return false }
    evaluation.pointee.prepare(next)
    return true
  }

  /// Gives the engine the result of `lazy`, and gets the next property.
  @inline(__always)
  private func finish(_ lazy: WatcherRef, _ computation: clua_computation) {
    let result = result(of: computation, nil, lazy)
    evaluating = engine.settling.next(after: lazy, result)
  }

  override func resume(
    _ lazy: WatcherRef, after other: WatcherRef, _ error: (any Error)?
  ) -> Computation {
    let L = state.stack
    let isUpToDate = error == nil && !other.pointee.isPending
    if let error {
      state.pushError(error, to: L)
    } else {
      pushValue(of: other, isUpToDate: isUpToDate, to: L)
    }
    var slot: UnsafeMutablePointer<clua_slot>?
    return reference.keeping {
      let computation = clua_lazy_resume(L.pointer, lazy.comparison, isUpToDate, &slot)
      return result(of: computation, slot, lazy)
    }
  }

  /// Pushes the value or the error of `other`, for a getter that waited for it. [-0, +1, -]
  private func pushValue(of other: WatcherRef, isUpToDate: Bool, to L: LuaStack) {
    guard other.pointee.isActive else { return L.pushNil() }
    if isUpToDate {
      clua_lazy_pushvalue(L.pointer, other.number, false)
    } else {
      clua_lazy_pusherror(L.pointer, other.number, true)
    }
  }

  private func result(
    of computation: clua_computation, _ slot: UnsafeMutablePointer<clua_slot>?, _ lazy: WatcherRef
  ) -> Computation {
    switch computation {
    case CLUA_COMPUTED_SAME: return .same
    case CLUA_COMPUTED_CHANGED:
      if lazy.pointee.isActive { keepBase(of: lazy) }
      return .changed
    case CLUA_COMPUTED_RESTORED: return .restored
    case CLUA_COMPUTED_WAITING:
      return .waiting(UnsafeMutableRawPointer(slot!).assumingMemoryBound(to: Slot.self))
    default: return .failed
    }
  }

  /// Keeps the previous value of `lazy` as its base if a watcher compares with it.
  func keepBase(of lazy: WatcherRef) {
    if lazy.hasBase { return }
    if !engine.deliveredValues.shouldKeepBase(of: lazy) { forgetBase(of: lazy) }
  }

  override func invalidated(_ lazy: WatcherRef) {
    if isClosed { return }
    // A value that is certainly out of date is kept alive only if a watcher compares with it.
    let isCompared = lazy.slot.map { $0.isLinked || $0.pointee.node.pointee.every != nil }
    let isKept = isCompared == true || !lazy.pointee.isStale
    if !isKept { lazy.isKnown = false }
    clua_lazy_drop(state.stack.pointer, shared, lazy.number, isKept)
  }

  override func forgetBase(of lazy: WatcherRef) {
    if !isClosed { clua_lazy_forgetbase(state.stack.pointer, shared, lazy.number) }
  }

  override func settled() {
    if !isClosed { clua_untrack(state.stack.pointer) }
  }

  // MARK: Dependencies

  override func wire(_ lazy: WatcherRef, in engine: Engine) throws {
    let L = state.stack
    guard L.hasRoom(for: 16) else { throw L.noRoom(to: "wire a property") }
    let height = L.height
    defer { L.height = height }
    clua_lazy_pushdeclaration(L.pointer, lazy.number)
    guard L.isTable(at: -1) else { return }
    for position in stride(from: 1, through: L.rawLength(at: height + 1), by: 1) {
      defer { L.height = height + 1 }
      guard L.rawGet(index: position, at: height + 1) == .table else {
        try engine.wiring.add(dependency(at: -1, of: L), to: lazy, ofStored: lazy.isCopy)
        continue
      }
      // A path from another object is {object, path}.
      L.rawGet(index: 1, at: height + 2)
      L.rawGet(index: 2, at: height + 2)
      let root = try arguments.observed(at: height + 3, of: L, "computed")
      try engine.wiring.add(dependency(at: -1, of: L), to: lazy, from: root)
    }
  }

  override func dependencies(of lazy: WatcherRef) -> [DeclaredDependency] {
    declaredDependencies(of: lazy)
  }

  private func dependency(at index: CInt, of L: LuaStack) throws -> Path {
    try arguments.path(at: index, of: L, "computed", argument: 3)
  }

  // MARK: Errors

  override func reportUnknown(_ error: PathError, of watcher: WatcherRef, in engine: Engine) {
    host.reports.report(
      LuaError(error.description), .getter, name: engine.lazies.name(of: watcher),
      site: site(of: watcher),
      cause: cause(of: watcher))
  }

  override func fail(_ lazy: WatcherRef, _ error: any Error) {
    let (L, site) = (state.stack, site(of: lazy))
    if let error = error as? LuaError, error.isLimit {
      // A limit was met while the dependencies were wired.
      state.pushError(error, to: L)
    } else {
      // The getter has returned, so its own place stands for that of the mistake.
      state.pushError(LuaError(site.isEmpty ? "\(error)" : "\(site): \(error)"), to: L)
    }
    clua_lazy_fail(L.pointer, lazy.number)
  }

  override func reportFailure(of lazy: WatcherRef) {
    guard !host.isClosed, lazy.slot != nil else { return }
    let L = state.stack
    let (name, owner) = (engine.lazies.name(of: lazy), sandbox(of: lazy))
    func report() {
      clua_lazy_pusherror(L.pointer, lazy.number, false)
      host.reports.reportError(
        LUA_ERRRUN, L, .getter, name: name, site: site(of: lazy), cause: cause(of: lazy))
    }
    // A getter's error belongs to the script that declared it.
    if host.sandboxes.isOpen(owner), unpaid != lazy.identity {
      host.sandboxes.entered(owner, .allowance, report)
    } else {
      report()
    }
    clua_lazy_forgeterror(L.pointer, lazy.number)
  }

  /// The "file:line" of the write that made a watcher of `lazy` pending, or nil.
  func cause(of lazy: WatcherRef) -> String? {
    let receiver: ScriptReceiver = host.receiver
    let watcher = engine.inspection.firstWatcher(behind: [], lazy: lazy) { watcher, _ in
      receiver.cause(of: watcher) != nil
    }
    return watcher.flatMap { receiver.cause(of: $0) }
  }

  /// The "file:line" of the getter, or of the call of `obs.backed` or `obs.copy_of`.
  func site(of lazy: WatcherRef) -> String {
    let L = state.stack
    let height = L.height
    defer { L.height = height }
    clua_lazy_pushdeclaration(L.pointer, lazy.number)
    guard L.isTable(at: -1),
      clua_try_getfield(L.pointer, -1, "origin", 6) == LUA_OK
    else { return "" }
    if L.isString(at: -1) { return state.text(at: -1, of: L) }
    guard L.isFunction(at: -1) else { return "" }
    return host.sources.text(host.sources.definition(-1, L))
  }

  /// Whether a lazy property belongs to a table.
  func isScript(_ lazy: WatcherRef) -> Bool {
    lazy.pointee.receiver.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
  }

  /// The number of the sandbox whose script declared a lazy property; 0 for Swift and other hosts.
  func sandbox(of lazy: WatcherRef) -> UInt32 { number("sandbox", of: lazy) }

  /// The number of the module that declared it; 0 for other code.
  func module(of lazy: WatcherRef) -> UInt32 { number("module", of: lazy) }

  private func number(_ field: String, of lazy: WatcherRef) -> UInt32 {
    let L = state.stack
    guard isScript(lazy), !isClosed, L.hasRoom(for: 8) else { return 0 }
    let height = L.height
    defer { L.height = height }
    clua_lazy_pushdeclaration(L.pointer, lazy.number)
    guard L.isTable(at: -1),
      clua_try_getfield(L.pointer, -1, field, field.utf8.count) == LUA_OK,
      let number = L.integer(at: -1)
    else { return 0 }
    return UInt32(truncatingIfNeeded: number)
  }

  override func title(_ watcher: WatcherRef) -> String { engine.lazies.name(of: watcher) }

  /// The getter's place distinguishes properties of unnamed tables.
  override func fullName(of lazy: WatcherRef, _ name: String, title: String) -> String {
    let node = lazy.slot?.pointee.node
    if let node, clua_node_kind(TableKind.table(node)) == CLUA_KIND_PLAIN,
      let title = host.tables.className(of: node)
    {
      return "\(title).\(name)"
    }
    let site = site(of: lazy)
    return site.isEmpty ? name : "\(name) (\(site))"
  }

  override func label(_ watcher: WatcherRef) -> (name: String, site: String?) {
    let site = site(of: watcher)
    return (engine.lazies.name(of: watcher), site.isEmpty ? nil : site)
  }

  override func value(of lazy: WatcherRef, isBase: Bool) -> AnyObject? {
    let L = state.stack
    guard L.hasRoom(for: 16) else { return nil }
    clua_lazy_pushvalue(L.pointer, lazy.number, isBase)
    defer { L.pop() }
    return (try? state.value(at: -1, of: L)).map(LastValue.init)
  }

  override func recordValue(of lazy: WatcherRef, in lines: inout RunLines) {
    let L = state.stack
    guard L.hasRoom(for: 16) else { return lines.addUnknown() }
    clua_lazy_pushvalue(L.pointer, lazy.number, false)
    defer { L.pop() }
    lines.add(valueBy: { $0.add(scriptValueAt: -1, of: L) })
  }

  override func has(_ value: AnyObject, as lazy: WatcherRef) -> Bool {
    let L = state.stack
    let height = L.height
    defer { L.height = height }
    guard let value = (value as? LastValue)?.value, L.hasRoom(for: 16),
      (try? state.push(value, to: L)) != nil
    else { return false }
    clua_lazy_pushvalue(L.pointer, lazy.number, false)
    return L.areSame(height + 1, height + 2)
  }

  override func assign(_ value: AnyObject, to lazy: WatcherRef) {
    let L = state.stack
    guard let value = (value as? LastValue)?.value, let slot = lazy.slot, L.hasRoom(for: 16),
      (try? state.push(value, to: L)) != nil
    else { return }
    assign(
      L, UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self), isInvalid: false)
  }

  override func change(of lazy: WatcherRef, from old: AnyObject?) -> AnyObject? {
    let L = state.stack
    guard L.hasRoom(for: 16), let slot = lazy.slot else { return nil }
    TableKind.pushKey(of: slot, to: L)
    defer { L.pop() }
    return SavedChange(
      key: (try? state.value(at: -1, of: L)) ?? .nil,
      old: (old as? LastValue)?.value ?? .nil,
      new: (value(of: lazy, isBase: false) as? LastValue)?.value ?? .nil)
  }

  private final class LastValue {
    let value: LuaValue
    init(_ value: LuaValue) { self.value = value }
  }

  override func ended(_ watcher: WatcherRef, observedDied path: Path?) {
    release(watcher.pointee.context)
  }
}

extension clua_evaluation {
  fileprivate mutating func prepare(_ lazy: WatcherRef) {
    number = lazy.number
    compare = lazy.comparison
    tracked = lazy.pointee.traits.contains(.tracking)
    loaded = lazy.isLoaded
  }
}

extension UnsafeMutablePointer<WatcherRecord> {
  /// The cell number of a table's lazy property.
  var number: lua_Integer { lua_Integer(pointee.context >> 8) }

  /// Whether a loader stores the value.
  fileprivate var isLoaded: Bool { pointee.context & Int(CLUA_LAZY_LOADED) != 0 }
  /// Whether the property copies a collection.
  fileprivate var isCopy: Bool { pointee.context & Int(CLUA_LAZY_COPY) != 0 }

  /// How to compare a new value with the previous one.
  var comparison: CInt {
    guard isKnown else { return 0 }
    if hasBase { return CInt(CLUA_COMPARE_KNOWN | CLUA_COMPARE_BASED) }
    return CInt(CLUA_COMPARE_KNOWN | CLUA_COMPARE_KEEP)
  }
}
