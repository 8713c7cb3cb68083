public import Lua

/// Results of scripts as Swift values.
extension LuaHost {
  /// Runs `text` as a turn, and returns its first result as a Swift value; `name` is what error
  /// messages call it.
  ///
  /// The result may be of any type that a property may be: a plain value, an optional, a list, a
  /// `Codable` structure, a Swift model.
  ///
  /// - Throws: `LuaError` for a syntax error, for what the script raised, and, with the code
  ///   `type`, for a result of another type.
  public func run<Result>(
    _ text: String, name: String = "=script", as type: Result.Type
  ) throws(LuaError) -> Result {
    try result(run(text, name: name).first ?? .nil, of: "script")
  }

  /// Runs a file as a turn, and returns its first result as a Swift value.
  ///
  /// All else is as for a text.
  ///
  /// - Throws: `LuaError` for a file that cannot be read, a syntax error, what the script raised,
  ///   and a result of another type.
  public func run<Result>(
    file path: String, as type: Result.Type
  ) throws(LuaError) -> Result {
    try result(run(file: path).first ?? .nil, of: "script")
  }

  /// A result of a script, or of a function of one, as a Swift value.
  func result<Result>(_ value: LuaValue, of source: String) throws(LuaError) -> Result {
    try state.withStack { L throws(LuaError) in
      try state.push(value, to: L)
      do { return try objects.take(at: L.height, of: L) } catch let misfit as Misfit {
        throw LuaError(
          .type, "result of the \(source): \(misfit.reason)", underlying: misfit.underlying)
      } catch let error as LuaError {
        throw error
      } catch {
        throw LuaError(.type, "result of the \(source): \(error)", underlying: error)
      }
    }
  }

  /// A Swift value as scripts have it.
  func value(of value: Any?) throws(LuaError) -> LuaValue {
    try state.withStack { L throws(LuaError) in
      try objects.push(value: value, to: L)
      return try state.value(at: -1, of: L)
    }
  }
}
