internal import CLua
internal import CSandbox
internal import CTables
internal import Lua
internal import Observables

/// The module `obs` of a host: slices in Swift and a prelude in Lua, made when a script asks for
/// it.
///
/// It has a field for each slice that other code calls.
final class ObsModule {
  private let reference: Unmanaged<LuaHost>
  private let state: LuaState
  private let calls: ScriptCalls

  let reports: ErrorReports
  let debugging: DebuggingFunctions
  let inspection: InspectionFunctions
  let observing: ObservingFunctions
  let watchers: WatcherFunctions
  let timers: TimerFunctions
  let descriptors: DescriptorFunctions
  let luv: LuvFunctions
  let tasks: PendingResults
  let taskCalls: TaskCalls
  let liveTasks: LiveTasks
  let scopes: ScopeFunctions
  let exitHooks: ExitHooks
  let objects: ObjectFunctions
  let limits: LimitFunctions
  let transactions: TransactionFunctions
  let native: NativeModules
  let printing: PrintingFunctions
  let inspectors: InspectorFunctions
  let mirrors: MirrorFunctions
  let reloading: ReloadFunctions
  private let slices: [ModuleSlice]

  /// Finds the modules of scripts.
  let loader: ModuleLoader
  /// Whether libraries and module are read-only because several sandboxes share them.
  private(set) var isShared = false
  /// Whether the library `package` searches the host program's modules.
  private var hasSearcher = false
  /// Called when a script first requires the module.
  var didLoad: (() -> Void)?
  /// The table that `require` returns; nil until the module is loaded.
  private var table: LuaTable?
  /// The functions that related modules are built from; nil until the module is loaded.
  private(set) var core: LuaTable?
  /// Registry reference of the table of the prelude's global variables; 0 if it uses the scripts'
  /// globals.
  private var preludeGlobals: CInt = 0

  init(_ host: LuaHost) {
    reference = .passUnretained(host)
    (state, calls) = (host.state, host.calls)
    reports = ErrorReports(host)
    debugging = DebuggingFunctions(host)
    inspection = InspectionFunctions(host)
    observing = ObservingFunctions(host)
    watchers = WatcherFunctions(host)
    timers = TimerFunctions(host)
    descriptors = DescriptorFunctions(host)
    luv = LuvFunctions(host)
    tasks = PendingResults(host)
    taskCalls = TaskCalls(host)
    liveTasks = LiveTasks(host)
    scopes = ScopeFunctions(host)
    exitHooks = ExitHooks(host)
    objects = ObjectFunctions(host)
    limits = LimitFunctions(host)
    transactions = TransactionFunctions(host)
    native = NativeModules(host)
    printing = PrintingFunctions(host)
    inspectors = InspectorFunctions(host)
    mirrors = MirrorFunctions(host)
    reloading = ReloadFunctions(host)
    loader = ModuleLoader(host)
    slices = [
      timers, descriptors, luv, tasks, taskCalls, liveTasks, debugging, inspection, observing,
      watchers, scopes, exitHooks, reports, objects,
      RegisteringFunctions(host), OperatorFunctions(host), CollectionFunctions(host),
      LazyFunctions(host), ModelFunctions(host), GraphFunctions(host),
      ChangeFunctions(host), OriginFunctions(host), transactions, limits, native, printing,
      RecordingFunctions(host), inspectors, mirrors, reloading, WatchFunctions(host),
    ]
  }

