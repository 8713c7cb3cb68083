internal import Lua

/// Results of scripts as Swift values.
extension LuaHost {
  /// Converts a result of a script or a script function to a Swift value.
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

  /// Converts the first results of a script or a script function to Swift values; missing ones are
  /// nil.
  func results<First, Second, each Other>(
    _ values: [LuaValue], of source: String
  ) throws(LuaError) -> (First, Second, repeat each Other) {
    var position = 0
    func next<Value>(_ type: Value.Type) throws(LuaError) -> Value {
      defer { position += 1 }
      let value = position < values.count ? values[position] : .nil
      return try result(value, of: "\(source) (number \(position + 1))")
    }
    return (try next(First.self), try next(Second.self), repeat try next((each Other).self))
  }

  /// Converts a Swift value to a script value.
  func value(of value: Any?) throws(LuaError) -> LuaValue {
    try state.withStack { L throws(LuaError) in
      try objects.push(value: value, to: L)
      return try state.value(at: -1, of: L)
    }
  }
}
