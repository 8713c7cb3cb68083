internal import CLua
internal import Lua
internal import Observables

/// Handles, and the methods of watchers.
final class WatcherFunctions: ModuleSlice {
  /// Makes the metatables of handles, the objects that scripts hold.
  func installHandles(_ L: LuaStack) throws(LuaError) {
    let objects: HostObjects = host.objects
    try installHandle(
      CLUA_HANDLE_OBJECT, nil, L,
      [
        .init("__index", objects.index), .init("__newindex", objects.newIndex),
        .init("__len", objects.length),
        .init("__pairs", objects.pairs), .init("__tostring", describeObject),
      ])
    try installHandle(CLUA_HANDLE_PATH, "obs.Path", L, [.init("__tostring", describePath)])
    try installHandle(CLUA_HANDLE_WATCHER, "obs.Watcher", L, [.init("__tostring", describeWatcher)])
    try installHandle(CLUA_HANDLE_TIMER, "obs.Timer", L, [])
    try installHandle(CLUA_HANDLE_DESCRIPTOR, "obs.Handler", L, [])
  }

  private func installHandle(
    _ kind: clua_handle_kind, _ name: String?, _ L: LuaStack,
    _ metamethods: [NamedFunction]
  ) throws(LuaError) {
    try state.pushTable(fields: 6, to: L)
    for metamethod in metamethods {
      let event = metamethod.name
      try calls.push(metamethod.function, to: L)
      if kind == CLUA_HANDLE_OBJECT, event == "__index" || event == "__newindex" {
        let writes = event == "__newindex"
        try state.check(clua_try_accelerate(L.pointer, writes, HostObjects.release), L)
      }
      try state.setField(event, of: L)
    }
    if let name {
      try state.push(text: name, to: L)
      try state.setField("__name", of: L)
    }
    L.push(false)
    try state.setField("__metatable", of: L)
    try state.check(clua_try_sethandlekind(L.pointer, kind), L)
  }

  private func describeObject(_ L: LuaStack) throws -> CInt {
    guard let object = host.objects.object(at: 1, of: L) else {
      throw badArgument(1, of: "tostring", "a host object expected")
    }
    try state.push(text: host.objects.typeName(of: object), to: L)
    return 1
  }

  private func describePath(_ L: LuaStack) throws -> CInt {
    try state.push(bytes: arguments.path(at: 1, of: L, "tostring", argument: 1).text, to: L)
    return 1
  }

  private func describeWatcher(_ L: LuaStack) throws -> CInt {
    let (watcher, handle) = try watcher(at: 1, of: L, "tostring")
    let name = try name(of: watcher, handle, L)
    try state.push(text: "obs.Watcher: \(name)" + (watcher == nil ? " (ended)" : ""), to: L)
    return 1
  }

  // MARK: Watchers

  /// Turns the handle on top of the stack into a watcher's handle.
  ///
  /// The handle holds only its name, and data that shows whether the watcher is still active.
  func fill(
    _ handle: UnsafeMutablePointer<clua_handle>, with watcher: WatcherRef, _ L: LuaStack
  ) {
    let site = watcher.script.pointee.site
    // After the watcher's end, the place of registration is its name; it is stored as two numbers,
    // not as an object.
    let bits = UInt(UInt32(bitPattern: site.source)) << 32 | UInt(UInt32(bitPattern: site.line))
    handle.pointee.object = UnsafeMutableRawPointer(bitPattern: bits)
    handle.pointee.index = watcher.pointee.index
    handle.pointee.id = watcher.pointee.id
    if watcher.script.pointee.parts.contains(.name), let root = watcher.pointee.root {
      observed.pushKept(ScriptWatcher.key(watcher, .name), of: root, to: L)
      L.setUserValue(at: -2)
    }
  }

  /// The watcher of the handle at `index`, or nil if it has ended.
  func watcher(
    at index: CInt, of L: LuaStack, _ function: String
  ) throws -> (WatcherRef?, UnsafeMutablePointer<clua_handle>) {
    guard let handle = clua_tohandle(L.pointer, index, CLUA_HANDLE_WATCHER) else {
      let isMethod = L.height < Int(index) && !["why", "whynot"].contains(function)
      throw badArgument(
        Int(index), of: function,
        "watcher expected, got \(state.typeName(at: index, of: L))"
          + (isMethod ? "; it is called with a colon, as w:\(function)()" : "")
          + arguments.colonHint(function, L))
    }
    let name = WatcherID(index: handle.pointee.index, number: handle.pointee.id)
    return (engine.watchers[name], handle)
  }

