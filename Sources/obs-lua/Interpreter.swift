internal import CCommandLine
internal import CLua
internal import CSandbox
internal import LibC
internal import Lua
internal import LuaObservables

/// Runs a command line in a host.
final class Interpreter {
  /// An error outside of any chunk; its value is on top of the stack.
  struct Raised: Error {}

  private let arguments: Arguments
  private let host: ScriptHost
  private let L: LuaStack
  private var sandboxFiles: SandboxFiles?
  private let replay: Replay?
  /// The name at the beginning of error messages; nil at the prompt.
  private var name: UnsafePointer<CChar>?

  /// Makes the state and its host.
  ///
  /// - Parameters:
  ///   - seed: the seed of a run whose inputs are recorded.
  ///   - replay: the replay that the run belongs to.
  ///   - reloads: loads changed files again while the script runs.
  /// - Throws: `memory` if there is not enough for a state.
  init(
    _ arguments: Arguments, name: UnsafePointer<CChar>, seed: UInt64?, _ replay: Replay?,
    _ reloads: ScriptReloads?
  ) throws(LuaError) {
    self.arguments = arguments
    self.replay = replay
    sandboxFiles = SandboxFiles(arguments)
    host = try ScriptHost(arguments, name: name, seed: seed, replay, reloads)
    L = host.state.stack
    self.name = name
  }

  /// Runs the command line, closes the host, and returns the exit status.
  ///
  /// - Throws: `memory` if there is not enough to start.
  func run() throws(LuaError) -> CInt {
    if arguments.asksForVersion { writeVersion() }
    ccl_beginstate(L.pointer)
    reportIfInexact()
    let isExact = clua_arena_isexact()
    if let replay {
      if let seconds = replay.timeLimit { ccl_limittime(seconds, nil, name) }
    } else if let limit = arguments.options.timeLimit {
      ccl_limittime(limit.seconds, limit.text, name)
    }
    let status = try host.state.withStack { _ in runProtected() }
    if ccl_beginexit() { host.runExitHooks() }
    ccl_forgetstate()
    let succeeded = host.close()
    if isExact { reportIfInexact() }
    let request = ccl_exitrequest()
    if request != 0 { return request }
    return status == 0 && !succeeded ? 1 : status
  }

  /// Writes a warning if this run is to be repeatable, and the system does not allow that.
  private func reportIfInexact() {
    guard ccl_isrepeating(), !clua_arena_isexact() else { return }
    ccl_writeerror(
      name, "warning: this run cannot be repeated exactly: the system or Lua does not allow it")
  }

  private func runProtected() -> CInt {
    // Everything runs in a C function with two arguments, as in `lua`, so tracebacks end with the
    // same line, and the stack overflows at the same depth.
    clua_pushfunction(
      L.pointer,
      { _, context in
        let interpreter = Unmanaged<Interpreter>.fromOpaque(context!).takeUnretainedValue()
        return interpreter.runInside()
      }, Unmanaged.passUnretained(self).toOpaque())
    L.push(arguments.count)
    L.push(arguments.values)
    clua_pcall(L.pointer, 2, 1)
    return CInt(L.integer(at: -1) ?? 0)
  }

  /// Runs the command line and pushes the status. [-0, +1, -]
  private func runInside() -> CInt {
    var status: CInt
    do {
      status = try runCommandLine()
    } catch {
      ccl_writeraised(L.pointer, name)
      status = 1
    }
    L.push(Int(status))
    return 1
  }

  private func runCommandLine() throws(Raised) -> CInt {
    try prepare()
    let isPrompt = arguments.hasPrompt
    if arguments.options.isSandboxed || replay != nil, !lock(forPrompt: isPrompt) { return 1 }
    let succeeded = try runMainTurn(readsInput: arguments.isEmpty && !isPrompt)
    var goesOn = host.endTurn() && !Outside.settles()
    if succeeded, goesOn, isPrompt {
      if !arguments.isInteractive { writeVersion() }
      goesOn = try runPrompt()
    }
    let isStopped = !succeeded && arguments.options.errorAction == .stop || !goesOn
    if !isStopped { host.runLoop(afterPrompt: isPrompt) }
    if let replay, replay.needsPrompt {
      replay.promptWillBegin()
      _ = try runPrompt()
      replay.promptDidEnd()
    }
    // Failures in a turn are known when the host closes.
    return succeeded ? 0 : 1
  }

