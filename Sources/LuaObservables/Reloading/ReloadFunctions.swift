internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Functions for `obs.reload` (H1–H5): they load chunks of modules, and end registrations.
final class ReloadFunctions: ModuleSlice {
  /// The list of lazy properties that a loading has replaced, with their former declarations; nil
  /// while no module is being loaded again.
  private var replaced: LuaTable?
  /// The list of callbacks that this loading has registered.
  private var callbacks: LuaTable?
  /// The number of the sandbox that loads the module again; changes by others are not noted.
  private var reloading: UInt32 = 0
  /// The number of reloads by each sandbox in the turn `turn`.
  private var reloads: (turn: UInt64, counts: [UInt32: Int]) = (0, [:])
  private static let mostReloads = 100
  /// The most entries of tables that a reload changes in one step if the time is limited.
  private static let mostChanges = 20_000

  private var modules: ScriptModules { host.sandboxes.modules }

  override var functions: [NamedFunction] {
    [
      .init("load_module", loadModule), .init("module_value", moduleValue),
      .init("loaded_modules", loadedModules),
      .init("shared_tables", sharedTables), .init("unload_since", unloadSince),
      .init("is_watched", isWatched),
      .init(
        "is_read_only",
        { L in
          L.push(clua_isreadonly(L.pointer, 1))
          return 1
        }
      ), .init("metatable", pushMetatable),
      .init("set_module", setModule), .init("next_module", nextModule),
      .init("stop_module", stopModule), .init("lazies_of", pushLazies),
      .init("note_replaced", noteReplaced),
      .init(
        "note_callback",
        { [self] L in
          try noteCallback(at: 1, L)
          return 0
        }
      ), .init("hooks", hooks),
      .init("sandbox_data", pushData), .init("call_limited", callLimited),
      .init("run_limited", runLimited),
      .init(
        "most_changes",
        { [self] L in
          let isLimited = host.sandboxes.current.account.pointee.limit > 0
          L.push(isLimited ? Self.mostChanges : Int.max)
          return 1
        }
      ),
      .init("upvalue", upvalue), .init("set_upvalue", setUpvalue),
    ]
  }

  override func end() { (replaced, callbacks) = (nil, nil) }

  /// Loads a module again.
  ///
  /// - Returns: the functions of other modules that hold former functions of this one.
  /// - Throws: why it cannot be loaded, after which nothing has changed.
  func reload(_ name: String) throws(LuaError) -> [String] {
    try state.withStack { L throws(LuaError) in try host.module.loadLate("reload", L) }
    guard let core = host.module.core else { throw .closed }
    let reload = try core.get("reload", as: LuaFunction.self)
    let results = try reload.callPlainly(arguments: [.string(LuaString(name))])
    guard case .table(let copies)? = results.first else {
      throw LuaError(results.dropFirst().first?.shown ?? "")
    }
    var texts: [String] = []
    try copies.forEach { _, text throws(LuaError) in texts.append(text.shown) }
    return texts.sorted()
  }

  // MARK: Modules

  /// load_module(name) → the chunk, which has not run, the number of the last loading, the chunk's
  /// arguments; or nil and a message.
  private func loadModule(_ L: LuaStack) throws -> CInt {
    let name = state.text(at: 1, of: L)
    try countReload()
    do {
      let (chunk, number, arguments) = try chunk(of: name)
      L.height = 0
      try state.push(chunk.pin, to: L)
      if lua_iscfunction(L.pointer, 1) != 0 {
        throw LuaError("the module '\(name)' is not Lua code, so it cannot be loaded again")
      }
      L.push(Int(number))
      for argument in arguments { try state.pushNext(argument, to: L) }
      return CInt(L.height)
    } catch let error as LuaError {
      if error.isStop { throw error }
      L.pushNil()
      try state.push(text: error.message, to: L)
      return 2
    }
  }

  /// - Throws: `quota` if a sandbox loads too many modules again in a turn. Its time limit does not
  ///   include the search for the modules' registrations.
  private func countReload() throws(LuaError) {
    let sandbox = host.sandboxes.current.number
    guard sandbox != 0 else { return }
    if reloads.turn != host.sandboxes.turnNumber { reloads = (host.sandboxes.turnNumber, [:]) }
    reloads.counts[sandbox, default: 0] += 1
    if reloads.counts[sandbox, default: 0] > Self.mostReloads {
      throw LuaError(
        .quota,
        "too many modules were loaded again in a turn: a script may load \(Self.mostReloads)")
    }
  }

