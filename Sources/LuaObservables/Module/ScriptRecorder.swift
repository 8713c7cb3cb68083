internal import CLua
internal import Lua
internal import Observables

/// Keeps what `why` and `whynot` need, and tells the sink of `log` (W4).
///
/// Notes are taken in the middle of the engine's operations; the sink is told after them.
final class ScriptRecorder: EngineRecorder {
  /// One write of an observed key, or the invalidation of a lazy one.
  struct Write {
    let key: String
    let site: String
    let turn: Int
    var isInvalidation = false
    /// The lazy properties through which a watcher hears of it, the nearest to the write first.
    var through: [String] = []
    /// What the watcher watches was computed again, with an equal value.
    var isRecomputed = false
  }

  /// What is known of one watcher.
  struct History {
    var waiting: [Write] = []
    /// The last write that was noted.
    var writeNumber = 0
    var last: [Write] = []
    var lastTurn = 0
    var lastEqual: Write?
    var stoppedAt: String?
  }

  /// What the sink of `log` is told.
  struct Event {
    let kind: String
    let fields: [(String, String)]
    let turn: Int
  }

  unowned(unsafe) let host: LuaHost
  var keepsHistory = false
  var sink: LuaFunction?
  private(set) var histories: [UInt64: History] = [:]
  private var events: [Event] = []
  private var writeNumber = 0
  private var isDraining = false
  /// What was kept of watchers that ended; the oldest go first.
  private var ended: [UInt64] = []
  private let endedLimit = 10_000

  init(_ host: LuaHost) { self.host = host }

  private var turn: Int { host.engine.statistics.turns + 1 }

  override func wrote(_ change: Change) {
    guard let slot = change.slot ?? change.every else { return }
    let write = Write(key: key(of: change, slot), site: site(of: change), turn: turn)
    if keepsHistory { note(write, of: change) }
    if sink != nil {
      add(
        "write", ("key", write.key), ("site", write.site), ("equal", change.isSame ? "true" : ""))
    }
  }

  override func invalidating(_ change: Change) {
    guard keepsHistory, let slot = change.slot else { return }
    note(
      Write(
        key: key(of: change, slot), site: site(of: change), turn: turn, isInvalidation: true),
      of: change)
  }

  /// All that a write concerns, also what is pending or invalid already: `why` tells every write.
  private func note(_ write: Write, of change: Change) {
    let slots = [change.slot, change.every].compactMap { $0 }
    writeNumber += 1
    host.engine.forEachWatcher(behind: slots) { watcher, lazies in
      keep(
        write, lazies, isSame: change.isSame, &histories[watcher.pointee.id, default: History()])
    }
  }

  private func keep(
    _ write: Write, _ lazies: [WatcherRef], isSame: Bool, _ history: inout History
  ) {
    // Several of its paths may pass through what was written.
    if history.writeNumber == writeNumber { return }
    history.writeNumber = writeNumber
    if !isSame, history.waiting.count >= 1000 { return }
    var write = write
    write.through = lazies.map(host.engine.name)
    if isSame { history.lastEqual = write } else { history.waiting.append(write) }
  }

  override func unchanged(_ watcher: WatcherRef) {
    guard keepsHistory, var history = histories[watcher.pointee.id],
      var write = history.waiting.last
    else { return }
    write.isRecomputed = true
    history.lastEqual = write
    history.waiting = []
    histories[watcher.pointee.id] = history
  }

  override func invalidated(_ lazy: WatcherRef, by change: Change) {
    if sink == nil { return }
    add("invalidate", ("key", host.engine.name(of: lazy)), ("site", site(of: change)))
  }

  override func computed(_ lazy: WatcherRef, _ computation: Computation) {
    if sink == nil { return }
    let (name, site) = lazy.pointee.receiver.takeUnretainedValue().label(lazy)
    var outcome: (equal: String, failed: String) = ("", "")
    if case .same = computation { outcome.equal = "true" }
    if case .failed = computation { outcome.failed = "true" }
    add(
      "compute", ("key", name), ("site", site ?? ""), ("equal", outcome.equal),
      ("failed", outcome.failed))
  }

  private func key(of change: Change, _ slot: SlotRef) -> String {
    if let values = change.values, change.node.kind === host.tables {
      let write = values.assumingMemoryBound(to: clua_write.self).pointee
      if write.key != 0 { return host.keyName(at: write.key, of: host.state.pointer) }
    }
    if !host.isTable(change.node), let values = change.values,
      let index = ModelWrite(values, of: change.node).index
    {
      return "#\(index + 1)"
    }
    return change.node.kind.name(of: slot)
  }

  private func site(of change: Change) -> String {
    host.sources.text(host.sources.current(host.state.pointer))
  }

  override func called(_ watcher: WatcherRef) {
    if keepsHistory {
      var history = histories[watcher.pointee.id] ?? History()
      history.last = history.waiting
      history.waiting = []
      history.lastTurn = turn
      history.lastEqual = nil
      histories[watcher.pointee.id] = history
    }
    if sink != nil, host.isScript(watcher) {
      let (name, site) = host.title(of: watcher)
      add("call", ("name", name), ("site", site))
    }
  }

  override func registered(_ watcher: WatcherRef, _ path: Path) {
    guard sink != nil, host.isScript(watcher) else { return }
    let (name, site) = host.title(of: watcher)
    add("observe", ("name", name), ("site", site), ("path", path.description))
  }

  override func ended(_ watcher: WatcherRef) {
    let id = watcher.pointee.id
    if keepsHistory {
      ended.append(id)
      if ended.count > endedLimit {
        for old in ended.prefix(endedLimit / 2) { histories[old] = nil }
        ended.removeFirst(endedLimit / 2)
      }
    }
    guard sink != nil, host.isScript(watcher) else { return }
    let (name, site) = host.title(of: watcher)
    add("end", ("name", name), ("site", site))
  }

  func noteStop(of watcher: WatcherRef, at site: Site) {
    if keepsHistory {
      histories[watcher.pointee.id, default: History()].stoppedAt = host.sources.text(site)
    }
  }

  func forgetHistory() {
    histories = [:]
    ended = []
  }

  private func add(_ kind: String, _ fields: (String, String)...) {
    events.append(Event(kind: kind, fields: fields.filter { !$0.1.isEmpty }, turn: turn))
  }

  /// Tells the sink what happened.
  ///
  /// Between operations only.
  func drain() {
    guard !isDraining, !events.isEmpty else { return }
    guard let sink else {
      events = []
      return
    }
    isDraining = true
    defer { isDraining = false }
    let waiting = events
    events = []
    for event in waiting { tell(event, to: sink) }
    // What the sink itself did is not told: it would never end.
    events = []
  }

  private func tell(_ event: Event, to sink: LuaFunction) {
    let state = host.state
    do {
      try state.withStack { L throws(LuaError) in
        try state.push(sink.pin, to: L)
        try state.check(clua_try_createtable(L, 0, CInt(event.fields.count + 2)), L)
        for (name, value) in event.fields + [("kind", event.kind)] {
          if name == "equal" || name == "failed" {
            lua_pushboolean(L, 1)
          } else {
            try state.push(text: value, to: L)
          }
          try state.check(clua_try_setfield(L, -2, name, name.utf8.count), L)
        }
        lua_pushinteger(L, lua_Integer(event.turn))
        try state.check(clua_try_setfield(L, -2, "turn", 4), L)
        let status = clua_tracedcall(L, 1, 0)
        if status != LUA_OK { throw state.takeError(status, L) }
      }
    } catch {
      host.report(error, .hook, name: "log", site: "")
    }
  }
}
