internal import CLua

/// A Lua function, kept alive by this handle.
///
/// Use it where its state is used; it may be released anywhere. Two handles are equal if they refer
/// to the same function. A function that the script of a sandbox gave to Swift runs on the time and
/// memory of this sandbox, and throws `closed` once the sandbox is closed (S5).
public struct LuaFunction: Sendable, Hashable {
  package let pin: LuaPin

  package init(pin: LuaPin) { self.pin = pin }

  /// Calls the function and returns all results.
  ///
  /// If the state belongs to a host and no turn of its loop is active, the call is a turn: watchers
  /// are called when the function has returned.
  ///
  /// - Throws: `runtime`, `memory`, `handler`, `closed`; `foreign` for a value of another state.
  @discardableResult
  public func call<each Argument: LuaEncodable>(
    _ arguments: repeat each Argument
  ) throws(LuaError) -> [LuaValue] {
    try inTurn { () throws(LuaError) in try callPlainly(repeat each arguments) }
  }

  /// Calls the function like `call`, without making a turn.
  package func callPlainly<each Argument: LuaEncodable>(
    _ arguments: repeat each Argument
  ) throws(LuaError) -> [LuaValue] {
    let state = try pin.state
    return try state.withStack { L throws(LuaError) in
      let handler = try pushSelf(state, L)
      var count: CInt = 0
      for argument in repeat each arguments {
        try state.pushNext(argument, to: L)
        count += 1
      }
      try state.call(L, count, CLUA_MULTRET, handler)
      return try state.values(from: handler + 1, of: L)
    }
  }

  /// Calls the function and returns its first result; the call is a turn, as for all results.
  ///
  /// - Throws: `runtime`, `memory`, `handler`, `closed`; `foreign` for a value of another state;
  ///   `type` if the result has another type.
  public func call<each Argument: LuaEncodable, Result: LuaDecodable>(
    _ arguments: repeat each Argument, as type: Result.Type
  ) throws(LuaError) -> Result {
    try inTurn { () throws(LuaError) in try callPlainly(repeat each arguments, as: type) }
  }

  /// Calls the function like `call`, without making a turn.
  package func callPlainly<each Argument: LuaEncodable, Result: LuaDecodable>(
    _ arguments: repeat each Argument, as type: Result.Type
  ) throws(LuaError) -> Result {
    let state = try pin.state
    return try state.withStack { L throws(LuaError) in
      let handler = try pushSelf(state, L)
      var count: CInt = 0
      for argument in repeat each arguments {
        try state.pushNext(argument, to: L)
        count += 1
      }
      try state.call(L, count, 1, handler)
      return try state.pull(at: -1, of: L)
    }
  }

  /// Calls the function with any number of arguments and returns all results; the call is a turn,
  /// as for declared arguments.
  ///
  /// - Throws: `runtime`, `memory`, `handler`, `closed`; `foreign` for a value of another state.
  @discardableResult
  public func call(arguments: [LuaValue]) throws(LuaError) -> [LuaValue] {
    try inTurn { () throws(LuaError) in try callPlainly(arguments: arguments) }
  }

  /// Calls the function like `call`, without making a turn.
  package func callPlainly(arguments: [LuaValue]) throws(LuaError) -> [LuaValue] {
    let state = try pin.state
    return try state.withStack { L throws(LuaError) in
      let handler = try pushSelf(state, L)
      for argument in arguments { try state.pushNext(argument, to: L) }
      try state.call(L, CInt(arguments.count), CLUA_MULTRET, handler)
      return try state.values(from: handler + 1, of: L)
    }
  }

  /// Runs a call, as a turn if none is active, on the account of the function's sandbox.
  package func inTurn<Result>(
    _ call: () throws(LuaError) -> Result
  ) throws(LuaError) -> Result {
    try pin.state.inTurn { () throws(LuaError) in try pin.entered(call) }
  }

  /// Pushes the message handler and the function; returns the index of the handler. [-0, +2, -]
  private func pushSelf(
    _ state: LuaState, _ L: LuaStack
  ) throws(LuaError) -> CInt {
    clua_pushlightfunction(L.pointer, clua_messagehandler)
    let handler = L.height
    try state.push(pin, to: L)
    return handler
  }
}

extension LuaState {
  /// Calls the function on the stack, with a message handler that makes a traceback.
  /// [-(arguments + 1), +results, -]
  package func call(
    _ L: LuaStack, _ arguments: CInt, _ results: CInt, _ handler: CInt
  ) throws(LuaError) {
    try checkDepth()
    try check(clua_guardedcall(L.pointer, arguments, results, handler), L)
  }

  /// Calls the function on the stack; an error that it raises has a traceback.
  /// [-(arguments + 1), +results, -]
  package func tracedCall(
    arguments: CInt = 0, results: CInt = 0, _ L: LuaStack
  ) throws(LuaError) {
    try checkDepth()
    try check(clua_tracedcall(L.pointer, arguments, results), L)
  }

  private func checkDepth() throws(LuaError) {
    let callDepth = interrupter.callDepth
    guard callDepth > 0, interrupter.depth >= callDepth else { return }
    throw LuaError(.quota, "calls of scripts are nested too deeply: \(callDepth) are allowed")
  }

  /// Pushes one more value, growing the stack. [-0, +1, -]
  package func pushNext<Value: LuaEncodable>(
    _ value: Value, to L: LuaStack
  ) throws(LuaError) {
    guard L.hasRoom(for: 10) else { throw L.noRoom() }
    try push(value, to: L)
  }
}