  private func prepare() throws(Raised) {
    if arguments.ignoresEnvironment { try protect(ccl_ignoreenvironment) }
    if arguments.options.isSandboxed {
      guard clua_try_openlibs(L.pointer, LuaLibraries.safe.rawValue) == LUA_OK,
        clua_try_makesafe(L.pointer) == LUA_OK
      else { throw Raised() }
    } else {
      try protect(ccl_openlibraries)
    }
    try protect(ccl_seedrandom)
    L.push(arguments.values)
    L.push(arguments.count)
    L.push(arguments.script == arguments.count ? 0 : arguments.script)
    try protect(ccl_setarguments, arguments: 3)
    do {
      try host.librariesDidOpen()
    } catch {
      try raise(error)
    }
  }

  // MARK: The lock

  /// Opens everything that a sandbox or a replay needs, and locks the process, which can open
  /// nothing afterwards.
  ///
  /// Returns whether to continue.
  private func lock(forPrompt isPrompt: Bool) -> Bool {
    do {
      try host.readModules()
    } catch {
      ccl_writeerror(name, error.message)
      return false
    }
    host.prepareToWait()
    let hasTerminal = isPrompt || replay?.mayPrompt == true
    if hasTerminal { ccl_prepareeditor() }
    let refusal = ccl_lock(hasTerminal, host.inspectorDescriptor, replay?.makesCopies == true)
    guard refusal != 0 else { return true }
    let needsLock = arguments.options.needsLock
    if !arguments.options.isSandboxed, replay?.isTrusted == true { return true }
    let reason = String(cString: strerror(refusal))
    ccl_writeerror(
      name,
      "\(needsLock ? "--sandbox=strict" : "warning"): the system refuses to lock the process "
        + "(seccomp: \(reason))"
        + (replay == nil ? "" : "; replay only recordings of programs that you trust"))
    return !needsLock
  }

  /// Runs all steps before the prompt and the loop, and returns whether they succeeded.
  private func runMainTurn(readsInput: Bool) throws(Raised) -> Bool {
    guard runEnvironment() else { return false }
    for step in arguments.steps {
      guard try run(step) else { return false }
    }
    if arguments.script < arguments.count { return try runScript() }
    // `lua` ends with status 0 even if this fails.
    if readsInput { _ = runFile(nil) }
    return true
  }

  // MARK: Chunks

  private func runEnvironment() -> Bool {
    guard let (name, text, file) = arguments.environment() else { return true }
    return file.map { runFile($0) } ?? runChunk(text, name: "=" + name)
  }

  private func run(_ step: Arguments.Step) throws(Raised) -> Bool {
    switch step {
    case .chunk(let text):
      return runChunk(text, name: "=(command line)")
    case .library(let global, let module):
      return try runLibrary(module, global: global)
    case .warnings:
      lua_warning(L.pointer, "@on", 0)
      return true
    }
  }

  private func runChunk(_ text: UnsafePointer<CChar>, name: String) -> Bool {
    call(ifLoaded: clua_try_load(L.pointer, text, strlen(text), name, nil))
  }

  private func runFile(_ name: UnsafePointer<CChar>?) -> Bool {
    call(ifLoaded: loadFile(name))
  }

  /// Pushes the chunk of a file or of the standard input, or an error. [-0, +1, -]
  private func loadFile(_ name: UnsafePointer<CChar>?) -> CInt {
    sandboxFiles?.load(name, to: L) ?? ccl_loadfile(L.pointer, name)
  }

  private func call(ifLoaded status: CInt) -> Bool {
    report(status == LUA_OK ? ccl_calltraced(L.pointer, 0, 0) : status)
  }

