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

  /// Labels watchers of scripts only.
  override func label(of watcher: WatcherRef) -> (name: String, site: String?)? {
    host.receiver.isScript(watcher) ? host.receiver.title(of: watcher) : nil
  }

  /// Reports the events to the sink.
  ///
  /// This may only be called between operations.
  func drain() {
    guard !isDraining else { return }
    let events = takeEvents()
    guard let sink, !events.isEmpty else { return }
    isDraining = true
    defer { isDraining = false }
    for event in events { pass(event, to: sink) }
    // Events that the sink caused itself are not reported: that would never end.
    _ = takeEvents()
  }

  private func pass(_ event: LoopEvent, to sink: LuaFunction) {
    let state = host.state
    let texts = [
      ("kind", event.kind.rawValue), ("key", event.key), ("name", event.name),
      ("site", event.site), ("path", event.path),
    ]
    do {
      try state.withStack { L throws(LuaError) in
        try state.push(sink.pin, to: L)
        try state.pushTable(fields: texts.count + 3, to: L)
        for (name, value) in texts {
          guard let value, !value.isEmpty else { continue }
          try state.push(text: value, to: L)
          try state.setField(name, of: L)
        }
        for (name, isSet) in [("equal", event.isEqual), ("failed", event.hasFailed)] where isSet {
          L.push(true)
          try state.setField(name, of: L)
        }
        L.push(event.turn)
        try state.setField("turn", of: L)
        try state.tracedCall(arguments: 1, L)
      }
    } catch {
      host.reports.report(error, .hook, name: "log", site: "")
    }
  }
}
