internal import CLua
import LibC
internal import Lua
internal import Observables

/// Callbacks for readable or writable files and descriptors: `on_readable`, `on_writable`.
final class DescriptorFunctions: ModuleSlice {
  private var entries: [Int: Entry] = [:]
  private var last = 0
  /// The number of writers that ignore SIGPIPE, and the previous signal handler.
  private var writers = 0
  private var outerAction: (@convention(c) (CInt) -> Void)?

  /// Bytes of scripts' memory for a handler with its callback.
  private static let charge = 1200

  private struct Entry {
    let handler: DescriptorHandler
    let owner: ScriptOwner
    /// The function that made the handler, and the place of the call.
    let function: String
    let site: String
  }

  override var functions: [NamedFunction] {
    [
      .init("on_readable", most: 2, { [self] L in try make("on_readable", L) }),
      .init(.module, "on_writable", most: 2, { [self] L in try make("on_writable", L) }),
      .init(
        .handler, "stop", most: 0,
        { [self] L in
          try stop(number(L, "stop")); return 0
        }
      ),
      .init(.handler, "ref", most: 0, { [self] L in try reference(L, true) }),
      .init(.handler, "unref", most: 0, { [self] L in try reference(L, false) }),
      .init(.io, "buffered", buffered), .init(.io, "descriptor", descriptor),
      .init(.io, "call_back", callBack),
      .init(
        .io, "ignore_broken_pipes",
        { [self] L in
          ignoreBrokenPipes(L.boolean(at: 1)); return 0
        }
      ),
      .init(
        .io, "restore_signals",
        { [self] _ in
          host.restoreSignals?(); return 0
        }
      ),
    ]
  }

  override func end() {
    for entry in entries.values { entry.handler.stop() }
    entries = [:]
  }

  /// The handlers that keep the loop running, in order of creation.
  var awaited: [LiveObject] { live(after: 0) { $0.keepsLoopRunning } }

  /// The number of the newest handler.
  var latest: Int { last }

  /// Active handlers created after handler `number`.
  func live(
    after number: Int, where isMeant: (DescriptorHandler) -> Bool = { _ in true }
  ) -> [LiveObject] {
    entries.filter { $0.key > number && isMeant($0.value.handler) }
      .sorted { $0.key < $1.key }
      .map { LiveObject(kind: .handler, name: $0.value.function, site: $0.value.site) }
  }

  /// on_readable(file or descriptor, callback) → handler.
  private func make(_ function: String, _ L: LuaStack) throws -> CInt {
    guard !host.isClosed else { throw LuaError.closed }
    guard try hasFiles(L), host.sandboxes.current.number == 0 else {
      throw LuaError("obs.\(function) is not available: the host gives these scripts no files")
    }
    L.height = 2
    let (descriptor, stream) = try waitedFor(at: 1, of: L, function)
    try arguments.checkFunction(at: 2, of: L, function)
    try host.module.reloading.noteCallback(at: 2, L)
    let callback = LuaFunction(pin: try state.pin(at: 2, of: L))
    // The file lives as long as its handler.
    let file = stream == nil ? nil : LuaFile(pin: try state.pin(at: 1, of: L))
    let site = host.sources.text(host.sources.current(L))
    let owner = try host.sandboxes.registering()
    try state.charge(Self.charge)
    last += 1
    let id = last
    let body: () -> Void = { [reference = host.reference] in
      reference.use {
        $0.module.descriptors.call(callback, file, descriptor, id, name: function, site: site)
      }
    }
    let reads = function == "on_readable"
    let status: () -> DescriptorState = {
      guard let stream else { return .unknown }
      if clua_isclosed(stream) { return .closed }
      return reads && clua_buffered(stream) > 0 ? .ready : .unknown
    }
    do throws(ClosedDescriptor) {
      let handler =
        reads
        ? try host.loop.onReadable(descriptor, stream: status, body)
        : try host.loop.onWritable(descriptor, stream: status, body)
      handler.onClose = { [reference = host.reference] in
        reference.use { $0.module.descriptors.reportClosed(id) }
      }
      entries[id] = Entry(
        handler: handler, owner: owner, function: function, site: site)
    } catch {
      state.discharge(Self.charge, from: state.mainShare)
      throw badArgument(1, of: function, "descriptor \(descriptor) is not open")
    }
    try state.check(
      clua_try_pushhandle(
        L.pointer, CLUA_HANDLE_DESCRIPTOR,
        clua_handle(object: nil, release: nil, index: id, id: 0)), L)
    try host.module.scopes.add(L)
    return 1
  }

  /// Whether this host has opened the library `io` for scripts.
  private func hasFiles(_ L: LuaStack) throws(LuaError) -> Bool {
    if host.module.isShared { return false }
    try state.pushField("_LOADED", at: CLUA_REGISTRYINDEX, of: L)
    try state.pushField("io", of: L)
    defer { L.pop(2) }
    return L.isTable(at: -1)
  }

