internal import Lua
internal import Observables

/// Values on the stack, as errors, reports and operators see them.
extension LuaState {
  /// The name of the value at an index in errors. [-0, +0, -]
  func typeName(at index: CInt, of L: LuaStack) -> String {
    if index > L.height { return "no value" }
    return L.typeName(at: index)
  }

  /// The key at an index as `observed_keys` and reports show it. [-0, +0, -]
  func keyName(at index: CInt, of L: LuaStack) -> String {
    switch L.type(at: index) {
    case .string: text(at: index, of: L)
    case .number:
      L.integer(at: index).map { "#\($0)" } ?? "\(L.number(at: index))"
    case .boolean: L.boolean(at: index) ? "true" : "false"
    case .nil: "nil"
    default: L.typeName(at: index)
    }
  }

  /// The value at an index as operators see it. [-0, +0, -]
  func operand(at index: CInt, of L: LuaStack) -> Operand {
    switch L.type(at: index) {
    case .nil, .none: .none
    case .boolean: .boolean(L.boolean(at: index))
    case .number:
      L.integer(at: index).map { .integer(Int($0)) } ?? .float(L.number(at: index))
    case .string: .text(bytes(at: index, of: L))
    default:
      L.address(at: index).map { .object($0) } ?? .opaque(type: typeName(at: index, of: L))
    }
  }
}
