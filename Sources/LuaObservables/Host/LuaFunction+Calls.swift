public import Lua

/// Calls of functions of scripts with what properties take.
extension LuaFunction {
  /// Calls the function with arguments of any types that properties may have, Swift models among
  /// them, and returns all its results.
  ///
  /// On the loop's thread. The call is a turn where no turn of the loop is under way.
  ///
  /// - Throws: `runtime`, `memory`, `handler`, `closed`, `foreign`; `type` for an argument that no
  ///   script can have.
  @_disfavoredOverload
  @discardableResult
  public func call<each Argument>(
    _ arguments: repeat each Argument
  ) throws(LuaError) -> [LuaValue] {
    try call(arguments: values(of: repeat each arguments))
  }

  /// Calls the function with arguments of any types that properties may have, and returns its first
  /// result as a value of such a type.
  ///
  /// - Throws: `runtime`, `memory`, `handler`, `closed`, `foreign`; `type` for an argument that no
  ///   script can have, and for a result of another type.
  @_disfavoredOverload
  public func call<each Argument, Result>(
    _ arguments: repeat each Argument, as type: Result.Type
  ) throws(LuaError) -> Result {
    try host.result(call(repeat each arguments).first ?? .nil, of: "function")
  }

  /// Begins a task of scripts that calls the function, which may wait there as `obs.sleep` does.
  ///
  /// On the loop's thread. The function runs until it waits for the first time; the loop goes on
  /// until the task is done. The results, or the error of the function, are those of the task.
  ///
  /// - Throws: `memory`, `closed`, `foreign`; `quota` where there may be no more tasks; `type` for
  ///   an argument that no script can have.
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
