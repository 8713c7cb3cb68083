internal import CLua
import Glibc
internal import Lua
internal import Observables

/// Errors that have no caller (T10).
extension LuaHost {
  /// Takes the error value on top of the stack and reports it. [-1, +0, -]
  func reportError(
    _ status: CInt, _ L: OpaquePointer, _ kind: LuaReport.Kind, name: String, site: String,
    cause: String? = nil
  ) {
    report(state.takeError(status, L), kind, name: name, site: site, cause: cause)
  }

  func report(
    _ error: LuaError, _ kind: LuaReport.Kind, name: String, site: String, cause: String? = nil
  ) {
    let interruption = clua_uncaught(error.message)
    // What ends each callback from now on was told of one.
    if interruption == CLUA_INTERRUPTED_AGAIN { return }
    reportCount += 1
    let report = LuaReport(
      error: error, kind: kind, name: name, site: site, cause: cause,
      turn: engine.statistics.turns + 1)
    // Who handles errors of scripts must not keep a program that was asked to end.
    if interruption == CLUA_INTERRUPTED { deliverToHost(report) } else { deliver(report) }
  }

  private func deliver(_ report: LuaReport) {
    // An error in the script's own error callback goes to the host: it must not come back here.
    if let errorHook, !isReporting {
      isReporting = true
      defer { isReporting = false }
      if callErrorHook(errorHook, report) { return }
    }
    deliverToHost(report)
  }

  private func deliverToHost(_ report: LuaReport) {
    if let onError {
      onError(report)
    } else {
      writeError("\(programName): \(report.description)\n")
    }
  }

  private func isOverflow(_ error: LuaError) -> Bool {
    [.handler, .memory].contains(error.code) || error.message.contains("stack overflow")
  }

  /// False where the callback failed itself; its own error is reported then, too.
  private func callErrorHook(_ hook: LuaFunction, _ report: LuaReport) -> Bool {
    do {
      try state.withStack { L throws(LuaError) in
        try state.push(hook.pin, to: L)
        if report.error.value == .nil {
          try state.push(text: report.error.message, to: L)
        } else {
          try state.push(report.error.value, to: L)
        }
        try state.check(clua_try_createtable(L, 0, 6), L)
        let fields: [(String, String?)] = [
          ("kind", report.kind.rawValue), ("name", report.name), ("site", report.site),
          ("cause", report.cause), ("traceback", report.error.traceback),
        ]
        for (key, value) in fields {
          guard let value else { continue }
          try state.push(text: value, to: L)
          try state.check(clua_try_setfield(L, -2, key, key.utf8.count), L)
        }
        lua_pushinteger(L, lua_Integer(report.turn))
        try state.check(clua_try_setfield(L, -2, "turn", 4), L)
        try state.check(clua_tracedcall(L, 2, 0), L)
      }
      return true
    } catch {
      if error.code == .closed { return true }
      if isOverflow(error), isOverflow(report.error) {
        // No room for the hook either: the next turn begins with an empty stack.
        loop.nextTurn { [reference] in reference.host?.deliver(report) }
        return true
      }
      self.report(error, .hook, name: "on_error", site: "")
      return false
    }
  }

  /// True where somebody takes errors: the script goes on (T14).
  public var handlesErrors: Bool { errorHook != nil }
}

/// Writes to the standard error stream, after what is buffered for standard output.
func writeError(_ text: String) {
  fflush(nil)
  var text = text
  text.withUTF8 { bytes in
    var rest = UnsafeRawBufferPointer(bytes)
    while rest.count > 0 {
      let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
      if count < 0, errno != EINTR { return }
      rest = UnsafeRawBufferPointer(rebasing: rest[max(0, count)...])
    }
  }
}
