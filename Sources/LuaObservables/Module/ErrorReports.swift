internal import CLua
import LibC
internal import Lua
internal import Observables

/// Reports of errors that have no caller (T10), and the functions of `obs` for them.
final class ErrorReports: ModuleSlice {
  /// The host program's callback.
  var onError: ((LuaReport) -> Void)?
  /// The beginning of reports on the standard error stream.
  var programName = "obs-lua"
  private(set) var count = 0
  private var isInHook = false

  private var sandbox: LuaSandbox { host.sandboxes.current }
  var hasHook: Bool { sandbox.errorHook != nil }

  override var functions: [NamedFunction] {
    [
      .init(.module, "on_error", most: 1, setHook), .init("report", reportFromScript),
      .init("traceback", traceback),
      .init("site", pushSite),
    ]
  }

  /// Takes the error value on top of the stack and reports it. [-1, +0, -]
  func reportError(
    _ status: CInt, _ L: LuaStack, _ kind: LuaReport.Kind, name: String, site: String,
    cause: String? = nil
  ) {
    report(state.takeError(status, L), kind, name: name, site: site, cause: cause)
  }

  /// Reports an error; `isRecorded`: a recording of the run has it already.
  func report(
    _ error: LuaError, _ kind: LuaReport.Kind, name: String, site: String, cause: String? = nil,
    isRecorded: Bool = false
  ) {
    // The program has closed the script, so it does not expect reports of its errors. A failed
    // assignment of the program itself is reported.
    if error.code == .closed, kind != .loop, host.isClosed || sandbox.isClosed { return }
    let interruption = clua_uncaught(error.message)
    // After an interruption each callback ends with it; it was reported for the first one.
    if interruption == CLUA_INTERRUPTED_AGAIN { return }
    if error.isStop, !state.takeStopReport() { return }
    count += 1
    if !isRecorded { engine.recording.run?.noteError(error.message, site) }
    let report = LuaReport(
      error: error, kind: kind, name: name, site: site, cause: cause,
      turn: engine.reports.currentTurn)
    // A script's error handler must not keep a program alive that was asked to end. Stopped scripts
    // cannot handle errors, either.
    let isForHost = interruption == CLUA_INTERRUPTED || error.isStop
    if isForHost { deliverToHost(report) } else { deliver(report) }
  }

  private func deliver(_ report: LuaReport) {
    // An error in the script's error callback goes to the host: it must not call the callback
    // again.
    if let hook = sandbox.errorHook, !isInHook {
      isInHook = true
      defer { isInHook = false }
      if call(hook, report) {
        guard host.module.isShared else { return }
        var handled = report
        handled.isHandled = true
        notify(handled)
        return
      }
    }
    deliverToHost(report)
  }

  private func deliverToHost(_ report: LuaReport) {
    if !notify(report) {
      writeError("\(programName): \(report.description)\n")
    }
  }

  /// Calls the program's callback; returns false if the program has none.
  @discardableResult
  private func notify(_ report: LuaReport) -> Bool {
    guard let onError = sandbox.onError ?? onError else { return false }
    onError(report)
    return true
  }

  private func isOverflow(_ error: LuaError) -> Bool {
    [.handler, .memory].contains(error.code) || error.message.contains("stack overflow")
  }

  /// Calls the script's callback; if the callback fails, returns false and reports its error, too.
  private func call(_ hook: LuaFunction, _ report: LuaReport) -> Bool {
    do {
      try state.withStack { L throws(LuaError) in
        try state.push(hook.pin, to: L)
        if report.error.value == .nil {
          try state.push(text: report.error.message, to: L)
        } else {
          try state.push(report.error.value, to: L)
        }
        try state.pushTable(fields: 6, to: L)
        let fields: [(String, String?)] = [
          ("kind", report.kind.rawValue), ("name", report.name), ("site", report.site),
          ("cause", report.cause), ("traceback", report.error.traceback),
        ]
        for (key, value) in fields {
          guard let value else { continue }
          try state.push(text: value, to: L)
          try state.setField(key, of: L)
        }
        L.push(report.turn)
        try state.setField("turn", of: L)
        try state.tracedCall(arguments: 2, L)
      }
      return true
    } catch {
      if error.code == .closed { return true }
      if isOverflow(error), isOverflow(report.error) {
        // The stack has no room for the hook either, so call it in the next turn, with an empty
        // stack.
        host.loop.nextTurn { [reference = host.reference] in
          reference.use { $0.module.reports.deliver(report) }
        }
        return true
      }
      self.report(error, .hook, name: "on_error", site: "")
      return false
    }
  }

