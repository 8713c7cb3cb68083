public import Lua

/// Calls of script functions with any arguments that properties can store.
extension LuaFunction {
  /// Calls the function with arguments of any property types, Swift models included, and returns
  /// all its results.
  ///
  /// Call this on the loop's thread. The call is a turn, unless a turn of the loop is under way.
  ///
  /// - Throws: `runtime`, `memory`, `handler`, `closed`, `foreign`; `type` for an argument that
  ///   scripts cannot have.
  @_disfavoredOverload
  @discardableResult
  public func call<each Argument>(
    _ arguments: repeat each Argument
  ) throws(LuaError) -> [LuaValue] {
    try call(arguments: values(of: repeat each arguments))
  }

  /// Calls the function with arguments of any property types, and returns its first result as a
  /// value of such a type.
  ///
  /// - Throws: `runtime`, `memory`, `handler`, `closed`, `foreign`; `type` for an argument that
  ///   scripts cannot have, and for a result of another type.
  @_disfavoredOverload
  public func call<each Argument, Result>(
    _ arguments: repeat each Argument, as type: Result.Type
  ) throws(LuaError) -> Result {
    try host.result(call(repeat each arguments).first ?? .nil, of: "function")
  }

  /// Calls the function with arguments of any property types, and returns its first results as
  /// values of such types.
  ///
  /// - Throws: `runtime`, `memory`, `handler`, `closed`, `foreign`; `type` for an argument that
  ///   scripts cannot have, and for a result of another type.
  public func call<each Argument, First, Second, each Other>(
    _ arguments: repeat each Argument, as types: (First, Second, repeat each Other).Type
  ) throws(LuaError) -> (First, Second, repeat each Other) {
    try host.results(call(arguments: values(of: repeat each arguments)), of: "function")
  }

  /// Begins a script task that calls the function, which can wait in it as `obs.sleep` does.
  ///
  /// Call this on the loop's thread. The function runs until it first waits; the loop runs until
  /// the task is done. The task ends with the function's results or error.
  ///
  /// - Throws: `memory`, `closed`, `foreign`; `quota` if no more tasks are allowed; `type` for an
  ///   argument that scripts cannot have.
  public func task<each Argument>(
    _ arguments: repeat each Argument
  ) throws(LuaError) -> ScriptTask {
    try host.module.taskCalls.begin(self, values(of: repeat each arguments))
  }

  private func values<each Argument>(
    of arguments: repeat each Argument
  ) throws(LuaError) -> [LuaValue] {
    let host = try host
    var values: [LuaValue] = []
    for argument in repeat each arguments {
      do throws(LuaError) { values.append(try host.value(of: argument)) } catch {
        guard error.isOfConversion else { throw error }
        throw LuaError(
          .type, "argument \(values.count + 1): \(error.message)", underlying: error.underlying)
      }
    }
    return values
  }

  private var host: LuaHost {
    get throws(LuaError) {
      guard let host = try pin.state.attachment as? LuaHost else {
        throw LuaError(.type, "the function's state has no host that could convert the arguments")
      }
      return host
    }
  }
}