  private func runLibrary(
    _ module: UnsafePointer<CChar>, global: [CChar]
  ) throws(Raised) -> Bool {
    L.push(UnsafeMutableRawPointer(mutating: module))
    try protect(ccl_requirecall, arguments: 1, results: 2)
    guard report(ccl_calltraced(L.pointer, 1, 1)) else { return false }
    let status = global.withUnsafeBufferPointer { global in
      L.push(UnsafeMutableRawPointer(mutating: global.baseAddress))
      return clua_protect(L.pointer, ccl_setglobal, 2, 0)
    }
    guard status == LUA_OK else { throw Raised() }
    return true
  }

  private func runScript() throws(Raised) -> Bool {
    var status = loadFile(arguments.scriptName)
    if status == LUA_OK {
      let chunk = L.height
      try protect(ccl_scriptarguments, results: CLUA_MULTRET)
      status = host.runMain { ccl_calltraced(L.pointer, L.height - chunk, CLUA_MULTRET) }
    }
    return report(status)
  }

  // MARK: The prompt

  /// Reads and runs lines until the input ends, and returns whether to continue.
  private func runPrompt() throws(Raised) -> Bool {
    let named = name
    // As in `lua`, the message of an error outside of a line has no name either.
    name = nil
    L.height = 0
    host.promptWillBegin()
    let session = try startSession()
    let prompt = Prompt(interpreter: self, L: L, session: session)
    defer { host.promptDidEnd() }
    var goesOn = true
    while goesOn, !ccl_settle(), var status = try prompt.load() {
      let base = L.height - 1
      if status == LUA_OK { status = ccl_calltraced(L.pointer, 0, CLUA_MULTRET) }
      if status == LUA_OK {
        try printResults(above: base, in: session)
      } else {
        _ = report(status)
      }
      L.height = base
      goesOn = host.endTurn()
    }
    ccl_writeoutput("\n")
    name = named
    return goesOn
  }

  /// Starts the prompt's additional features for terminals.
  private func startSession() throws(Raised) -> TerminalSession? {
    guard isatty(STDIN_FILENO) != 0, isatty(STDOUT_FILENO) != 0 else { return nil }
    do {
      return try host.startSession(
        hasScript: replay == nil && arguments.script < arguments.count)
    } catch {
      try raise(error)
      return nil
    }
  }

  private func printResults(above base: CInt, in session: TerminalSession?) throws(Raised) {
    let count = L.height - base
    guard count > 0 else { return }
    if let session, session.show(above: base) { return }
    guard L.hasRoom() else {
      L.height = base
      return try protect(ccl_toomanyresults)
    }
    try protect(ccl_getprint, results: 1)
    L.insert(base + 1)
    guard clua_pcall(L.pointer, count, 0) != LUA_OK else { return }
    try protect(ccl_printfailed, arguments: 1, results: 1)
    ccl_writeraised(L.pointer, name)
  }

  // MARK: The stack

  /// Calls a C function of this target and throws its errors. [-arguments, +results, -]
  func protect(
    _ function: @escaping lua_CFunction, arguments: CInt = 0, results: CInt = 0
  ) throws(Raised) {
    guard clua_protect(L.pointer, function, arguments, results) == LUA_OK else { throw Raised() }
  }

  /// Raises the error of a host that could not start: it was stopped, is out of memory, or the
  /// system refused something. [-0, +1, -]
  private func raise(_ error: LuaError) throws(Raised) {
    if error.isStop { clua_pushstop(L.pointer) } else { host.state.pushError(error, to: L) }
    throw Raised()
  }

  /// Returns whether `status` is success; otherwise writes the error on top of the stack.
  /// [-(0|1), +0, -]
  private func report(_ status: CInt) -> Bool {
    guard status != LUA_OK else { return true }
    // An error value is never nil here: it has become a message.
    if L.isNil(at: -1) {
      L.pop()
    } else {
      Outside.noteInterruption(isStop: clua_isstop(L.pointer, -1))
      host.noteError(L)
      ccl_writeraised(L.pointer, name)
    }
    return false
  }

  private func writeVersion() {
    ccl_writeoutput(String(cString: ccl_copyright()) + "\n")
  }
}