  /// Calls a callback and reports its errors, which have no caller.
  ///
  /// `pushArguments` returns the number of arguments it pushed.
  func run(
    _ callback: LuaFunction, _ kind: LuaReport.Kind, name: String, site: String,
    in owner: ScriptOwner, _ payment: Sandboxes.Payment = .own,
    pushArguments: (LuaStack) throws(LuaError) -> CInt = { _ throws(LuaError) in 0 }
  ) {
    guard !host.isClosed, host.sandboxes.isOpen(owner.sandbox) else { return }
    engine.recording.run?.entered(site, isExit: kind == .exit)
    host.sandboxes.entered(owner, payment) {
      if state.interrupter.isStopping { return }
      do throws(LuaError) {
        try state.withStack { L throws(LuaError) in
          state.collectBeforeTurn(L)
          try state.push(callback.pin, to: L)
          let count = try pushArguments(L)
          try state.tracedCall(arguments: count, L)
        }
      } catch {
        report(error, kind, name: name, site: site)
      }
    }
    host.recorder?.drain()
  }

  // MARK: Functions for scripts

  private func setHook(_ L: LuaStack) throws -> CInt {
    L.height = 1
    if L.isNil(at: 1) {
      sandbox.errorHook = nil
    } else {
      try arguments.checkFunction(at: 1, of: L, "on_error")
      _ = try host.sandboxes.registering()
      try host.module.reloading.noteCallback(at: 1, L)
      sandbox.errorHook = LuaFunction(pin: try state.pin(at: 1, of: L))
    }
    sandbox.errorHookModule = host.sandboxes.modules.running
    return 0
  }

  /// traceback(thread, error) → the traceback of a coroutine that ended with the error.
  private func traceback(_ L: LuaStack) -> CInt {
    L.height = 2
    guard let thread = lua_tothread(L.pointer, 1) else { return 0 }
    clua_tracethread(L.pointer, thread)
    var isSwift = false
    clua_pushtraceback(L.pointer, &isSwift)
    return 1
  }

  /// report(error, traceback, kind, name, site): reports an error in a callback that Lua called.
  private func reportFromScript(_ L: LuaStack) throws -> CInt {
    L.height = 5
    func text(_ index: CInt) -> String {
      L.isString(at: index) ? state.text(at: index, of: L) : ""
    }
    let traceback = text(2).isEmpty ? nil : text(2)
    let error =
      try state.stopError(at: 1, of: L, traceback: traceback)
      ?? LuaError(
        .runtime, state.describe(at: 1, of: L), traceback: traceback,
        value: state.value(at: 1, of: L), underlying: state.underlyingError(at: 1, of: L))
    report(
      error, LuaReport.Kind(rawValue: text(3)) ?? .task, name: text(4), site: text(5))
    return 0
  }

  /// site(body) → "file:line" of the running script.
  ///
  /// If the caller is unknown, as after a tail call, this is the beginning of the function `body`,
  /// if given.
  private func pushSite(_ L: LuaStack) throws -> CInt {
    var site = host.sources.current(L)
    if site.line == 0, L.type(at: 1) == .function { site = host.sources.beginning(1, L) }
    try state.push(text: host.sources.text(site), to: L)
    return 1
  }
}

/// Writes to the standard error stream, after flushing buffered standard output.
func writeError(_ text: String) {
  fflush(nil)
  var text = text
  _ = text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
}
