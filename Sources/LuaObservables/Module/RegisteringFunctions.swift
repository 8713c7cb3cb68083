internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Functions that make watchers: `obs.observe` and its relatives.
final class RegisteringFunctions: ModuleSlice {
  /// The last spare key, for a callback that could not have the key of its watcher's number; spare
  /// keys are larger than all others.
  @exclusivity(unchecked) private var lastSpareKey: Int64 = 1 << 50

  override func complete(_ L: LuaStack) throws(LuaError) {
    try pushObserve(to: L)
    try state.setField("observe", of: L)
    try pushRegister(to: L)
    try state.setField("register", of: L)
  }

  /// Pushes the function `observe`, whose C side makes handle and node before it calls Swift. [-0,
  /// +1, -]
  private func pushObserve(to L: LuaStack) throws(LuaError) {
    let status = clua_try_pushobserve(
      L.pointer,
      { L, context, made in
        Unmanaged<RegisteringFunctions>.fromOpaque(context!)._withUnsafeGuaranteedRef { slice in
          let L = LuaStack(L!)
          return slice.calls.call(L) { () throws in
            try slice.register(L, made!.pointee, .paths)
          }
        }
      }, Unmanaged.passUnretained(self).toOpaque(), engine.watchers.nextIndex)
    try state.check(status, L)
  }

  /// Pushes the function `register(observed, request, callback, options)`. [-0, +1, -]
  ///
  /// `request` is a table of the prelude: the paths, the `kind`, and a `driver` if the kind has
  /// one.
  private func pushRegister(to L: LuaStack) throws(LuaError) {
    let status = clua_try_pushobserve(
      L.pointer,
      { L, context, made in
        Unmanaged<RegisteringFunctions>.fromOpaque(context!)._withUnsafeGuaranteedRef { slice in
          let L = LuaStack(L!)
          return slice.calls.call(L) { () throws in
            try slice.register(L, made!.pointee, try slice.request(at: 2, of: L))
          }
        }
      }, Unmanaged.passUnretained(self).toOpaque(), engine.watchers.nextIndex)
    try state.check(status, L)
  }

  /// The kind of a registration: which writes notify the watcher, and how it is called.
  ///
  /// The prelude passes any kind but the first in its second argument's field `kind`.
  enum Request: String {
    /// `obs.observe`: changes of the paths.
    case paths
    /// `obs.bind`: changes of the keys.
    case bind
    /// A task in `obs.next_change` waits for a change of the paths.
    case wait
    /// `obs.observe_keys`: a prelude function, the `driver`, is called with the callback.
    case keys
    /// `obs.changes`, which also has a driver.
    case changes
    /// A history or a mirror takes the changes of a flush: a driver without a callback.
    case history
    /// `obs.observe_edits`: the edits of a collection; has no paths.
    case edits
    /// The prelude is notified of each write to the objects that it names by `follow`, during the
    /// write.
    case allWrites = "all writes"
    /// The prelude is notified of each write to the object, during the write.
    case eachWrite = "each write"
    /// The prelude is notified of each edit, during the write.
    case eachEdit = "each edit"

    /// The name of the function that the script called, for errors.
    var function: String {
      switch self {
      case .bind: "bind"
      case .wait: "next_change"
      case .keys: "observe_keys"
      case .changes: "changes"
      case .edits: "observe_edits"
      default: "observe"
      }
    }

    /// The argument numbers of the paths, the callback and the options in that function.
    var arguments: (paths: Int, callback: Int, options: Int) {
      switch self {
      case .bind: (3, 3, 3)
      case .edits: (1, 2, 3)
      case .changes: (2, 2, 3)
      default: (2, 3, 4)
      }
    }

    // Patterns are used because `==` would compare the raw values as texts.
    var hasDriver: Bool {
      switch self {
      case .keys, .changes, .history: true
      default: false
      }
    }
    var hasEdits: Bool {
      switch self {
      case .edits, .eachEdit: true
      default: false
      }
    }
    /// Whether the watcher follows objects that `follow` names.
    var followsObjects: Bool {
      switch self {
      case .changes, .history, .allWrites: true
      default: false
      }
    }
    var isWait: Bool { if case .wait = self { true } else { false } }
    /// Whether the watcher belongs to the prelude and not to a script.
    var isInternal: Bool { traits.contains(.immediate) }

    var traits: WatcherRecord.Traits {
      switch self {
      // Set literals go through a generic library function, which is slow here.
      case .paths, .bind, .wait, .keys, .edits: WatcherRecord.Traits(rawValue: 0)
      case .changes: .collecting
      case .history: .recording.union(.probing)
      case .allWrites, .eachWrite, .eachEdit: .immediate.union(.probing).union(.atOnce)
      }
    }
  }

  /// Reads the prelude's request from the table at an index.
  private func request(at index: CInt, of L: LuaStack) throws(LuaError) -> Request {
    try state.pushField("kind", at: index, of: L)
    defer { L.pop() }
    let kind = state.text(at: -1, of: L)
    guard let request = Request(rawValue: kind) else {
      throw LuaError("the prelude registers the unknown kind '\(kind)' (this is a bug in obs-lua)")
    }
    return request
  }

