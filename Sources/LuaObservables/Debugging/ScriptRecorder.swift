internal import CLua
internal import Lua
internal import Observables

/// The recorder of a host: keys and places as its scripts spell them, and the sink of `obs.log`.
final class ScriptRecorder: HistoryRecorder {
  unowned(unsafe) let host: LuaHost
  var sink: LuaFunction? { didSet { isLogging = sink != nil } }
  private var isDraining = false

  init(_ host: LuaHost) {
    self.host = host
    super.init(of: host.engine)
  }

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
    return L.isNil(at: -1) ? super.title(of: node) : host.state.title(at: -1, of: L)
  }

  /// Labels watchers of scripts only.
  override func label(of watcher: WatcherRef) -> (name: String, site: String?)? {
    host.receiver.isScript(watcher) ? host.receiver.title(of: watcher) : nil
  }

  /// Reports the events to the sink, and lets go of their values.
  ///
  /// This may only be called between operations.
  func drain() {
    guard !isDraining, pass() else { return }
    host.state.recycleReleased(host.state.stack)
  }

  /// False where there are no events.
  private func pass() -> Bool {
    let events = takeEvents()
    guard let sink, !events.isEmpty else { return false }
    isDraining = true
    defer { isDraining = false }
    for event in events { pass(event, to: sink) }
    // Events that the sink caused itself are not reported: that would never end.
    _ = takeEvents()
    return true
  }

  /// Pushes a value of an event: the value itself where it was a script's. [-0, +1, -]
  private func pushValue(
    _ part: ChangePart, of event: LoopEvent, to L: LuaStack
  ) throws(LuaError) {
    if let saved = event.values as? SavedChange {
      try host.state.push(saved[part], to: L)
    } else {
      try host.state.push(part == .old ? event.old : event.new, to: L)
    }
  }

  private func pass(_ event: LoopEvent, to sink: LuaFunction) {
    let state = host.state
    let texts = [
      ("kind", event.kind.rawValue), ("key", event.key), ("name", event.name),
      ("site", event.site), ("path", event.path), ("object", event.object),
    ]
    do {
      try state.withStack { L throws(LuaError) in
        try state.push(sink.pin, to: L)
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
        try state.tracedCall(arguments: 1, L)
      }
    } catch {
      host.reports.report(error, .hook, name: "log", site: "")
    }
  }
}