  /// The chunk of a module, the number of the last loading, and the chunk's arguments.
  private func chunk(of name: String) throws -> (LuaFunction, UInt32, [LuaValue]) {
    let sandbox = host.sandboxes.current
    guard let load = modules.load(of: name, in: sandbox.number) else {
      throw LuaError(
        "the module '\(name)' was not required as Lua code"
          + didYouMean(name, among: modules.names(in: sandbox.number)))
    }
    if load.isUnderWay || sandbox.modules[name] == .boolean(false) {
      throw LuaError("the module '\(name)' is being loaded")
    }
    if let file = load.file, let arguments = load.arguments {
      return (try state.loadFile(file), load.number, arguments.map { .string(LuaString($0)) })
    }
    let text = LuaValue.string(LuaString(name))
    if let found = try host.module.loader.find?(name) {
      return (try host.module.loader.chunk(of: found, name, sandbox), load.number, [text])
    }
    if let file = load.file { try sandbox.quotas.checkFile(file) }
    let found = sandbox.number == 0 ? try modules.loader(of: name) : []
    guard case .function(let loader)? = found.first else {
      throw LuaError("the host program no longer offers the module '\(name)'")
    }
    return (loader, load.number, [text] + found.dropFirst())
  }

  /// Pushes `package.loaded` of the library. [-0, +1, -]
  private func pushLoaded(to L: LuaStack) throws(LuaError) {
    try state.pushField("_LOADED", at: CLUA_REGISTRYINDEX, of: L)
  }

  /// module_value(name) → what `require` returns; nil while the module is being loaded.
  private func moduleValue(_ L: LuaStack) throws -> CInt {
    let (name, sandbox) = (state.text(at: 1, of: L), host.sandboxes.current)
    if modules.isMain(name) {
      L.push(true)
    } else if sandbox.modules[name] == .boolean(false) {
      L.pushNil()
    } else {
      try push(name, of: sandbox, to: L)
    }
    return 1
  }

  /// Pushes the value that `require` returns. [-0, +1, -]
  private func push(_ name: String, of sandbox: LuaSandbox, to L: LuaStack) throws(LuaError) {
    if let value = sandbox.modules[name] { return try state.push(value, to: L) }
    try pushLoaded(to: L)
    try state.pushField(name, of: L)
    L.remove(L.height - 1)
  }

  /// loaded_modules() → a table of the modules that were loaded as Lua code, by name.
  private func loadedModules(_ L: LuaStack) throws -> CInt {
    let sandbox = host.sandboxes.current
    try state.pushTable(fields: 8, to: L)
    let table = L.height
    for name in modules.names(in: sandbox.number) where !modules.isMain(name) {
      try push(name, of: sandbox, to: L)
      try state.setField(name, at: table, of: L)
    }
    return 1
  }

  /// shared_tables() → a list of the tables of modules and libraries, and of the tables of globals.
  private func sharedTables(_ L: LuaStack) throws -> CInt {
    L.height = 0
    try state.pushTable(elements: 16, to: L)
    var count = 0
    func add() {
      guard L.isTable(at: -1) else { return L.pop() }
      count += 1
      L.rawSet(index: count, at: 1)
    }
    for value in host.sandboxes.current.modules.values {
      try state.push(value, to: L)
      add()
    }
    L.pushGlobals()
    add()
    if let environment = host.sandboxes.current.environment {
      try state.push(environment.pin, to: L)
      add()
    }
    try pushLoaded(to: L)
    guard L.isTable(at: -1) else { return 0 }
    try state.forEachEntry(at: 2, of: L) {
      L.pushCopy(at: -1)
      add()
    }
    L.height = 1
    return 1
  }

  /// unload_since(module) → the unloaded modules: name to number.
  ///
  /// It unloads the modules that were loaded after this loading began: `require` loads them again.
  private func unloadSince(_ L: LuaStack) throws -> CInt {
    let module = UInt32(truncatingIfNeeded: L.integer(at: 1) ?? 0)
    let sandbox = host.sandboxes.current
    L.height = 0
    try state.pushTable(fields: 2, to: L)
    for name in modules.names(in: sandbox.number) {
      guard let load = modules.load(of: name, in: sandbox.number), load.number > module else {
        continue
      }
      L.push(Int(load.number))
      try state.setField(name, at: 1, of: L)
      if sandbox.modules[name] != nil {
        sandbox.modules[name] = nil
      } else {
        try pushLoaded(to: L)
        L.pushNil()
        try state.setField(name, at: 2, of: L)
        L.pop()
      }
      modules.forget(name, of: sandbox.number)
    }
    return 1
  }

