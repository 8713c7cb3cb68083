public import Lua
public import Observables

extension ChangeValue: LuaDecodable {
  /// Converts a value of a change: a table whose keys are 1…n is a list, one whose keys are strings
  /// is a map.
  ///
  /// - Throws: `type` for a table with other keys; `memory`, `closed`.
  /// - Complexity: O(size of the value)
  public init(luaValue: LuaValue) throws(LuaError) { try self.init(luaValue, depth: 0) }

  /// The maximum depth of nested tables: a script may pass a table that contains itself.
  private static var greatestDepth: Int { 200 }

  private init(_ luaValue: LuaValue, depth: Int) throws(LuaError) {
    if case .table(let table) = luaValue {
      try self.init(table, depth: depth)
    } else {
      self.init(luaValue.swiftValue.base)
    }
  }

  private init(_ table: LuaTable, depth: Int) throws(LuaError) {
    guard depth < ChangeValue.greatestDepth else {
      throw LuaError(
        .type, "a table in a change is nested deeper than \(ChangeValue.greatestDepth) levels")
    }
    var elements: [Int: ChangeValue] = [:]
    var map: [String: ChangeValue] = [:]
    try table.forEach { key, value throws(LuaError) in
      switch key {
      case .integer(let index): elements[Int(index)] = try ChangeValue(value, depth: depth + 1)
      case .string(let name) where name.text != nil:
        map[name.description] = try ChangeValue(value, depth: depth + 1)
      default: throw LuaError(.type, "a table in a change has a key that is not data: \(key.shown)")
      }
    }
    if elements.isEmpty {
      self = .map(map)
      return
    }
    let list = (1...elements.count).compactMap { elements[$0] }
    guard map.isEmpty, list.count == elements.count else {
      throw LuaError(
        .type, "a table in a change is neither a list without holes nor a map with strings as keys")
    }
    self = .list(list)
  }
}

extension LuaValue {
  /// A boolean, number or string as the Swift value; otherwise this value itself.
  var swiftValue: AnyHashable {
    switch self {
    case .boolean(let value): value
    case .integer(let value): Int(value)
    case .number(let value): value
    case .string(let string): string.text.map { AnyHashable($0) } ?? AnyHashable(self)
    default: AnyHashable(self)
    }
  }
}
