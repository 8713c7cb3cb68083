internal import CLua

/// The object in a Lua error value that holds an error thrown by a Swift function.
private final class ThrownError {
  let error: any Error
  init(_ error: any Error) { self.error = error }
}

extension LuaState {
  /// Throws the error of a protected operation, if it failed. [-(0|1), +0, -]
  package func check(
    _ status: CInt, _ L: LuaStack
  ) throws(LuaError) {
    if status != LUA_OK { throw takeError(status, L) }
  }

  /// Pops the error value on top and makes a Swift error of it.
  ///
  /// A failed operation may leave the stack full: this makes room itself. [-1, +0, -]
  package func takeError(_ status: CInt, _ L: LuaStack) -> LuaError {
    guard L.hasRoom(for: 10) else {
      L.pop()
      return L.noRoom()
    }
    let top = L.height
    defer { L.height = top - 1 }
    var bySwift = false
    clua_pushtraceback(L.pointer, &bySwift)
    var traceback = L.isString(at: -1) ? text(at: -1, of: L) : nil
    L.height = top
    guard status != LUA_ERRMEM else {
      turns?.scriptsMetLimit()
      return LuaError(.memory, LuaError.noMemory.message, traceback: traceback)
    }
    if let stop = stopError(at: top, of: L, traceback: traceback) { return stop }
    var code: LuaError.Code =
      switch status {
      case LUA_ERRSYNTAX: .syntax
      case LUA_ERRERR: .handler
      case CLUA_ERRFILE: .file
      default: .runtime
      }
    var underlying = underlyingError(at: top, of: L)
    // If the error is a lack of memory, keeping the value may fail.
    let value = (try? value(at: top, of: L)) ?? .nil
    if bySwift, let inner = reraised {
      code = inner.code
      underlying = underlying ?? inner.underlying
      traceback = LuaState.join(inner.traceback, traceback)
    }
    reraised = nil
    if code == .memory || code == .quota { turns?.scriptsMetLimit() }
    return LuaError(
      code, describe(at: top, of: L), traceback: traceback, value: value, underlying: underlying)
  }

  /// The error for the value at an index if it says that scripts were stopped.
  ///
  /// In this case the program reacts to the stop now.
  package func stopError(
    at index: CInt, of L: LuaStack, traceback: String?
  ) -> LuaError? {
    guard let (code, message) = stop(at: index, of: L) else { return nil }
    noteStop(code)
    return LuaError(code, message, traceback: traceback)
  }

  /// The error for the last stop, if no script has raised it and no running script will.
  ///
  /// In this case the program reacts to the stop now.
  package func unreportedStop() -> LuaError? {
    guard interrupter.depth == 0, interrupter.isUnreported else { return nil }
    let (code, message) = interrupter.lastStop
    noteStop(code)
    return LuaError(code, message)
  }

  /// Notes a stop, so that the program can react to it, unless the program closed the scripts.
  private func noteStop(_ code: LuaError.Code) {
    if code == .closed { return }
    turns?.scriptsWereStopped()
    turns?.scriptsMetLimit()
  }

  /// The code and message of the stop if the value at an index is the stop error; nil otherwise.
  private func stop(at index: CInt, of L: LuaStack) -> (LuaError.Code, String)? {
    guard clua_isstop(L.pointer, index) else { return nil }
    return interrupter.lastStop
  }

  /// The error thrown by a Swift function, if the error value at an index holds one.
  ///
  /// [-0, +0, -]
  package func underlyingError(at index: CInt, of L: LuaStack) -> (any Error)? {
    clua_toerror(L.pointer, index).map {
      Unmanaged<ThrownError>.fromOpaque($0).takeUnretainedValue().error
    }
  }

  /// A traceback without the lines of our own Lua code; unchanged if out of memory.
  package func withoutOwnCode(_ traceback: String) -> String {
    let shown = try? withStack { L throws(LuaError) in
      try push(text: traceback, to: L)
      try check(clua_try_hideown(L.pointer), L)
      return text(at: -1, of: L)
    }
    return shown ?? traceback
  }

  private static func join(_ inner: String?, _ outer: String?) -> String? {
    guard let inner, let outer else { return inner ?? outer }
    return inner + outer.drop { $0 != "\n" }
  }

  /// The text of the error value at an index. [-0, +0, -]
  package func describe(at index: CInt, of L: LuaStack) -> String {
    if let (_, message) = stop(at: index, of: L) { return message }
    // After a stack overflow there may be no room for a call.
    if L.isString(at: index) { return text(at: index, of: L) }
    let name = L.typeName(at: index)
    defer { L.pop() }
    guard clua_try_describe(L.pointer, index) == LUA_OK else {
      return "(error object is a \(name) value whose __tostring failed)"
    }
    return text(at: -1, of: L)
  }

  /// Pushes the error value for an error that a Swift function threw.
  ///
  /// The value has to be raised at once. This cannot fail: if memory runs out, the value is that
  /// error. Needs five free slots. [-0, +1, -]
  package func pushError(_ error: any Error, to L: LuaStack) {
    reraised = nil
    if let error = error as? LuaError, error.isStop || error.code == .closed,
      interrupter.isStopping
    {
      clua_pushstop(L.pointer)
      return
    }
    guard let error = error as? LuaError else {
      var message = String(describing: error)
      let thrown = Unmanaged.passRetained(ThrownError(error))
      let status = message.withUTF8 { message in
        message.withMemoryRebound(to: CChar.self) { message in
          clua_try_pusherror(
            L.pointer, thrown.toOpaque(), { Unmanaged<ThrownError>.fromOpaque($0!).release() },
            message.baseAddress, message.count)
        }
      }
      if status != LUA_OK { thrown.release() }
      return
    }
    if error.value != .nil, (try? push(error.value, to: L)) != nil {
      reraised = error
      return
    }
    var message = error.message
    let status = message.withUTF8 { message in
      message.withMemoryRebound(to: CChar.self) { message in
        clua_try_pushmessage(L.pointer, message.baseAddress, message.count)
      }
    }
    if status == LUA_OK { reraised = error }
  }
}
