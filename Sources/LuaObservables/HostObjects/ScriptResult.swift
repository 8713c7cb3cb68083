internal import Lua
internal import Observables

/// The result of a method or function for a script.
///
/// Lua's types have a case each. Other types need casts, which take many times as long as the call.
enum ScriptResult {
  case nothing
  case integer(Int)
  case number(Double)
  case boolean(Bool)
  case text(String)
  case other(Any?)

  /// Makes a result from a value whose type is known only at run time.
  init<Value>(_ value: Value) {
    // The types are the same, which the compiler cannot see.
    if Value.self == Void.self {
      self = .nothing
    } else if Value.self == Int.self {
      self = .integer(unsafeBitCast(value, to: Int.self))
    } else if Value.self == Double.self {
      self = .number(unsafeBitCast(value, to: Double.self))
    } else if Value.self == Bool.self {
      self = .boolean(unsafeBitCast(value, to: Bool.self))
    } else if Value.self == String.self {
      self = .text(unsafeBitCast(value, to: String.self))
    } else {
      self = .other(value)
    }
  }

  /// The operation that a task must wait for, if the result is one.
  var pending: (any PendingResult)? {
    guard case .other(let value) = self else { return nil }
    return value as? any PendingResult
  }
}

extension HostObjects {
  /// Pushes the result of a method or a function, and returns the number of values. [-0, +n, -]
  ///
  /// A tuple and a `Variadic` are several values; `Void` is none.
  func push(_ result: ScriptResult, to L: LuaStack) throws(LuaError) -> CInt {
    switch result {
    case .nothing: return 0
    case .integer(let value): L.push(value)
    case .number(let value): L.push(value)
    case .boolean(let value): L.push(value)
    case .text(let value): try host.state.push(text: value, to: L)
    case .other(let value): return try push(other: value, to: L)
    }
    return 1
  }

  /// Pushes a result of a type that Lua does not have. [-0, +n, -]
  private func push(other result: Any?, to L: LuaStack) throws(LuaError) -> CInt {
    guard let result, !(result is any LuaEncodable) else {
      try push(value: result, to: L)
      return 1
    }
    if let several = result as? any SeveralResults {
      for value in several.values {
        guard L.hasRoom() else { throw L.noRoom(to: "push a value") }
        try push(value: value, to: L)
      }
      return CInt(several.values.count)
    }
    let mirror = Mirror(reflecting: result)
    guard mirror.displayStyle == .tuple else {
      try push(value: result, to: L)
      return 1
    }
    for member in mirror.children {
      guard L.hasRoom() else { throw L.noRoom(to: "push a value") }
      try push(value: member.value, to: L)
    }
    return CInt(mirror.children.count)
  }
}