  private var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }

  /// Ends the slices when the host closes.
  func end() {
    for slice in slices { slice.end() }
    loader.find = nil
    (table, core) = (nil, nil)
  }

  /// Ends what belongs to a sandbox that closes.
  func end(of sandbox: UInt32) {
    for slice in slices { slice.end(of: sandbox) }
  }

  /// Removes these libraries from scripts; the prelude keeps them.
  func withdraw(_ libraries: LuaLibraries, _ L: LuaStack) throws(LuaError) {
    try state.check(clua_try_withdrawlibs(L.pointer, libraries.rawValue, &preludeGlobals), L)
  }

  /// Offers the module: the first `require "obs"` runs the prelude.
  func install(_ L: LuaStack) throws(LuaError) {
    try calls.push(load, to: L)
    let height = L.height
    defer { L.height = height - 1 }
    guard L.pushGlobals() == .table else { return }
    try state.pushField("package", of: L)
    guard L.isTable(at: -1) else {
      L.pop()
      try calls.push(require, to: L)
      return try state.setField("require", of: L)
    }
    try host.sandboxes.modules.install(state, L)
    try state.pushField("preload", of: L)
    guard L.isTable(at: -1) else { return }
    L.pushCopy(at: height)
    try state.setField("obs", of: L)
    try calls.push(loadIO, to: L)
    try state.setField("obs.io", of: L)
  }

  /// Lets the library `package`, if it is open, find the host program's modules, after preloaded
  /// ones and before files.
  func joinSearchers() throws(LuaError) {
    if hasSearcher { return }
    try state.withStack { L throws(LuaError) in
      L.pushGlobals()
      try state.pushField("package", of: L)
      guard L.isTable(at: -1) else { return }
      try state.pushField("searchers", of: L)
      guard L.isTable(at: -1) else { return }
      let list = L.height
      for index in stride(from: L.rawLength(at: list), to: 1, by: -1) {
        L.push(index + 1)
        L.rawGet(index: index, at: list)
        try state.rawSet(at: list, of: L)
      }
      L.push(2)
      try calls.push(search, to: L)
      try state.rawSet(at: list, of: L)
      hasSearcher = true
    }
  }

  /// Implements an entry of `package.searchers`: returns a function that loads the module.
  private func search(_ L: LuaStack) throws -> CInt {
    guard L.isString(at: 1), let find = loader.find else { return 0 }
    let name = state.text(at: 1, of: L)
    guard let found = try find(name) else {
      try state.push(text: "the host program offers no module '\(name)'", to: L)
      return 1
    }
    try calls.push(
      { [unowned self] L in
        try state.push(loader.load(found, name, host.sandboxes.main), to: L)
        return 1
      }, to: L)
    L.pushCopy(at: 1)
    return 2
  }

  /// Loads the module before any script runs, and makes it and the libraries read-only.
  func share(_ L: LuaStack) throws(LuaError) {
    // A stand-alone program counts the module as used only when a script asks for it.
    let notify = didLoad
    didLoad = nil
    try loadLate(nil, L)
    didLoad = notify
    try limits.hide()
    _ = try load(L)
    try state.check(clua_try_share(L.pointer, L.height, &preludeGlobals), L)
    L.pop()
    isShared = true
  }

  /// Pushes the function `require` of a sandbox. [-0, +1, -]
  func pushRequire(for sandbox: LuaSandbox, to L: LuaStack) throws(LuaError) {
    let number = sandbox.number
    try calls.push(
      { [unowned self] L in
        // Scripts that have got the function from a closed sandbox must not get the host's modules.
        guard host.sandboxes.isOpen(number) else { throw LuaError.closed }
        return try require(L, in: host.sandboxes[number])
      }, to: L)
  }

  /// Implements `require` without the library `package`: finds the module, and the open libraries.
  private func require(_ L: LuaStack) throws -> CInt { try require(L, in: host.sandboxes.main) }

  private func require(_ L: LuaStack, in sandbox: LuaSandbox) throws -> CInt {
    guard L.isString(at: 1) else {
      throw badArgument(1, of: "require", "string expected, got \(state.typeName(at: 1, of: L))")
    }
    let name = state.text(at: 1, of: L)
    if name == "obs" {
      didLoad?()
      didLoad = nil
      return try load(L)
    }
    try state.pushField("_LOADED", at: CLUA_REGISTRYINDEX, of: L)
    L.pushCopy(at: 1)
    if !isShared, L.isTable(at: -2), L.getOwn(at: -2) != .nil { return 1 }
    if let module = try loader.module(name, for: sandbox) {
      try state.push(module, to: L)
      return 1
    }
    let reason =
      isShared
      ? "the host program offers no module of that name"
      : "this host has no library 'package', only 'obs'"
    throw LuaError("module '\(name)' not found: \(reason)")
  }

  /// Pushes the module, which the first call makes. [-0, +1, -]
  func load(_ L: LuaStack) throws(LuaError) -> CInt {
    if let table {
      try state.push(table.pin, to: L)
      return 1
    }
    if let refusal = host.loop.refusal { throw LuaError("\(refusal)") }
    // Otherwise a script's finalizer could require the module now.
    let held = clua_holdcollector(L.pointer)
    defer { clua_releasecollector(L.pointer, held) }
    try pushCore(to: L)
    let core = L.height
    // The slice of luv may load the rest of luv at once.
    self.core = LuaTable(pin: try state.pin(at: core, of: L))
    defer { if table == nil { self.core = nil } }
    L.pushNil()
    // Each part gets the module as the previous part left it.
    for part in ["obs", "late", "luv", "finish"] {
      try run(part, core, core + 1, L)
      L.copy(from: -1, to: core + 1)
      L.pop()
    }
    for slice in slices { try slice.preludeDidRun(core, L) }
    table = LuaTable(pin: try state.pin(at: core + 1, of: L))
    didLoad?()
    return 1
  }

  // run_late(group, functions, globals): runs the prelude parts of a group of `late.lua`. `globals`
  // is their environment; they add their functions to `functions`.
  private func runLate(_ L: LuaStack) throws -> CInt {
    guard let core else { throw LuaError.closed }
    try state.push(core.pin, to: L)
    // Otherwise a script's finalizer could ask for the same group now.
    let held = clua_holdcollector(L.pointer)
    defer { clua_releasecollector(L.pointer, held) }
    for part in Self.parts(of: state.text(at: 1, of: L)) {
      try run(part, 4, 2, globals: 3, L)
      L.pop()
    }
    return 0
  }

  /// The files of a group, in the order in which they need each other.
  private static func parts(of group: String) -> [String] {
    switch group {
    case "luv": ["luvloop"]
    case "trees":
      [
        "trees", "diff", "writing", "apply", "invert", "merge", "changes", "others", "origins",
        "history", "transactions",
      ]
    default: [group]
    }
  }

  /// Loads the module with a group of `late.lua`, or with all groups.
  func loadLate(_ group: String?, _ L: LuaStack) throws(LuaError) {
    _ = try load(L)
    L.pop()
    guard let core else { throw .closed }
    try state.push(core.pin, to: L)
    try state.pushField("load", of: L)
    if let group { try state.push(group, to: L) } else { L.pushNil() }
    try state.tracedCall(arguments: 1, results: 0, L)
    L.pop()
  }

  // Runs a part of the prelude with the tables `core` and `module` at these indices, and pushes its
  // result. `globals`: the index of its global variables, if they are not the prelude's. [-0, +1,
  // -]
  private func run(
    _ part: String, _ core: CInt, _ module: CInt, globals: CInt? = nil, _ L: LuaStack
  ) throws(LuaError) {
    try state.pushProgramFile(part, to: L)
    if let globals {
      L.pushCopy(at: globals)
      lua_setupvalue(L.pointer, -2, 1)
    } else {
      setGlobals(ofFunctionAt: -1, L)
    }
    L.pushCopy(at: core)
    L.pushCopy(at: module)
    try state.tracedCall(arguments: 2, results: 1, L)
  }

  /// Pushes the module `obs.io`. [-0, +1, -]
  private func loadIO(_ L: LuaStack) throws(LuaError) -> CInt {
    _ = try load(L)
    guard let core, let table else { throw .closed }
    let base = L.height
    try state.push(core.pin, to: L)
    try state.push(table.pin, to: L)
    try run("io", base + 1, base + 2, L)
    return 1
  }

  /// The table that `require` returns; nil until the module is loaded.
  var pin: LuaPin? { table?.pin }

  /// Gives a chunk of the prelude at an index its global variables. [-0, +0, -]
  func setGlobals(ofFunctionAt index: CInt, _ L: LuaStack) {
    guard preludeGlobals != 0 else { return }
    let function = L.absolute(index)
    L.pushReference(preludeGlobals)
    lua_setupvalue(L.pointer, function, 1)
  }

  /// Pushes the table of functions that the prelude builds the module from, with a table inside for
  /// each group. [-0, +1, -]
  private func pushCore(to L: LuaStack) throws(LuaError) {
    try state.pushTable(fields: 48, to: L)
    let callers: [(String, lua_CFunction)] = [
      ("call_plainly", clua_callplainly), ("outer", clua_outer), ("redirect", clua_redirect),
      ("same", clua_aresame), ("identical", clua_areidentical), ("next", clua_closednext),
      ("read_contents", clua_readcontents), ("differing_keys", clua_differingkeys),
      ("common_ends", clua_commonends), ("common_values", clua_commonvalues),
      ("extended", clua_extended), ("is_opaque_table", clua_istableopaque),
      ("restore_fields", clua_restorefields), ("are_alike", clua_arealike),
      ("copy_tables", clua_copytables), ("follow_keys", clua_followkeys),
      ("track_contents", clua_trackcontents),
    ]
    for (name, function) in callers {
      lua_pushcclosure(L.pointer, function, 0)
      try state.setField(name, of: L)
    }
    try calls.push(runLate, to: L)
    try state.setField("run_late", of: L)
    let core = L.height
    defer { L.height = core }
    for slice in slices { try slice.complete(L) }
    guard L.hasRoom() else { throw L.noRoom() }
    for group in FunctionGroup.allCases {
      try state.pushTable(fields: 8, to: L)
      L.pushCopy(at: -1)
      try state.setField(group.rawValue, at: core, of: L)
    }
    for slice in slices {
      for function in slice.functions {
        let group = function.group.flatMap { FunctionGroup.allCases.firstIndex(of: $0) }
        try calls.push(Arguments(host).limiting(function), to: L)
        try state.setField(function.name, at: group.map { core + CInt($0) + 1 } ?? core, of: L)
      }
    }
  }
}