  /// is_watched(table) → whether the table is the root of a watcher, or has a hook of
  /// `on_observed`.
  private func isWatched(_ L: LuaStack) throws -> CInt {
    var isWatched = false
    if let root = try arguments.existingNode(at: 1, of: L, "reload") {
      engine.watchers.forEach(of: root) { _ in isWatched = true }
      isWatched = isWatched || host.receiver.hooks.exist(for: root)
    }
    L.push(isWatched)
    return 1
  }

  /// metatable(table) → the metatable that the script has set, even if it is protected.
  private func pushMetatable(_ L: LuaStack) -> CInt {
    if !clua_getmetatable(L.pointer, 1) { L.pushNil() }
    return 1
  }

  /// set_module(name, number, value): sets a module's number, and the value that `require` returns.
  private func setModule(_ L: LuaStack) throws -> CInt {
    L.height = 3
    let (name, sandbox) = (state.text(at: 1, of: L), host.sandboxes.current)
    modules.note(
      name, of: sandbox.number, as: UInt32(truncatingIfNeeded: L.integer(at: 2) ?? 0))
    if modules.isMain(name) { return 0 }
    if sandbox.modules[name] != nil {
      sandbox.modules[name] = try state.value(at: 3, of: L)
    } else {
      try pushLoaded(to: L)
      L.pushCopy(at: 3)
      try state.setField(name, at: 4, of: L)
    }
    return 0
  }

  /// next_module() → a number for a loading.
  private func nextModule(_ L: LuaStack) -> CInt {
    L.push(Int(modules.next()))
    return 1
  }

  // MARK: Ending

  /// stop_module(module, successor, name): ends watchers, timers, handlers, functions for the end
  /// of the program, and hooks for errors and events.
  ///
  /// A pending call goes to the successor's watcher of the same name and object.
  private func stopModule(_ L: LuaStack) throws -> CInt {
    let sandbox = host.sandboxes.current
    func owner(_ index: CInt) -> ScriptOwner {
      ScriptOwner(
        sandbox: sandbox.number, module: UInt32(truncatingIfNeeded: L.integer(at: index) ?? 0))
    }
    let (module, successor) = (owner(1), owner(2))
    /// Whether a call of the watcher has only its object as an argument, so that another watcher
    /// can make the call.
    func isPlain(_ watcher: WatcherRef) -> Bool {
      watcher.script.pointee.isPlain && !watcher.script.pointee.isInternal
    }
    var named: [String: [WatcherID]] = [:]
    if successor.module != 0 {
      engine.watchers.forEach { watcher in
        guard host.receiver.isScript(watcher), watcher.script.pointee.owner == successor,
          isPlain(watcher), watcher.script.pointee.parts.contains(.name)
        else { return }
        named[host.receiver.title(of: watcher).name, default: []].append(watcher.identity)
      }
    }
    let reload = "the reload of '\(state.text(at: 3, of: L))'"
    engine.watchers.forEach { watcher in
      guard host.receiver.isScript(watcher), watcher.script.pointee.owner == module else { return }
      var place = reload
      if watcher.pointee.isPending, isPlain(watcher) {
        let name = host.receiver.title(of: watcher).name
        let heir = named[name]?.lazy.compactMap { self.engine.watchers[$0] }
          .first { $0.pointee.root == watcher.pointee.root }
        if let heir { engine.delivery.schedule(heir) } else { place += ", with a pending call" }
      }
      host.recorder?.noteStop(of: watcher, at: place)
      engine.watchers.stop(watcher)
    }
    engine.hooks.run()
    host.module.timers.stopAll { $0 == module }
    host.module.descriptors.stopAll { $0 == module }
    host.module.exitHooks.dropAll { $0 == module }
    if sandbox.errorHookModule == module.module { sandbox.errorHook = nil }
    host.module.debugging.dropSink(of: module)
    host.recorder?.drain()
    retire(module.module)
    return 0
  }

