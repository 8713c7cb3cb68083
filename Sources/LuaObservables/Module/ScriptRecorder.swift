internal import CLua
internal import Lua
internal import Observables

/// Keeps what `why` and `whynot` need, and tells the sink of `log` (W4).
///
/// Notes are taken in the middle of the engine's operations; the sink is told after them.
final class ScriptRecorder: EngineRecorder {
  /// One write of an observed key.
  struct Write {
    let key: String
    let site: String
    let turn: Int
    let isSame: Bool
    let slots: [UnsafeMutableRawPointer]
  }

  /// What is known of one watcher.
  struct History {
    var waiting: [Write] = []
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
  private var current: Write?
  private var isDraining = false
  /// What was kept of watchers that ended; the oldest go first.
  private var ended: [UInt64] = []
  private let endedLimit = 10_000

  init(_ host: LuaHost) { self.host = host }

  private var turn: Int { host.engine.statistics.turns + 1 }

  override func wrote(_ change: Change) {
    let slot = change.slot ?? change.every
    guard let slot else { return }
    let write = Write(
      key: key(of: change, slot), site: site(of: change), turn: turn, isSame: change.isSame,
      slots: [change.slot, change.every].compactMap { $0.map(UnsafeMutableRawPointer.init) })
    current = write
    if keepsHistory, change.isSame {
      for slot in [change.slot, change.every].compactMap({ $0 }) {
        host.engine.forEachWatcher(of: slot) { watcher, _ in
          histories[watcher.pointee.id, default: History()].lastEqual = write
        }
      }
    } else if keepsHistory {
      for slot in [change.slot, change.every].compactMap({ $0 }) {
        host.engine.forEachWatcher(of: slot) { watcher, _ in
          note(write, for: watcher.pointee.id)
        }
      }
    }
    if sink != nil {
      add(
        "write", ("key", write.key), ("site", write.site), ("equal", change.isSame ? "true" : ""))
    }
  }

  private func note(_ write: Write, for id: UInt64) {
    // Two paths of one watcher may pass through the same key.
    var history = histories[id] ?? History()
    if history.waiting.count < 1000 { history.waiting.append(write) }
    histories[id] = history
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
          if name == "equal" {
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
