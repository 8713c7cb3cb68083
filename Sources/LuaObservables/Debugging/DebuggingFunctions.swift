internal import CLua
import LibC
internal import Lua
internal import Observables

/// `why`, `whynot`, `record`, `log` and `break_on_change` (W3, W4).
final class DebuggingFunctions: ModuleSlice {
  /// The recorder of events; nil until it is first needed.
  @exclusivity(unchecked) private(set) var recorder: ScriptRecorder?
  let probe: ChangeProbe

  override init(_ host: LuaHost) {
    probe = ChangeProbe(host)
    super.init(host)
  }

  override var functions: [NamedFunction] {
    [
      .init(
        .module, "record", most: 1,
        { [self] L in
          guard L.type(at: 1) == .boolean else {
            throw badArgument(
              1, of: "record", "boolean expected, got \(state.typeName(at: 1, of: L))")
          }
          record(L.boolean(at: 1), for: host.sandboxes.current)
          return 0
        }
      ),
      .init(.module, "log", most: 1, log), .init(.module, "why", most: 1, why),
      .init(.module, "whynot", most: 1, whyNot),
      .init(.module, "break_on_change", most: 2, breakOnChange),
      .init(.watcher, "break_on_change", most: 0, breakOnChangeOfWatcher),
      .init(
        .watcher, "break_on_call", most: 0,
        { [self] L in
          try checkPrompt()
          if let watcher = try host.module.watchers.watcher(at: 1, of: L, "break_on_call").0 {
            host.receiver.breakOnCalls(of: watcher)
          }
          return 0
        }
      ),
    ]
  }

  /// The metatable of events.
  private(set) var eventClass: LuaTable?

  override func preludeDidRun(_ core: CInt, _ L: LuaStack) throws(LuaError) {
    try state.pushField("Event", at: core, of: L)
    eventClass = LuaTable(pin: try state.pin(at: -1, of: L))
    L.pop()
  }

  func record(_ isOn: Bool, for sandbox: LuaSandbox) {
    guard isOn || recorder != nil else { return }
    use { $0.record(isOn, for: sandbox.number) }
  }

  /// Ends the sink and the record of a sandbox that closes, before its watchers end.
  func dropRecord(of sandbox: UInt32) {
    guard recorder != nil else { return }
    use {
      $0.setSink(nil, of: sandbox)
      $0.record(false, for: sandbox)
    }
  }

  /// Ends the sink that a module has set.
  func dropSink(of owner: ScriptOwner) {
    guard let recorder, recorder.sinkModules[owner.sandbox] == owner.module else { return }
    use { $0.setSink(nil, of: owner.sandbox) }
  }

  /// A function that sets the present sink of a sandbox again.
  func sinkRestorer(of sandbox: UInt32) -> () -> Void {
    let known = recorder?.sink(of: sandbox)
    return { [self] in
      if recorder != nil { use { $0.restore(known, of: sandbox) } }
    }
  }

  override func end() {
    eventClass = nil
    if let recorder { engine.recording.use(recorder, isNeeded: false) }
  }

  /// Changes the recorder's purposes; adds it to the engine, or removes it when it is no longer
  /// needed.
  private func use(_ change: (ScriptRecorder) -> Void) {
    let recorder = recorder ?? ScriptRecorder(host)
    let wasNeeded = recorder.isNeeded
    change(recorder)
    self.recorder = recorder
    if recorder.isNeeded != wasNeeded { engine.recording.use(recorder, isNeeded: !wasNeeded) }
  }

  private func log(_ L: LuaStack) throws -> CInt {
    L.height = 1
    let sandbox = host.sandboxes.current.number
    if L.isNil(at: 1) {
      host.recorder?.drain()
      if recorder != nil { use { $0.setSink(nil, of: sandbox) } }
      return 0
    }
    try arguments.checkFunction(at: 1, of: L, "log")
    _ = try host.sandboxes.registering()
    try host.module.reloading.noteCallback(at: 1, L)
    let sink = LuaFunction(pin: try state.pin(at: 1, of: L))
    use { $0.setSink(sink, of: sandbox) }
    return 0
  }

  // MARK: Why

  /// The watcher to explain.
  ///
  /// - Throws: an error if the watcher belongs to another sandbox.
  private func ownWatcher(
    _ L: LuaStack, _ function: String
  ) throws -> (WatcherRef?, UnsafeMutablePointer<clua_handle>) {
    let found = try host.module.watchers.watcher(at: 1, of: L, function)
    if let watcher = found.0, !host.isOwn(watcher) {
      throw badArgument(1, of: function, "the watcher belongs to another script")
    }
    return found
  }

