internal import Lua
internal import Observables

/// Values on the stack, described for errors, reports and operators.
extension LuaState {
  /// The type name of the value at an index, for errors. [-0, +0, -]
  func typeName(at index: CInt, of L: LuaStack) -> String {
    if index > L.height { return "no value" }
    return L.typeName(at: index)
  }

  /// The name of the value at an index for tools: "table #3" with the number of an observed table,
  /// else the text that `tostring` would return without calling metamethods, "table: 0x55…" (W5).
  /// [-0, +0, -]
  func title(at index: CInt, of L: LuaStack) -> String {
    let address = UInt(bitPattern: L.address(at: index))
    let name = className(at: index, of: L) ?? typeName(at: index, of: L)
    if L.isTable(at: index), let node = TableKind.existingNode(at: index, of: L) {
      return node.numbered(name)
    }
    return "\(name): 0x\(String(address, radix: 16))"
  }

  /// The raw `__name` in the metatable of the value at an index. [-0, +0, -]
  func className(at index: CInt, of L: LuaStack) -> String? {
    let height = L.height
    defer { L.height = height }
    guard L.hasRoom(for: 8), L.pushOwnMetatable(at: index), L.isTable(at: -1),
      (try? push(text: "__name", to: L)) != nil, L.getOwn(at: -2) == .string
    else { return nil }
    return text(at: -1, of: L, most: 100)
  }

  /// The key at an index, as `observed_keys` and reports show it. [-0, +0, -]
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

  /// The value at an index, converted for operators. [-0, +0, -]
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
