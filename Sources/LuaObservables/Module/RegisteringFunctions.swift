internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Making watchers: `obs.observe`, and the functions that observe in other ways.
final class RegisteringFunctions: ModuleSlice {
  /// The last key that was given to a callback which could not have the key of its watcher's
  /// number; such keys lie beyond all others.
  @exclusivity(unchecked) private var lastSpareKey: Int64 = 1 << 50

  override func complete(_ L: LuaStack) throws(LuaError) {
    try pushObserve(to: L)
    try state.setField("observe", of: L)
    try pushRegister(to: L)
    try state.setField("register", of: L)
  }

  /// Pushes the function `observe`, whose C side has made handle and node before Swift is called.
  /// [-0, +1, -]
  private func pushObserve(to L: LuaStack) throws(LuaError) {
    let status = clua_try_pushobserve(
      L.pointer,
      { L, context, made in
        Unmanaged<RegisteringFunctions>.fromOpaque(context!)._withUnsafeGuaranteedRef { slice in
          let L = LuaStack(L!)
          return slice.calls.call(L) { () throws in
            try slice.register(L, made!.pointee, .observe)
          }
        }
      }, Unmanaged.passUnretained(self).toOpaque(), engine.nextIndex)
    try state.check(status, L)
  }

  /// Pushes the function `register(observed, manner, callback, options)`, where `manner` is a table
  /// of the prelude that says how to observe. [-0, +1, -]
  private func pushRegister(to L: LuaStack) throws(LuaError) {
    let status = clua_try_pushobserve(
      L.pointer,
      { L, context, made in
        Unmanaged<RegisteringFunctions>.fromOpaque(context!)._withUnsafeGuaranteedRef { slice in
          let L = LuaStack(L!)
          return slice.calls.call(L) { () throws in
            try slice.register(L, made!.pointee, try slice.manner(at: 2, of: L))
          }
        }
      }, Unmanaged.passUnretained(self).toOpaque(), engine.nextIndex)
    try state.check(status, L)
  }

  /// How a function of the module registers a watcher.
  struct Manner {
    /// The name of the function, for errors.
    var function: String
    /// Which of its arguments are the paths, the callback and the options.
    var paths: Int
    var callback: Int
    var options: Int
    /// Whether edits are delivered to the watcher.
    var isEditing = false
    /// Whether a function of the prelude is called in place of the callback, which is its first
    /// argument.
    var isDriven = false
    /// The flags of a watcher of the prelude itself, which say of which writes it is notified.
    var flags: WatcherRecord.Flags = []
    var isInternal: Bool { flags.rawValue != 0 }
    /// Whether a task waits for the call.
    var isWait = false

    static let observe = Manner(function: "observe", paths: 2, callback: 3, options: 4)
    static let edits = Manner(
      function: "observe_edits", paths: 1, callback: 2, options: 3, isEditing: true)
    static let wait = Manner(
      function: "next_change", paths: 2, callback: 3, options: 4, isWait: true)
    static let keys = Manner(
      function: "observe_keys", paths: 2, callback: 3, options: 4, isDriven: true)
  }

  /// Reads a manner: a list of paths with a `driver`, or which `tells` an immediate watcher of
  /// "all" writes, of "arrivals", of the "first" one, or of the "edits" of each; without paths for
  /// edits.
  private func manner(at index: CInt, of L: LuaStack) throws(LuaError) -> Manner {
    if L.ownLength(at: index) == 0 { return .edits }
    try state.pushField("waits", at: index, of: L)
    let isWait = L.boolean(at: -1)
    L.pop()
    if isWait { return .wait }
    try state.pushField("tells", at: index, of: L)
    defer { L.pop() }
    guard L.isString(at: -1) else { return try keysManner(at: index, of: L) }
    var manner = Manner.observe
    manner.flags = [.immediate, .probing, .atOnce]
    switch state.text(at: -1, of: L) {
    case "arrivals": manner.flags.insert(.arriving)
    case "first": manner.flags.insert(.noticing)
    case "edits": manner.isEditing = true
    default: break
    }
    return manner
  }

