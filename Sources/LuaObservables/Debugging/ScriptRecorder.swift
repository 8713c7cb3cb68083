internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// The recorder of a host, which spells keys and places as scripts do, and knows what each sandbox
/// has switched on.
///
/// An event belongs to the sandbox whose code makes the write, or whose watcher or lazy property is
/// concerned. Events of the host and of Swift belong to number 0, the sandbox `main`. A sink gets
/// the events of its sandbox; the sink of `main` gets all events.
final class ScriptRecorder: HistoryRecorder {
  unowned(unsafe) let host: LuaHost
  /// The sinks of `obs.log`, by sandbox number.
  @exclusivity(unchecked) private var sinks: [UInt32: LuaFunction] = [:]
  /// The modules that have set the sinks, by sandbox number.
  private(set) var sinkModules: [UInt32: UInt32] = [:]
  /// The numbers of the sandboxes that have switched the record on.
  @exclusivity(unchecked) private var recording: Set<UInt32> = []
  /// The numbers of the sandboxes whose sinks missed events for lack of memory.
  @exclusivity(unchecked) private var deprived: Set<UInt32> = []
  /// The numbers of the sandboxes whose sinks missed events of other sandboxes for lack of time.
  @exclusivity(unchecked) private var hurried: Set<UInt32> = []
  @exclusivity(unchecked) private var isDraining = false

  init(_ host: LuaHost) {
    self.host = host
    super.init(of: host.engine)
  }

  // MARK: Settings of sandboxes

  func setSink(_ sink: LuaFunction?, of sandbox: UInt32) {
    sinks[sandbox] = sink
    sinkModules[sandbox] = sink == nil ? nil : host.sandboxes.modules.running
    isLogging = !sinks.isEmpty
  }

  /// The sink of a sandbox, and the module that has set it.
  func sink(of sandbox: UInt32) -> (sink: LuaFunction, module: UInt32)? {
    sinks[sandbox].map { ($0, sinkModules[sandbox] ?? 0) }
  }

  func restore(_ known: (sink: LuaFunction, module: UInt32)?, of sandbox: UInt32) {
    setSink(known?.sink, of: sandbox)
    sinkModules[sandbox] = known?.module
  }

  func record(_ isOn: Bool, for sandbox: UInt32) {
    if isOn {
      recording.insert(sandbox)
    } else if recording.remove(sandbox) != nil, !recording.contains(0) {
      forgetHistories { sandbox == 0 ? !recording.contains($0) : $0 == sandbox }
    }
    if keepsHistory == recording.isEmpty { keepsHistory = !recording.isEmpty }
  }

  func isRecording(for sandbox: UInt32) -> Bool { recording.contains(sandbox) }

  /// Whether `why`, called by a sandbox, gives a full answer about a watcher of the sandbox
  /// `owner`.
  ///
  /// One of them, or `main`, must record, and only `main` can ask about others.
  func answers(_ sandbox: UInt32, about owner: UInt32) -> Bool {
    guard sandbox == 0 || sandbox == owner else { return false }
    return recording.contains(sandbox) || recording.contains(0)
  }

  override var writer: UInt32 { host.sandboxes.writer(host.receiver) }

  override func owner(of watcher: WatcherRef) -> UInt32 { host.owner(of: watcher) }

  override func isCausedByOthers(_ owner: UInt32) -> Bool {
    owner != 0 && host.sandboxes.isCausedByOthers(owner)
  }

  override func logs(_ owner: UInt32) -> Bool { sinks[owner] != nil || sinks[0] != nil }

  override func records(_ owner: UInt32) -> Bool {
    recording.contains(owner) || recording.contains(0)
  }

  // MARK: Memory

  override func reserve(_ bytes: Int, of owner: UInt32) -> Bool {
    let share = host.sandboxes.share(of: owner)
    guard host.state.hasMemory(for: bytes, in: share) else { return false }
    host.state.chargeAfterwards(bytes, to: share)
    return true
  }

  override func release(_ bytes: Int, of owner: UInt32) {
    host.state.discharge(bytes, from: host.sandboxes.share(of: owner))
  }

  override func missed(_ owner: UInt32) { deprived.formUnion([owner, 0]) }

  // MARK: Spelling

  override func key(of change: Change, _ slot: SlotRef) -> String {
    if let values = change.values, change.node.kind === host.tables {
      let write = values.assumingMemoryBound(to: clua_write.self).pointee
      if write.key != 0 { return host.state.keyName(at: write.key, of: host.state.stack) }
    }
    if !host.observed.isTable(change.node), let index = ModelWrite(change).index {
      return "#\(index + 1)"
    }
    return change.node.kind.name(of: slot)
  }

  override func site(of change: Change) -> String? {
    let site = host.sources.text(host.sources.current(host.state.stack))
    return site.isEmpty ? nil : site
  }

  override func values(of change: Change) -> (old: RecordedValue?, new: RecordedValue?) {
    let L = host.state.stack
    guard let values = change.values, L.hasRoom(for: 12) else { return (nil, nil) }
    guard change.node.kind === host.tables else { return super.values(of: change) }
    let write = values.assumingMemoryBound(to: clua_write.self).pointee
    func value(at index: CInt) -> RecordedValue? {
      index == 0 ? nil : host.state.recordedValue(at: index, of: L)
    }
    return (write.uncompared ? nil : value(at: write.old), value(at: write.new_))
  }