  /// Lets old code that is still running register nothing more.
  private func retire(_ module: UInt32) {
    modules.retired.insert(module)
    host.loop.deferToNextTurn { [reference = host.reference] in
      reference.use { $0.sandboxes.modules.retired = [] }
    }
  }

  /// call_limited(function, argument, module, name, site): calls a function of a script as a
  /// callback, with the limits of callbacks, and reports its error.
  private func callLimited(_ L: LuaStack) throws -> CInt {
    L.height = 5
    let function = LuaFunction(pin: try state.pin(at: 1, of: L))
    let argument = try state.value(at: 2, of: L)
    let owner = ScriptOwner(
      sandbox: host.sandboxes.current.number,
      module: UInt32(truncatingIfNeeded: L.integer(at: 3) ?? 0))
    host.reports.run(
      function, .handler, name: state.text(at: 4, of: L), site: state.text(at: 5, of: L), in: owner
    ) { [state] L throws(LuaError) in
      try state.push(argument, to: L)
      return 1
    }
    return 0
  }

  /// run_limited(function, module): calls the function as code of a module, with the limits of the
  /// scripts; returns the message of its error, or nil.
  private func runLimited(_ L: LuaStack) throws -> CInt {
    L.height = 2
    let function = LuaFunction(pin: try state.pin(at: 1, of: L))
    let owner = ScriptOwner(
      sandbox: host.sandboxes.current.number,
      module: UInt32(truncatingIfNeeded: L.integer(at: 2) ?? 0))
    var failure: LuaError?
    host.sandboxes.entered(owner) {
      do throws(LuaError) { _ = try function.callPlainly(arguments: []) } catch { failure = error }
    }
    if let failure { try state.push(text: failure.message, to: L) } else { L.pushNil() }
    return 1
  }

  /// sandbox_data() → a table with what the prelude keeps for the running sandbox: its tables of
  /// `obs.state` (`states`), its functions of `obs.on_reload` (`last_words`), and the tables of
  /// `core.sandbox_table`.
  private func pushData(_ L: LuaStack) throws -> CInt {
    let sandbox = host.sandboxes.current
    if let data = sandbox.scriptData {
      try state.push(data.pin, to: L)
      return 1
    }
    try state.pushTable(fields: 2, to: L)
    for name in ["states", "last_words"] {
      try state.pushTable(fields: 0, to: L)
      try state.setField(name, at: -2, of: L)
    }
    sandbox.scriptData = LuaTable(pin: try state.pin(at: -1, of: L))
    return 1
  }

  /// hooks() → a function that restores the present callbacks for errors and events.
  private func hooks(_ L: LuaStack) throws -> CInt {
    let sandbox = host.sandboxes.current
    let (hook, module) = (sandbox.errorHook, sandbox.errorHookModule)
    let restoreSink = host.module.debugging.sinkRestorer(of: sandbox.number)
    try calls.push(
      { _ in
        (sandbox.errorHook, sandbox.errorHookModule) = (hook, module)
        restoreSink()
        return 0
      }, to: L)
    return 1
  }

  // MARK: Lazy properties

  /// note_replaced(list, callbacks): begins to note declarations and callbacks, or ends this
  /// without arguments.
  ///
  /// The list gets {table, key, former declaration, former value} for each lazy property that is
  /// declared again, and {table, key, false, value} for each plain key that becomes a property. The
  /// other list gets the registered functions.
  private func noteReplaced(_ L: LuaStack) throws -> CInt {
    L.height = 2
    let isOn = !L.isNil(at: 1)
    replaced = isOn ? LuaTable(pin: try state.pin(at: 1, of: L)) : nil
    callbacks = isOn ? LuaTable(pin: try state.pin(at: 2, of: L)) : nil
    reloading = host.sandboxes.current.number
    return 0
  }

  /// Whether the running code belongs to the sandbox that loads a module again.
  private var isNoting: Bool { host.sandboxes.current.number == reloading }

  /// Notes a function at an index that the running code registers. [-0, +0, -]
  func noteCallback(at index: CInt, _ L: LuaStack) throws(LuaError) {
    guard let callbacks, isNoting, L.isFunction(at: index) else { return }
    let function = L.absolute(index)
    try state.push(callbacks.pin, to: L)
    L.push(L.rawLength(at: -1) + 1)
    L.pushCopy(at: function)
    try state.rawSet(of: L)
    L.pop()
  }

