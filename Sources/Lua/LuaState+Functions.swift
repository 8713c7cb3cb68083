internal import CLua

/// The body of a Swift function for Lua: the arguments are on the stack, and the results go on top.
private final class FunctionBody {
  typealias Body = (LuaState, LuaStack) throws -> CInt
  let body: Body
  init(_ body: @escaping Body) { self.body = body }
}

extension LuaState {
  /// Makes a Lua function of a Swift function.
  ///
  /// Lua calls it on the state's thread. Arguments of another type raise "bad argument" errors in
  /// the script, missing ones count as nil, surplus ones are dropped. An error that `body` throws
  /// is raised in the script, where its text is its description. If it returns to Swift it is
  /// ``LuaError/underlying``, or the same value if it was a ``LuaError``. The closure lives until
  /// the function is collected or the state closed; a closure that captures the state should do so
  /// `unowned`, or it keeps the state alive until `close()`. `name` is the function's name in error
  /// messages.
  /// - Throws: `memory`, `closed`.
  public func function<each Argument: LuaDecodable, Result: LuaEncodable>(
    _ name: String, _ body: @escaping (repeat each Argument) throws -> Result
  ) throws(LuaError) -> LuaFunction {
    try makeFunction { state, L in
      var arguments = FunctionArguments(state, L, name)
      let result = try body(repeat try arguments.next((each Argument).self))
      try state.push(result, to: L)
      return 1
    }
  }

  /// Makes a Lua function of a Swift function without a result.
  ///
  /// Otherwise like a function with a result.
  /// - Throws: `memory`, `closed`.
  public func function<each Argument: LuaDecodable>(
    _ name: String, _ body: @escaping (repeat each Argument) throws -> Void
  ) throws(LuaError) -> LuaFunction {
    try makeFunction { state, L in
      var arguments = FunctionArguments(state, L, name)
      try body(repeat try arguments.next((each Argument).self))
      return 0
    }
  }

  /// Makes a Lua function of a Swift function that takes and returns any number of values.
  ///
  /// Otherwise like a function with declared arguments.
  /// - Throws: `memory`, `closed`.
  public func variadicFunction(
    _ name: String, _ body: @escaping ([LuaValue]) throws -> [LuaValue]
  ) throws(LuaError) -> LuaFunction {
    try makeFunction { state, L in
      let results = try body(try state.values(from: 1, of: L))
      for result in results { try state.pushNext(result, to: L) }
      return CInt(results.count)
    }
  }

  /// Makes a Lua function of one that works on the stack; pushes nothing.
  private func makeFunction(_ body: @escaping FunctionBody.Body) throws(LuaError) -> LuaFunction {
    try withStack { L throws(LuaError) in
      try pushFunction(body, to: L)
      return LuaFunction(pin: try pin(L))
    }
  }

  /// Pushes a Lua function that runs `body`.
  ///
  /// `body` finds its arguments from index 1, leaves its results on top, and returns their number.
  /// It has at least 20 free slots. [-0, +1, -]
  package func pushFunction(
    _ body: @escaping (LuaState, LuaStack) throws -> CInt,
    to L: LuaStack
  ) throws(LuaError) {
    let context = Unmanaged.passRetained(FunctionBody(body))
    let status = clua_try_pushfunction(
      L.pointer, LuaState.callBody, context.toOpaque(),
      { Unmanaged<FunctionBody>.fromOpaque($0!).release() })
    guard status == LUA_OK else {
      context.release()
      throw takeError(status, L)
    }
  }

  private static let callBody: clua_function = { pointer, context in
    guard let pointer, let context else { return 0 }
    let L = LuaStack(pointer)
    guard let state = LuaState.owner(of: L) else {
      L.pushNil()
      return CInt(CLUA_RAISE)
    }
    let function = Unmanaged<FunctionBody>.fromOpaque(context).takeUnretainedValue()
    return state.entered(from: L) {
      // A failure may leave operands; the error value replaces them.
      let height = L.height
      do {
        if state.interrupter.isClosing { throw LuaError.closed }
        if L.hasLost { state.recoverLost(L) }
        return try function.body(state, L)
      } catch {
        L.height = height
        state.pushError(error, to: L)
        return CInt(CLUA_RAISE)
      }
    }
  }
}

/// The message about a missing argument: Lua says "no value" for it, not "nil".
package func absent(_ message: String) -> String {
  message.hasSuffix("got nil") ? message.dropLast(3) + "no value" : message
}

/// The arguments of a call by Lua, taken in order.
private struct FunctionArguments {
  private let state: LuaState
  private let L: LuaStack
  private let name: String
  private let count: CInt
  private var index: CInt = 0

  init(_ state: LuaState, _ L: LuaStack, _ name: String) {
    self.state = state
    self.L = L
    self.name = name
    count = L.height
  }

  mutating func next<Argument: LuaDecodable>(
    _ type: Argument.Type
  ) throws(LuaError) -> Argument {
    index += 1
    // Indices after the arguments are free slots, which not all operations here accept.
    guard index <= count else {
      do throws(LuaError) { return try Argument(luaValue: .nil) } catch {
        guard error.isOfConversion else { throw error }
        throw failure(absent(error.message), error)
      }
    }
    do throws(LuaError) { return try state.pull(at: index, of: L) } catch {
      guard error.isOfConversion else { throw error }
      throw failure(error.message, error)
    }
  }

  private func failure(_ message: String, _ error: LuaError) -> LuaError {
    LuaError(
      .type, "bad argument #\(index) to '\(name)' (\(message))", underlying: error.underlying)
  }
}