  /// The manner of a watcher with a driver, which may be that of a function which is `called`
  /// otherwise.
  private func keysManner(at index: CInt, of L: LuaStack) throws(LuaError) -> Manner {
    try state.pushField("called", at: index, of: L)
    defer { L.pop() }
    var manner = Manner.keys
    guard L.isString(at: -1) else { return manner }
    (manner.function, manner.callback, manner.options) = (state.text(at: -1, of: L), 2, 3)
    return manner
  }

  /// Arguments as those of `observe` → watcher; the handle is on top of the stack.
  private func register(
    _ L: LuaStack, _ made: clua_registration, _ manner: Manner
  ) throws -> CInt {
    let host = host
    // A finalizer may call this while the state closes.
    guard !host.isClosed else { throw LuaError.closed }
    let root: NodeRef
    if let table = made.node {
      root = host.tables.node(of: table)
    } else {
      root = try arguments.observed(at: 1, of: L, manner.function)
      try arguments.checkFunction(at: 3, of: L, manner.function, argument: manner.callback)
      L.pushCopy(at: 3)
      try observed.keep(made.key, of: root, L)
    }
    // If the registration fails, a node without watchers is forgotten when the turn ends.
    engine.settleWhenIdle(root)
    let options =
      L.isNil(at: 4) ? ObserveOptions() : try ObserveOptions(at: 4, of: L, host, manner)
    let site = host.sources.current(L)
    var key = made.key
    if key != lua_Integer(engine.nextIndex.pointee) * lua_Integer(CLUA_KEY_STRIDE) {
      // A watcher ended meanwhile, with its table or in a finalizer: another may get the number,
      // and with it this key.
      lastSpareKey += lua_Integer(CLUA_KEY_STRIDE)
      key = lastSpareKey
      L.pushCopy(at: 3)
      try observed.keep(key, of: root, L)
      observed.forget(made.key, of: root, L)
    }
    let sandbox = host.sandboxes.current
    if manner.isInternal { try checkInternals(of: sandbox, on: root, manner) }
    if !manner.isInternal { try sandbox.quotas.takeWatcher() }
    let data = UnsafeMutablePointer<ScriptWatcher>.allocate(capacity: 1)
    data.initialize(
      to: ScriptWatcher(
        site: site, root: root, key: key, sandbox: sandbox.number, isInternal: manner.isInternal,
        isWait: manner.isWait))
    data.pointee.hasObserver = options.hasObserver
    let watcher = engine.makeWatcher(
      root: root, receiver: host.receiver,
      flags: (made.node == nil ? flags(options, root) : options.flags).union(manner.flags),
      context: Int(bitPattern: data))
    let name = watcher.identity
    host.tables.hasMetLists = false
    do {
      if options.flags.rawValue != 0 || options.hasNames {
        try keepOptions(options, of: watcher, root, L)
      }
      host.module.watchers.fill(made.handle, with: watcher, L)
      try addPaths(to: watcher, root, manner, L)
    } catch {
      if let watcher = engine.watcher(name) { engine.stop(watcher) }
      if let error = error as? PathError {
        throw badArgument(manner.paths, of: manner.function, error.description)
      }
      throw error
    }
    if host.tables.hasMetLists, let watcher = engine.watcher(name) {
      ListHints(host).warn(of: watcher, L)
    }
    // Getters on its paths may have ended the watcher.
    if options.isInitial, engine.watcher(name) != nil {
      data.pointee.givesAll = manner.isEditing
      engine.schedule(watcher)
    }
    if !manner.isInternal { try host.module.scopes.add(L) }
    engine.runHooks()
    host.recorder?.drain()
    return 1
  }

  /// How many histories, transactions and watchers of changes of a sandbox may be notified of each
  /// write to an object, and how many of the first write in a turn.
  ///
  /// Their work in a write is not stopped, and delays the code that writes (S5).
  private static let internalsLimit = (eachWrite: 16, firstWrite: 100)