  /// why(watcher) → table, text.
  private func why(_ L: LuaStack) throws -> CInt {
    let (watcher, handle) = try ownWatcher(L, "why")
    let name = try host.module.watchers.name(of: watcher, handle, L)
    let (writes, text) = reason(ofCallsOf: watcher, handle.pointee.id, name)
    try state.pushTable(elements: writes.count, to: L)
    for (position, write) in writes.enumerated() {
      try push(write, to: L)
      L.rawSet(index: position + 1, at: -2)
    }
    try state.push(text: text, to: L)
    return 2
  }

  /// The writes that led to the last call of a watcher, and a text about them.
  private func reason(
    ofCallsOf watcher: WatcherRef?, _ id: UInt64, _ name: String
  ) -> (writes: [RecordedWrite], text: String) {
    var writes: [RecordedWrite] = []
    var lines: [String] = []
    let (isRecording, history) = record(of: watcher, id)
    if isRecording, let history {
      writes = history.last
      lines =
        writes.isEmpty
        ? ["\(name) has not been called since recording began"]
        : ["\(name) was called in \(callText(history)) because of:"]
          + writes.map { "  \($0)" }
    } else if isRecording {
      lines = ["\(name) has not been called since recording began"]
    } else {
      if let site = cause(of: watcher) {
        writes = [RecordedWrite(key: "", site: site, turn: 0)]
        lines = ["the first write behind the last call of \(name) was at \(site)"]
      } else {
        lines = ["nothing is known about calls of \(name)"]
      }
      lines.append("recording is off; obs.record(true) keeps more")
    }
    return (writes, lines.joined(separator: "\n"))
  }

  /// The part of the record about a watcher that the running script can see; the watcher may have
  /// ended.
  private func record(
    of watcher: WatcherRef?, _ id: UInt64
  ) -> (isOn: Bool, history: HistoryRecorder.History?) {
    guard let recorder else { return (false, nil) }
    let (reader, history) = (host.sandboxes.current.number, recorder.history(ofID: id))
    let owner = history?.owner ?? watcher.map(recorder.owner) ?? reader
    return recorder.answers(reader, about: owner) ? (true, history) : (false, nil)
  }

  /// "turn 3, flush 2,": ends with a comma if it contains one.
  private func callText(_ history: HistoryRecorder.History) -> String {
    turnText(history.lastTurn, flush: history.lastFlush) + (history.lastFlush == nil ? "" : ",")
  }

  /// Pushes a write as a table. [-0, +1, -]
  private func push(_ write: RecordedWrite, to L: LuaStack) throws(LuaError) {
    try state.pushTable(fields: 8, to: L)
    let texts = [("site", write.site), ("key", write.key), ("object", write.object)]
    for (field, value) in texts {
      guard let value, !value.isEmpty else { continue }
      try state.push(text: value, to: L)
      try state.setField(field, of: L)
    }
    for (field, value) in [("old", write.old), ("new", write.new)] {
      try state.push(value, to: L)
      try state.setField(field, of: L)
    }
    for (field, number) in [("turn", write.turn), ("flush", write.flush ?? 0)] where number > 0 {
      L.push(number)
      try state.setField(field, of: L)
    }
    if write.hasLeft {
      L.push(true)
      try state.setField("left", of: L)
    }
    if !write.through.isEmpty {
      try state.push(write.through, to: L)
      try state.setField("through", of: L)
    }
  }

  /// whynot(watcher) → table {reason, detail}, text.
  private func whyNot(_ L: LuaStack) throws -> CInt {
    let (watcher, handle) = try ownWatcher(L, "whynot")
    let name = try host.module.watchers.name(of: watcher, handle, L)
    let silence = silence(of: watcher, handle.pointee.id)
    try state.pushTable(fields: 2, to: L)
    for (field, value) in [("reason", silence.reason.rawValue), ("detail", silence.detail)] {
      try state.push(text: value, to: L)
      try state.setField(field, of: L)
    }
    try state.push(text: "\(name): \(silence.detail)", to: L)
    return 2
  }

  /// The reason why a watcher was not called.
  private func silence(of watcher: WatcherRef?, _ id: UInt64) -> Silence {
    let (isRecording, history) = record(of: watcher, id)
    var silence = engine.inspection.silence(
      of: watcher, history, isRecording: isRecording, cause: cause(of: watcher))
    for hint in watcher.map(ListHints(host).hints) ?? [] { silence.detail += "; \(hint)" }
    if !isRecording { silence.detail += "; recording is off, obs.record(true) keeps more" }
    return silence
  }