  /// The descriptor of an argument, and the stream if the argument is a file.
  private func waitedFor(
    at index: CInt, of L: LuaStack, _ function: String
  ) throws -> (Int32, UnsafeRawPointer?) {
    if L.isNumber(at: index), !L.isString(at: index) {
      // Some libraries pass the descriptor as a float.
      guard let descriptor = Int32(exactly: L.number(at: index)) else {
        throw badArgument(
          Int(index), of: function,
          "descriptor expected, got \(state.describe(at: index, of: L))")
      }
      return (descriptor, nil)
    }
    var file = clua_file()
    try state.check(clua_try_file(L.pointer, index, &file), L)
    guard let stream = file.stream else {
      throw badArgument(
        Int(index), of: function,
        "file or descriptor expected, got \(state.typeName(at: index, of: L))"
          + arguments.colonHint(function, L))
    }
    guard file.descriptor >= 0 else {
      throw badArgument(Int(index), of: function, "the file is closed")
    }
    return (file.descriptor, UnsafeRawPointer(stream))
  }

  private func call(
    _ callback: LuaFunction, _ file: LuaFile?, _ descriptor: Int32, _ id: Int, name: String,
    site: String
  ) {
    guard let entry = entries[id] else { return }
    let main = host.sandboxes[0]
    if main.isPaused {
      // The descriptor is polled again after the pause.
      entry.handler.isPaused = true
      _ = main.holds(-id) { entry.handler.isPaused = false }
      return
    }
    host.reports.run(callback, .handler, name: name, site: site, in: entry.owner) {
      [state] L throws(LuaError) in
      if let file { try state.push(file.pin, to: L) } else { L.push(Int(descriptor)) }
      return 1
    }
  }

  private func reportClosed(_ id: Int) {
    guard let entry = entries[id] else { return }
    stop(id)
    let error = LuaError("its descriptor was closed: stop the handler before you close it")
    host.reports.report(error, .handler, name: entry.function, site: entry.site)
  }

  private func stop(_ id: Int) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    state.discharge(Self.charge, from: state.mainShare)
    entry.handler.stop()
  }

  private func number(_ L: LuaStack, _ function: String) throws -> Int {
    guard let handle = clua_tohandle(L.pointer, 1, CLUA_HANDLE_DESCRIPTOR) else {
      throw badArgument(1, of: function, "handler expected, got \(state.typeName(at: 1, of: L))")
    }
    return handle.pointee.index
  }

  private func reference(_ L: LuaStack, _ keeps: Bool) throws -> CInt {
    entries[try number(L, keeps ? "ref" : "unref")]?.handler.keepsLoopRunning = keeps
    L.height = 1
    return 1
  }

  /// Implements `handler.active` and the methods.
  func index(_ L: LuaStack) throws -> CInt {
    let handle = clua_tohandle(L.pointer, 1, CLUA_HANDLE_DESCRIPTOR)
    if let handle, L.isString(at: 2), state.text(at: 2, of: L) == "active" {
      L.push(entries[handle.pointee.index] != nil)
    } else {
      L.pushNil()
    }
    return 1
  }

  /// descriptor(file or descriptor, function name, argument number) → the descriptor's number.
  private func descriptor(_ L: LuaStack) throws -> CInt {
    let (function, number) = (state.text(at: 2, of: L), Int(L.integer(at: 3) ?? 1))
    let (descriptor, _) = try waitedFor(at: 1, of: L, function)
    guard host.loop.isOpen(descriptor) else {
      throw badArgument(number, of: function, "descriptor \(descriptor) is not open")
    }
    L.push(Int(descriptor))
    return 1
  }

  /// Stops the handlers of some owners.
  func stopAll(where isEnding: (ScriptOwner) -> Bool) {
    for (id, entry) in entries where isEnding(entry.owner) { stop(id) }
  }

  /// call_back(callback, name, site, argument, module): calls a callback of `obs.io`, which belongs
  /// to a module, and reports its error.
  private func callBack(_ L: LuaStack) throws -> CInt {
    L.height = 5
    let module = UInt32(truncatingIfNeeded: L.integer(at: 5) ?? 0)
    let (name, site) = (state.text(at: 2, of: L), state.text(at: 3, of: L))
    let argument = state.bytes(at: 4, of: L)
    let callback = LuaFunction(pin: try state.pin(at: 1, of: L))
    let owner = ScriptOwner(sandbox: 0, module: module)
    host.reports.run(callback, .handler, name: name, site: site, in: owner) {
      [state] L throws(LuaError) in
      try state.push(bytes: argument, to: L)
      return 1
    }
    return 0
  }

  /// Ignores SIGPIPE while a script writes to a process: one that stops reading must not end the
  /// program.
  private func ignoreBrokenPipes(_ isOn: Bool) {
    writers += isOn ? 1 : -1
    if isOn, writers == 1 { outerAction = signal(SIGPIPE, SIG_IGN) }
    if !isOn, writers == 0 { signal(SIGPIPE, outerAction) }
  }

  /// buffered(file) → the number of bytes its stream has read ahead; 0 for other values.
  private func buffered(_ L: LuaStack) throws -> CInt {
    var file = clua_file()
    try state.check(clua_try_file(L.pointer, 1, &file), L)
    L.push(file.descriptor >= 0 ? clua_buffered(file.stream) : 0)
    return 1
  }
}

/// A script's file that is kept open.
private struct LuaFile {
  let pin: LuaPin
}
