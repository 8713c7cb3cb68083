internal import CSandbox
public import Lua
internal import Observables

extension LuaHost {
  /// Makes a new sandbox: scripts with separate globals, time and quotas.
  ///
  /// With `limits.memory`, its scripts have a share of the host's memory, which other scripts
  /// cannot use up. Without it, they use the host's memory. Without `limits`, the sandbox gets the
  /// host's limits. Each sandbox can use the libraries, `obs`, and the globals that the host sets.
  ///
  /// - Throws: `LuaError` for a closed state, or no memory.
  /// - Precondition: the host was made with `.safe` libraries.
  public func sandbox(
    named name: String, limits: ScriptLimits? = nil
  ) throws(LuaError) -> LuaSandbox {
    precondition(
      module.isShared, "A host has sandboxes if it was made with the libraries '.safe'")
    guard !isClosed else { throw .closed }
    let sandbox = try sandboxes.add(
      name, limits ?? sandboxes.main.quotas.limits, share: limits?.memory, self)
    chargeLinks(sandbox.quotas.limits)
    do {
      try state.withStack { L throws(LuaError) in
        try module.pushRequire(for: sandbox, to: L)
        try state.check(clua_try_pushenvironment(L.pointer), L)
        sandbox.start(in: LuaTable(pin: try state.pin(at: -1, of: L)))
      }
      if let limits {
        try undoStoppedTurns(on: limits.undoStoppedTurns, of: sandbox)
      } else {
        sandbox.stoppedTurns = sandboxes.main.stoppedTurns
      }
    } catch {
      sandboxes.remove(sandbox)
      throw error
    }
    return sandbox
  }

  /// Sets a function that finds the modules scripts `require`, besides `obs`.
  ///
  /// `find` is called with a module's name, on the host's thread, once per sandbox that asks for
  /// it; it returns nil if the module does not exist. An error from `find` is raised in the script.
  /// A host with the library `package` calls it through an entry in `package.searchers`, after
  /// looking for loaded and preloaded modules, and keeps the modules in `package.loaded`.
  public func modules(_ find: @escaping (String) throws -> ScriptModule?) {
    offer(find)
  }

  /// Lets scripts find modules in a folder: `a.b` is the file `a/b.lua` in it; files outside the
  /// folder are not found.
  public func modules(inFolder folder: String) {
    offer { try ScriptModule.inFolder(folder, named: $0) }
  }

  /// Reads the modules in a folder now, and returns the paths of their files.
  ///
  /// Scripts find them as with ``modules(inFolder:)``, even in a process that can no longer open
  /// files. Files added to the folder later are not found.
  ///
  /// - Throws: `file` for a folder that cannot be opened, or that has more than 10,000 modules or
  ///   64 MB of them.
  /// - Complexity: O(files in the folder and its subfolders).
  @discardableResult
  public func readModules(inFolder folder: String) throws(LuaError) -> [String] {
    let modules = try ModuleFolder(folder).readAll()
    offer { modules[$0] }
    return modules.values.compactMap { module in
      if case .contents(_, let path) = module { path } else { nil }
    }
  }

  private func offer(_ find: @escaping (String) throws -> ScriptModule?) {
    module.loader.find = find
    do { try module.joinSearchers() } catch {
      reports.report(error, .loop, name: "", site: "")
    }
  }

  func run(
    _ text: [UInt8], name: String, in sandbox: LuaSandbox
  ) throws(LuaError) -> [LuaValue] {
    try sandbox.quotas.checkChunk(text.count, name)
    return try run(in: sandbox) { () throws(LuaError) in try state.load(text, name: name) }
  }

  func run(file path: String, in sandbox: LuaSandbox) throws(LuaError) -> [LuaValue] {
    try sandbox.quotas.checkFile(path)
    return try run(in: sandbox) { () throws(LuaError) in try state.loadFile(path) }
  }

  /// Runs a chunk as a turn, in the globals of a sandbox.
  private func run(
    in sandbox: LuaSandbox, _ load: () throws(LuaError) -> LuaFunction
  ) throws(LuaError) -> [LuaValue] {
    try turn { () throws(LuaError) in
      try sandboxes.entered(sandbox.number) { () throws(LuaError) in
        try state.withStack { L throws(LuaError) in state.collectBeforeTurn(L) }
        let chunk = try load()
        try bind(chunk, to: sandbox)
        return try chunk.callPlainly(arguments: [])
      }
    }
  }

  /// Gives a chunk the globals of a sandbox.
  func bind(_ chunk: LuaFunction, to sandbox: LuaSandbox) throws(LuaError) {
    guard let environment = sandbox.environment else { return }
    try state.withStack { L throws(LuaError) in
      try state.push(chunk.pin, to: L)
      try state.push(environment.pin, to: L)
      clua_setenvironment(L.pointer)
    }
  }

  /// Ends the watchers, timers, tasks, log and record of a sandbox.
  func end(_ sandbox: LuaSandbox) {
    module.debugging.dropRecord(of: sandbox.number)
    receiver.hooks.drop(of: sandbox.number)
    receiver.stopWatchers(of: sandbox)
    if !isClosed { engine.hooks.run() }
    module.end(of: sandbox.number)
    sandboxes.remove(sandbox)
  }
}