  /// The place of the first write behind the last call of a script's watcher, if it is known.
  private func cause(of watcher: WatcherRef?) -> String? {
    guard let watcher, host.receiver.isScript(watcher), watcher.script.pointee.cause.line > 0
    else { return nil }
    return host.sources.text(watcher.script.pointee.cause)
  }

  // MARK: Watchers by number

  /// The text of `why` about the watcher or lazy property with a number; nil if no watcher ever had
  /// the number.
  func why(_ number: UInt64) -> String? {
    named(number).map { reason(ofCallsOf: $0.watcher, number, $0.name).text }
  }

  /// The text of `whynot` about the watcher or lazy property with a number; nil if no watcher ever
  /// had the number.
  func whyNot(_ number: UInt64) -> String? {
    named(number).map { "\($0.name): \(silence(of: $0.watcher, number).detail)" }
  }

  private func named(_ number: UInt64) -> (watcher: WatcherRef?, name: String)? {
    guard number > 0, number <= engine.watchers.latestNumber else { return nil }
    var found: WatcherRef?
    engine.watchers.forEach { if $0.pointee.id == number { found = $0 } }
    let name = found.map { $0.pointee.receiver.takeUnretainedValue().label($0).name }
    return (found, name ?? "watcher \(number)")
  }

  /// Whether the record of the sandbox is on.
  func isRecording(for sandbox: LuaSandbox) -> Bool {
    recorder?.isRecording(for: sandbox.number) ?? false
  }

  // MARK: Breaking

  /// - Throws: an error in a host with safe libraries, because the prompt would make its user wait.
  private func checkPrompt() throws(LuaError) {
    if host.module.isShared { throw LuaError("a host with safe libraries cannot open a prompt") }
  }

  /// break_on_change(observed, path): opens a prompt at each write on the path.
  private func breakOnChange(_ L: LuaStack) throws -> CInt {
    try checkPrompt()
    let root = try arguments.observed(at: 1, of: L, "break_on_change")
    try addProbe(arguments.path(at: 2, of: L, "break_on_change", argument: 2), root, L)
    return 0
  }

  private func breakOnChangeOfWatcher(_ L: LuaStack) throws -> CInt {
    try checkPrompt()
    guard let watcher = try host.module.watchers.watcher(at: 1, of: L, "break_on_change").0,
      let root = watcher.pointee.root
    else { return 0 }
    for path in engine.inspection.paths(of: watcher) { try addProbe(path, root, L) }
    return 0
  }

  private func addProbe(_ path: Path, _ root: NodeRef, _ L: LuaStack) throws {
    let watcher = engine.watchers.make(
      root: root, receiver: probe, traits: [.immediate, .probing])
    let name = watcher.identity
    do {
      if host.paths.pushObjectKeys(of: path, to: L) {
        try observed.keep(ScriptWatcher.key(ofProbe: watcher), of: root, L)
      }
      if let watcher = engine.watchers[name] { try engine.wiring.add(path, to: watcher) }
    } catch {
      if let watcher = engine.watchers[name] { engine.watchers.stop(watcher) }
      if let error = error as? PathError {
        throw badArgument(2, of: "break_on_change", error.description)
      }
      throw error
    }
  }

  /// Handles a watcher that `break_on_call` names and that is about to be called.
  func breakOnCall(of watcher: WatcherRef, _ L: LuaStack) {
    let (name, site) = host.receiver.title(of: watcher)
    let cause = watcher.script.pointee.cause
    var text = "\(host.programName): break on call of \(name) (registered at \(site))\n"
    if cause.line > 0 { text += "  caused by the write at \(host.sources.text(cause))\n" }
    writeError(text)
    openPrompt(L)
  }

  /// Opens a debugging prompt like Lua's in a terminal, until "cont" or the end of the input.
  func openPrompt(_ L: LuaStack) {
    let outside = host.loop.outside
    let isAttended = outside.exchange("terminal") {
      RunInput(result: isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0 ? 1 : 0)
    }
    guard isAttended.result != 0 else { return }
    outside?.refuse("a prompt in the script")
    let height = L.height
    defer { L.height = height }
    do {
      // The prompt's code needs the library `debug`, which scripts without it must not reach.
      try host.module.printing.pushDebugPrompt(to: L)
      guard L.pushGlobals() == .table,
        clua_try_getfield(L.pointer, -1, "debug", 5) == LUA_OK, L.isTable(at: -1)
      else { return }
      L.insert(-2)
      L.push(TerminalStyle.columns(of: STDERR_FILENO))
      L.push(TerminalStyle.isColoured(STDERR_FILENO))
      try state.tracedCall(arguments: 4, results: 1, L)
    } catch {
      return host.report(error)
    }
    _ = clua_protect(L.pointer, clua_debugprompt, 1, 0)
  }
}