  /// Called before the property at (table, key), which are at 1 and 2, gets another declaration.
  /// [-0, +0, -]
  func willReplace(_ lazy: WatcherRef, _ L: LuaStack) throws(LuaError) {
    guard let replaced, isNoting else { return }
    try state.push(replaced.pin, to: L)
    try pushLazy(lazy, L) { L in
      L.pushCopy(at: 1)
      L.rawSet(index: 1, at: -2)
      L.pushCopy(at: 2)
      L.rawSet(index: 2, at: -2)
      if !lazy.pointee.isPending {
        clua_lazy_pushvalue(L.pointer, lazy.number, false)
        L.rawSet(index: 4, at: -2)
      }
    }
    L.rawSet(index: L.rawLength(at: -2) + 1, at: -2)
    L.pop()
  }

  /// Called before a plain key of a table, which are at 1 and 2, becomes a property; its value is
  /// on top of the stack. [-0, +0, -]
  func willDeclare(_ L: LuaStack) throws(LuaError) {
    guard let replaced, isNoting, !L.isNil(at: -1) else { return }
    let value = L.height
    try state.push(replaced.pin, to: L)
    try state.pushTable(elements: 4, to: L)
    for (index, place) in [(1, CInt(1)), (2, 2), (4, value)] {
      L.pushCopy(at: place)
      L.rawSet(index: index, at: -2)
    }
    L.push(false)
    L.rawSet(index: 3, at: -2)
    L.rawSet(index: L.rawLength(at: -2) + 1, at: -2)
    L.pop()
  }

  /// Pushes {table, key, declaration}; `fill` sets the table and the key. [-0, +1, -]
  private func pushLazy(
    _ lazy: WatcherRef, _ L: LuaStack, _ fill: (LuaStack) -> Void
  ) throws(LuaError) {
    try state.pushTable(elements: 3, to: L)
    fill(L)
    clua_lazy_pushdeclaration(L.pointer, lazy.number)
    L.rawSet(index: 3, at: -2)
  }

  /// lazies_of(wanted) → lazy properties of tables, as {table, key, declaration}: those that a
  /// module has declared, or whose declarations are keys of a table.
  private func pushLazies(_ L: LuaStack) throws -> CInt {
    L.height = 1
    let module = L.integer(at: 1).map { Int($0) }
    try state.pushTable(elements: 0, to: L)
    var count = 0
    var failure: LuaError?
    engine.watchers.forEach { lazy in
      guard failure == nil, host.lazies.isScript(lazy), let slot = lazy.slot else { return }
      guard isWanted(lazy, module, L) else { return }
      do throws(LuaError) {
        try pushLazy(lazy, L) { L in
          observed.push(slot.pointee.node, to: L)
          L.rawSet(index: 1, at: -2)
          TableKind.pushKey(of: slot, to: L)
          L.rawSet(index: 2, at: -2)
        }
        count += 1
        L.rawSet(index: count, at: 2)
      } catch { failure = error }
    }
    if let failure { throw failure }
    return 1
  }

  /// Whether a module has declared a property, or the table at 1 has its declaration. [-0, +0, -]
  private func isWanted(_ lazy: WatcherRef, _ module: Int?, _ L: LuaStack) -> Bool {
    if let module { return host.lazies.module(of: lazy) == module }
    clua_lazy_pushdeclaration(L.pointer, lazy.number)
    defer { L.pop() }
    return L.getOwn(at: 1) != .nil
  }

  // MARK: Functions

  /// upvalue(function, place) → its name and value; nothing behind the last one, and for functions
  /// that are not Lua code.
  private func upvalue(_ L: LuaStack) throws -> CInt {
    guard lua_iscfunction(L.pointer, 1) == 0, let place = L.integer(at: 2),
      let name = lua_getupvalue(L.pointer, 1, CInt(clamping: place))
    else { return 0 }
    try state.push(text: String(cString: name), to: L)
    L.pushCopy(at: -2)
    return 2
  }

  /// set_upvalue(function, place, value).
  private func setUpvalue(_ L: LuaStack) -> CInt {
    L.height = 3
    if let place = L.integer(at: 2) { lua_setupvalue(L.pointer, 1, CInt(clamping: place)) }
    return 0
  }
}
