internal import Lua
internal import Observables

/// Collection operators as `obs.get` evaluates them (C9).
final class OperatorFunctions: ModuleSlice {
  override var functions: [NamedFunction] {
    [
      .init("fold", fold),
      .init("kept", kept),
    ]
  }

  /// fold(operator, list, count, many) → true, value; or false, the position and description of the
  /// value that the operator cannot take, and the expected type.
  ///
  /// An element whose path leads to many values appears as `many` in the list.
  private func fold(_ L: LuaStack) throws -> CInt {
    L.height = 4
    guard let operation = Operation(rawValue: state.text(at: 1, of: L)) else {
      throw LuaError("there is no operator '@\(state.text(at: 1, of: L))'")
    }
    let count = Int(L.integer(at: 3) ?? 0)
    var aggregate = Aggregate(operation)
    func operand(_ position: Int) -> Operand {
      L.rawGet(index: position, at: 2)
      defer { L.pop() }
      return L.rawEqual(-1, 4)
        ? .opaque(type: "list of values") : state.operand(at: -1, of: L)
    }
    for position in stride(from: 1, through: count, by: 1) {
      // Elements may be long strings. The script is stopped soon after this returns.
      if state.interrupter.isStopping {
        L.push(true)
        return 1
      }
      aggregate.add(operand(position))
    }
    guard case .failure = aggregate.value else {
      L.push(true)
      return try push(aggregate.value, to: L) ? 2 : 1
    }
    // Add the values again, one by one, up to the first that the operator cannot take.
    aggregate = Aggregate(operation)
    var (position, odd) = (0, Operand.none)
    while position < count {
      position += 1
      odd = operand(position)
      aggregate.add(odd)
      if case .failure = aggregate.value { break }
    }
    L.rawGet(index: position, at: 2)
    let text =
      if case .object = odd { "a \(state.typeName(at: -1, of: L))" } else { odd.description }
    L.push(false)
    L.push(position)
    try state.push(text: text, to: L)
    try state.push(text: operation.expectation, to: L)
    return 4
  }

  /// kept(observed, path, step) → true, value if the operator at `step` of the path is observed
  /// there and has a value; otherwise false.
  ///
  /// A tracked getter always reads the elements, as it depends on them (Z10).
  private func kept(_ L: LuaStack) throws -> CInt {
    L.height = 3
    let path = try arguments.path(at: 2, of: L, "get", argument: 2)
    let step = Int(L.integer(at: 3) ?? 0) - 1
    L.push(true)
    guard !engine.tracking.isOn, let node = try arguments.existingNode(at: 1, of: L, "get"),
      let value = engine.members.keptValue(of: path.components[step...], on: node),
      try push(value, to: L)
    else {
      L.push(false)
      return 1
    }
    return 2
  }

  /// Pushes the value of an operator; pushes nothing and returns false if it has no value that can
  /// be kept. [-0, +(0|1), -]
  private func push(_ value: Aggregate.Value, to L: LuaStack) throws(LuaError) -> Bool {
    switch value {
    case .value, .list, .failure: return false
    default: try state.push(LuaValue(Operand(value)), to: L)
    }
    return true
  }
}

extension LuaValue {
  /// Makes the Lua value of an operand, or nil if it is not plain.
  init(_ operand: Operand) {
    self =
      switch operand {
      case .none, .object, .value, .opaque, .failed: .nil
      case .boolean(let value): .boolean(value)
      case .integer(let number): .integer(Int64(number))
      case .float(let number): .number(number)
      case .text(let bytes): .string(LuaString(bytes: bytes))
      }
  }
}