  func name(
    of watcher: WatcherRef?, _ handle: UnsafeMutablePointer<clua_handle>, _ L: LuaStack
  ) throws -> String {
    if L.pushUserValue(at: 1) == .string {
      defer { L.pop() }
      return state.text(at: -1, of: L)
    }
    L.pop()
    return host.sources.text(site(of: handle))
  }

  func site(of handle: UnsafeMutablePointer<clua_handle>) -> Site {
    let bits = UInt(bitPattern: handle.pointee.object)
    return Site(
      source: Int32(truncatingIfNeeded: bits >> 32), line: Int32(truncatingIfNeeded: bits))
  }

  /// Implements `watcher.name`, `watcher.active`, and the methods.
  private func index(_ L: LuaStack) throws -> CInt {
    let (watcher, handle) = try watcher(at: 1, of: L, "index")
    guard L.isString(at: 2) else {
      L.pushNil()
      return 1
    }
    let key = state.text(at: 2, of: L)
    switch key {
    case "active":
      if let watcher, watcher.pointee.traits.contains(.observing),
        !host.receiver.isObserverAlive(watcher)
      {
        engine.watchers.stop(watcher)
        L.push(false)
      } else {
        L.push(watcher != nil)
      }
    case "name" where L.pushUserValue(at: 1) == .string: break
    case "name": try state.push(text: name(of: watcher, handle, L), to: L)
    default: L.pushNil()
    }
    return 1
  }

  override var functions: [NamedFunction] {
    [
      .init("set_methods", setMethods),
      .init(
        "end_wait",
        { [self] L in
          if let watcher = try watcher(at: 1, of: L, "stop").0 {
            watcher.script.pointee.isAwaited = false
            engine.watchers.stop(watcher)
            engine.hooks.run()
          }
          return 0
        }
      ),
      .init(
        .watcher, "stop", most: 0,
        { [self] L in
          if let watcher = try watcher(at: 1, of: L, "stop").0 {
            host.recorder?.noteStop(of: watcher, at: host.sources.text(host.sources.current(L)))
            engine.watchers.stop(watcher)
            engine.hooks.run()
            host.recorder?.drain()
          }
          return 0
        }
      ),
      .init(
        .watcher, "pause", most: 0,
        { [self] L in
          if let watcher = try watcher(at: 1, of: L, "pause").0 { engine.watchers.pause(watcher) }
          return 0
        }
      ),
      .init(
        .watcher, "resume", most: 0,
        { [self] L in
          if let watcher = try watcher(at: 1, of: L, "resume").0 {
            engine.watchers.resume(watcher)
          }
          return 0
        }
      ),
      .init(
        .watcher, "observe", most: 1,
        { [self] L in
          L.height = 2
          let watcher = try watcher(at: 1, of: L, "observe").0
          let path = try arguments.path(at: 2, of: L, "observe", argument: 1)
          if let watcher {
            do {
              let name = watcher.identity
              try host.receiver.add(path, to: watcher, L)
              if let watcher = engine.watchers[name] {
                host.module.observing.noteRegistered(watcher, L, path)
              }
            } catch let error as PathError {
              throw badArgument(1, of: "observe", error.description)
            }
            engine.hooks.run()
          }
          L.height = 1
          return 1
        }
      ),
      .init(
        .watcher, "run", most: 0,
        { [self] L in
          if let watcher = try watcher(at: 1, of: L, "run").0, !engine.delivery.runNow(watcher) {
            throw LuaError("Watcher:run was called inside the watcher's own callback")
          }
          return 0
        }
      ),
      .init(
        .watcher, "schedule", most: 0,
        { [self] L in
          if let watcher = try watcher(at: 1, of: L, "schedule").0 {
            engine.delivery.schedule(watcher)
          }
          return 0
        }
      ),
    ]
  }

  /// set_methods(kind, table): sets the prelude's methods for a kind of handle.
  private func setMethods(_ L: LuaStack) throws -> CInt {
    let (kind, index): (clua_handle_kind, ModuleFunction) =
      switch state.text(at: 1, of: L) {
      case "Watcher": (CLUA_HANDLE_WATCHER, self.index)
      case "Timer": (CLUA_HANDLE_TIMER, host.module.timers.index)
      default: (CLUA_HANDLE_DESCRIPTOR, host.module.descriptors.index)
      }
    L.height = 2
    try calls.push(index, to: L)
    try state.check(clua_try_sethandleindex(L.pointer, kind), L)
    return 0
  }
}