  /// - Throws: `quota` for a sandbox that has too many watchers of the prelude on an object.
  private func checkInternals(
    of sandbox: LuaSandbox, on root: NodeRef, _ manner: Manner
  ) throws(LuaError) {
    guard sandbox.number != 0 else { return }
    let isRare = !manner.flags.isDisjoint(with: [.noticing, .arriving])
    let limit = isRare ? Self.internalsLimit.firstWrite : Self.internalsLimit.eachWrite
    let count = host.receiver.internals(of: sandbox, on: root) {
      $0.isDisjoint(with: [.noticing, .arriving]) != isRare
    }
    guard count < limit else {
      throw LuaError(
        .quota,
        "too many histories, transactions and watchers of changes of one object: a script may "
          + "have \(limit)")
    }
  }

  private func addPaths(
    to watcher: WatcherRef, _ root: NodeRef, _ manner: Manner, _ L: LuaStack
  ) throws {
    if manner.isEditing {
      watcher.script.pointee.hasEdits = true
      return try engine.addEdits(to: watcher)
    }
    if manner.isDriven {
      try state.pushField("driver", at: 2, of: L)
      watcher.script.pointee.hasDriver = true
      try observed.keep(ScriptWatcher.key(watcher, .driver), of: root, L)
    }
    if L.isString(at: 2) {
      let path = try arguments.path(at: 2, of: L, manner.function, argument: manner.paths)
      try charge(for: path, of: watcher)
      return try host.receiver.add(path, to: watcher, L)
    }
    let name = watcher.identity
    try arguments.forEachPath(at: 2, of: L, manner.function, argument: manner.paths) { path in
      guard engine.watcher(name) != nil else { return }
      try charge(for: path, of: watcher)
      try host.receiver.add(path, to: watcher, L)
    }
  }

  /// Takes what the engine keeps for a path from the memory of scripts (S3): the records of a
  /// watcher, and of each component its wire, link and slot.
  private func charge(for path: Path, of watcher: WatcherRef) throws(LuaError) {
    let bytes = (watcher.script.pointee.charge == 0 ? 400 : 0) + 320 * path.components.count
    try state.charge(bytes, to: state.share(named: watcher.pointee.payer))
    watcher.script.pointee.charge += Int32(clamping: bytes)
  }

  /// The flags of a watcher of a Swift object: before each call it is asked whether the userdata to
  /// which the callbacks belong is there.
  private func flags(_ options: ObserveOptions, _ root: NodeRef) -> WatcherRecord.Flags {
    observed.isTable(root) ? options.flags : options.flags.union(.observing)
  }

  private func keepOptions(
    _ options: ObserveOptions, of watcher: WatcherRef, _ root: NodeRef, _ L: LuaStack
  ) throws {
    for (name, part) in [("equals", ScriptWatcher.Part.equals), ("on_end", .end), ("name", .name)] {
      try state.pushField(name, at: 4, of: L)
      if L.isNil(at: -1) {
        L.pop()
        continue
      }
      switch part {
      case .equals: watcher.script.pointee.hasEquals = true
      case .end:
        watcher.script.pointee.hasEnd = true
        try observed.noticeEnding(of: root, L)
      default: watcher.script.pointee.hasName = true
      }
      try observed.keep(ScriptWatcher.key(watcher, part), of: root, L)
    }
    guard options.hasObserver else { return }
    try state.pushField("observer", at: 4, of: L)
    if !L.rawEqual(-1, 1), let name = clua_capturename(L.pointer, 3, -1) {
      let site = host.sources.text(watcher.script.pointee.site)
      writeError(
        """
        \(host.programName): \(site): warning: the callback captures its observer \
        '\(String(cString: name))', which keeps it alive for ever; \
        use the observer that the callback is given instead\n
        """)
    }
    L.pushCopy(at: -1)
    try host.paths.keepObserver(watcher.pointee.index, L)
    host.objects.share(L)
    L.pop()
  }
}