  /// Takes the arguments of `observe` and returns the watcher; the handle is on top of the stack.
  private func register(
    _ L: LuaStack, _ made: clua_registration, _ request: Request
  ) throws -> CInt {
    let host = host
    // A finalizer may call this while the state closes.
    guard !host.isClosed else { throw LuaError.closed }
    let root: NodeRef
    if let table = made.node {
      root = host.tables.node(of: table)
    } else {
      root = try arguments.observed(at: 1, of: L, request.function)
      try arguments.checkFunction(
        at: 3, of: L, request.function, argument: request.arguments.callback)
      L.pushCopy(at: 3)
      try observed.keep(made.key, of: root, L)
    }
    try host.module.reloading.noteCallback(at: 3, L)
    // If the registration fails, a node without watchers is dropped at the end of the turn.
    engine.nodes.unobserveWhenIdle(root)
    let options =
      L.isNil(at: 4) ? ObserveOptions() : try ObserveOptions(at: 4, of: L, host, request)
    let site = host.sources.current(L)
    var key = made.key
    if key != lua_Integer(engine.watchers.nextIndex.pointee) * lua_Integer(CLUA_KEY_STRIDE) {
      // Since the key was made, another watcher has ended, with its table or in a finalizer, so
      // another watcher may get this number and key.
      lastSpareKey += lua_Integer(CLUA_KEY_STRIDE)
      key = lastSpareKey
      L.pushCopy(at: 3)
      try observed.keep(key, of: root, L)
      observed.forget(made.key, of: root, L)
    }
    let sandbox = host.sandboxes.current
    let owner =
      request.isWait || request.isInternal
      ? host.sandboxes.owner : try host.sandboxes.registering()
    if request.isInternal { try checkInternals(of: sandbox, on: root) }
    if !request.isInternal { try sandbox.quotas.takeWatcher() }
    let data = UnsafeMutablePointer<ScriptWatcher>.allocate(capacity: 1)
    data.initialize(
      to: ScriptWatcher(site, root, key: key, owner: owner, request, options))
    let watcher = engine.watchers.make(
      root: root, receiver: host.receiver,
      traits: (made.node == nil ? traits(options, root) : options.traits).union(request.traits),
      context: Int(bitPattern: data))
    let name = watcher.identity
    sandbox.watchers?.add(name, in: engine.watchers)
    host.tables.hasMetLists = false
    state.chargeAfterwards(ScriptWatcher.charge, to: state.share(named: watcher.pointee.payer))
    do {
      try state.checkMemory()
      if options.traits.rawValue != 0 || options.hasNames {
        try keepOptions(options, of: watcher, root, L)
      }
      host.module.watchers.fill(made.handle, with: watcher, L)
      try addPaths(to: watcher, root, request, L)
    } catch {
      if let watcher = engine.watchers[name] { engine.watchers.stop(watcher) }
      if let error = error as? PathError {
        throw badArgument(request.arguments.paths, of: request.function, error.description)
      }
      throw error
    }
    if host.tables.hasMetLists, let watcher = engine.watchers[name] {
      ListHints(host).warn(of: watcher, L)
    }
    // Getters on its paths may have ended the watcher.
    if let watcher = engine.watchers[name] { host.module.observing.noteRegistered(watcher, L) }
    if options.isInitial, engine.watchers[name] != nil {
      data.pointee.givesAll = request.hasEdits
      engine.delivery.schedule(watcher)
    }
    if !request.isInternal { try host.module.scopes.add(L) }
    engine.hooks.run()
    host.recorder?.drain()
    return 1
  }

  /// How many histories, transactions and watchers of changes a sandbox may have on one object.
  ///
  /// All are notified during each write; this work is not stopped, and delays the writing code
  /// (S5).
  private static let internalsLimit = 16

  /// - Throws: `quota` if a sandbox has too many prelude watchers on an object.
  private func checkInternals(of sandbox: LuaSandbox, on root: NodeRef) throws(LuaError) {
    guard sandbox.number != 0,
      host.receiver.internals(of: sandbox, on: root) >= Self.internalsLimit
    else { return }
    throw LuaError(
      .quota,
      "too many histories, transactions and watchers of changes of one object: a script may have "
        + "\(Self.internalsLimit)")
  }

  private func addPaths(
    to watcher: WatcherRef, _ root: NodeRef, _ request: Request, _ L: LuaStack
  ) throws {
    if request.followsObjects { engine.wiring.beginFollowing(by: watcher) }
    if case .allWrites = request {
      watcher.script.pointee.parts.insert(.objects)
      return
    }
    if request.hasEdits {
      watcher.script.pointee.parts.insert(.edits)
      return try engine.members.addEdits(to: watcher)
    }
    if request.hasDriver {
      try state.pushField("driver", at: 2, of: L)
      watcher.script.pointee.parts.insert(.driver)
      try observed.keep(ScriptWatcher.key(watcher, .driver), of: root, L)
    }
    let (function, argument) = (request.function, request.arguments.paths)
    if L.isString(at: 2) {
      let path = try arguments.path(at: 2, of: L, function, argument: argument)
      return try host.receiver.add(path, to: watcher, L)
    }
    let name = watcher.identity
    try arguments.forEachPath(at: 2, of: L, function, argument: argument) { path in
      guard engine.watchers[name] != nil else { return }
      try host.receiver.add(path, to: watcher, L)
    }
  }

  /// The traits of a watcher of a Swift object, which checks before each call whether the userdata
  /// that owns the callbacks exists.
  private func traits(_ options: ObserveOptions, _ root: NodeRef) -> WatcherRecord.Traits {
    observed.isTable(root) ? options.traits : options.traits.union(.observing)
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
      case .equals: watcher.script.pointee.parts.insert(.equals)
      case .end:
        watcher.script.pointee.parts.insert(.end)
        try observed.noticeEnding(of: root, L)
      default: watcher.script.pointee.parts.insert(.name)
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
        use the observer that the callback receives instead\n
        """)
    }
    L.pushCopy(at: -1)
    try host.paths.keepObserver(watcher.pointee.index, L)
    host.objects.share(L)
    L.pop()
  }
}