  override func values(ofSaved change: AnyObject) -> (old: RecordedValue?, new: RecordedValue?) {
    guard let change = change as? SavedChange else { return super.values(ofSaved: change) }
    let L = host.state.stack
    func value(_ value: LuaValue) -> RecordedValue? {
      guard (try? host.state.push(value, to: L)) != nil else { return nil }
      defer { L.pop() }
      return host.state.recordedValue(at: -1, of: L)
    }
    guard L.hasRoom(for: 12) else { return (nil, nil) }
    return (value(change.old), value(change.new))
  }

  override func savedValues(of change: Change) -> AnyObject? {
    guard change.values != nil, host.state.stack.hasRoom(for: 12) else { return nil }
    return host.receiver.saved(.written(change))
  }

  override func title(of node: NodeRef) -> String {
    let L = host.state.stack
    guard L.hasRoom(for: 12) else { return super.title(of: node) }
    let height = L.height
    defer { L.height = height }
    host.observed.push(node, to: L)
    if L.isTable(at: -1) {
      return node.numbered(host.state.className(at: -1, of: L) ?? "table")
    }
    return L.isNil(at: -1) ? super.title(of: node) : host.state.title(at: -1, of: L)
  }

  /// Returns a label for watchers of scripts only.
  override func label(of watcher: WatcherRef) -> (name: String, site: String?)? {
    host.receiver.isScript(watcher) ? host.receiver.title(of: watcher) : nil
  }

  // MARK: Sinks

  /// Reports the events to the sinks, and releases their values.
  ///
  /// This may only be called between operations.
  func drain() {
    guard !isDraining, !host.isClosed else { return }
    isDraining = true
    defer { isDraining = false }
    let hadEvents = pass(takeEvents())
    reportMissed()
    // Nothing holds the events any longer.
    if hadEvents, !host.isClosed { host.state.recycleReleased(host.state.stack) }
  }

  /// Passes events to the sinks, and events that a sink causes to the sinks of other sandboxes;
  /// returns false if there are no events.
  ///
  /// A sink never gets events that it caused, directly or through another sink; otherwise this
  /// would never end.
  private func pass(_ events: consuming [LoopEvent]) -> Bool {
    if events.isEmpty { return false }
    var waiting = events.map { (event: $0, causes: Set<UInt32>()) }
    var position = 0
    while position < waiting.count {
      let (event, causes) = waiting[position]
      position += 1
      for sandbox in event.owner == 0 ? [0] : [event.owner, 0] where !causes.contains(sandbox) {
        guard let sink = sinks[sandbox], !host.sandboxes[sandbox].isPaused else { continue }
        let isCaused = event.isCausedByOthers && sandbox != 0
        if isCaused, host.sandboxes.hasSpentAllowance(sandbox) {
          hurried.insert(sandbox)
          continue
        }
        pass(event, to: sink, of: sandbox, isCaused ? .allowanceAlways : .own)
        for caused in takeEvents() { waiting.append((caused, causes.union([sandbox]))) }
      }
      release(event.size, of: event.owner)
    }
    return true
  }

  /// Reports to sandboxes that their sinks missed some events.
  private func reportMissed() {
    if deprived.isEmpty, hurried.isEmpty { return }
    let missed = [
      (deprived, LuaError(.memory, "not enough memory for all events of 'obs.log'")),
      (hurried, LuaError("not enough time for all events of 'obs.log' caused by others")),
    ]
    (deprived, hurried) = ([], [])
    for (sandboxes, error) in missed {
      for sandbox in sandboxes.sorted() where sinks[sandbox] != nil {
        host.sandboxes.entered(sandbox, .allowance) {
          host.reports.report(error, .hook, name: "log", site: "")
        }
      }
    }
  }

  private func pass(
    _ event: LoopEvent, to sink: LuaFunction, of sandbox: UInt32, _ payment: Sandboxes.Payment
  ) {
    host.reports.run(
      sink, .hook, name: "log", site: "",
      in: ScriptOwner(sandbox: sandbox, module: sinkModules[sandbox] ?? 0), payment
    ) { L throws(LuaError) in
      try push(event, to: L)
      return 1
    }
  }

  /// Pushes an event as a table. [-0, +1, -]
  private func push(_ event: LoopEvent, to L: LuaStack) throws(LuaError) {
    let state = host.state
    let texts = [
      ("kind", event.kind.rawValue), ("key", event.key), ("name", event.name),
      ("site", event.site), ("path", event.path), ("object", event.object),
    ]
    try state.pushTable(fields: texts.count + 6, to: L)
    if let eventClass = host.module.debugging.eventClass {
      try state.push(eventClass.pin, to: L)
      lua_setmetatable(L.pointer, -2)
    }
    for (name, value) in texts {
      guard let value, !value.isEmpty else { continue }
      try state.push(text: value, to: L)
      try state.setField(name, of: L)
    }
    for (name, isSet) in [("equal", event.isEqual), ("failed", event.hasFailed)] where isSet {
      L.push(true)
      try state.setField(name, of: L)
    }
    for (name, part) in [("old", ChangePart.old), ("new", .new)] {
      try pushValue(part, of: event, to: L)
      try state.setField(name, of: L)
    }
    L.push(event.turn)
    try state.setField("turn", of: L)
    if let flush = event.flush {
      L.push(flush)
      try state.setField("flush", of: L)
    }
  }

  /// Pushes a value of an event: the script's value itself if it was one. [-0, +1, -]
  private func pushValue(
    _ part: ChangePart, of event: LoopEvent, to L: LuaStack
  ) throws(LuaError) {
    if let saved = event.values as? SavedChange {
      try host.state.push(saved[part], to: L)
    } else {
      try host.state.push(part == .old ? event.old : event.new, to: L)
    }
  }
}
