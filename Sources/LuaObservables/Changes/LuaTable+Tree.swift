internal import CLua
internal import CTables
public import Lua
package import Observables

/// Changes of a Swift object go into tables that its properties hold (X2).
extension LuaTable: TreeTable {
  package var identity: TreeTableIdentity { TreeTableIdentity(pin.address, in: pin.pins) }

  /// The host of the table; nil after it was closed.
  private var host: LuaHost? {
    guard let host = (try? pin.state)?.attachment as? LuaHost, !host.isClosed else { return nil }
    return host
  }

  package var isPartOfTrees: Bool {
    guard let host else { return false }
    if !host.tables.hasOpaqueTables { return true }
    let isOpaque = try? withTable { _, L throws(LuaError) in clua_isopaque(L.pointer, -1) }
    return isOpaque == false
  }

  package func contents(by reader: TreeReader) -> TreeContents? {
    guard let host else { return nil }
    return try? withTable { _, L throws(LuaError) in
      var contents: TreeContents?
      host.module.transactions.exempted { contents = try? host.contents(of: self, L, by: reader) }
      return contents
    }
  }
}

extension LuaHost {
  /// Reads the table on top of the stack. [-0, +any, -]
  fileprivate func contents(
    of table: LuaTable, _ L: LuaStack, by reader: TreeReader
  ) throws -> TreeContents {
    try state.check(clua_try_absorb(L.pointer, -1), L)
    let kind = clua_collection_kind(L.pointer, -1)
    var model: String?
    // The prelude knows which keys are derived.
    if hasDerivedKeys(L) { model = try pushStored(of: table, to: L) }
    let isPlain = kind == CLUA_KIND_PLAIN && model == nil
    let isList = isPlain || kind == CLUA_KIND_ARRAY
    var list: [TreeValue] = []
    var fields: [DeepChange.Key: TreeValue] = [:]
    var members: [AnyHashable: ChangeValue] = [:]
    try state.forEachEntry(at: L.height, of: L) {
      if kind == CLUA_KIND_SET {
        guard let member = try swiftValue(at: -2, of: L) as? AnyHashable else { return }
        members[member] = ChangeValue(member.base)
      } else if let key = scalar(at: -2, of: L).flatMap({ DeepChange.Key($0) }),
        let value = try treeValue(at: -1, of: L, by: reader)
      {
        if isList, key == .index(list.count + 1) { list.append(value) } else { fields[key] = value }
      }
    }
    while isList, let next = fields.removeValue(forKey: .index(list.count + 1)) {
      list.append(next)
    }
    let isSparse = isPlain && fields.keys.contains { $0.isWhole }
    if isSparse {
      for (index, element) in list.enumerated() { fields[.index(index + 1)] = element }
      list = []
    }
    let shape: TreeContents.Shape =
      switch kind {
      case CLUA_KIND_ARRAY: .array
      case CLUA_KIND_DICTIONARY: .dictionary
      case CLUA_KIND_SET: .set
      default: model.map { .model($0) } ?? .table
      }
    return TreeContents(
      shape: shape, list: list, fields: fields, members: members, isTable: true,
      isSparse: isSparse)
  }

  /// Whether the table on top can have lazy or computed keys: it has lazy keys, or is an instance
  /// of a model. [-0, +0, -]
  private func hasDerivedKeys(_ L: LuaStack) -> Bool {
    if let node = clua_node_at(L.pointer, -1), clua_node_haslazies(node) { return true }
    guard clua_pushmodelof(L.pointer, -1) else { return false }
    L.pop()
    return true
  }

  /// Pushes a copy of the stored entries of a table; returns the name of its model. [-0, +1, -]
  private func pushStored(of table: LuaTable, to L: LuaStack) throws(LuaError) -> String? {
    let function = try module.transactions.prelude().contents
    guard case .table(let read)? = try function.callPlainly(arguments: [.table(table)]).first else {
      throw LuaError("the prelude returned no contents (this is a bug in LuaObservables)")
    }
    try state.push(try read["map"], to: L)
    guard case .string(let model) = try read["model"] else { return nil }
    return model.text
  }

  /// The stored value at an index; nil for a history, which is no part of trees. [-0, +0, -]
  private func treeValue(
    at index: CInt, of L: LuaStack, by reader: TreeReader
  ) throws(LuaError) -> TreeValue? {
    if let scalar = scalar(at: index, of: L) { return .plain(scalar) }
    guard L.isTable(at: index) else { return reader.value(of: try swiftValue(at: index, of: L)) }
    if module.transactions.isTool(at: index, of: L) { return nil }
    if tables.isOpaque(at: index, of: L) {
      return .plain(.native(try swiftValue(at: index, of: L)))
    }
    let address = UInt(bitPattern: L.address(at: index))
    return try reader.value(ofTable: TreeTableIdentity(address, in: state.pins)) {
      () throws(LuaError) in LuaTable(pin: try state.pin(at: index, of: L))
    }
  }

  /// The Swift value of the stored value at an index. [-0, +0, -]
  private func swiftValue(at index: CInt, of L: LuaStack) throws(LuaError) -> Any {
    if L.type(at: index) == .userdata, let object = objects.object(at: index, of: L) {
      return object
    }
    let value = try state.value(at: index, of: L)
    if case .table(let table) = value { return table }
    return value.swiftValue.base
  }

  /// The boolean, number or text at an index; nil for another value. [-0, +0, -]
  private func scalar(at index: CInt, of L: LuaStack) -> ChangeValue? {
    switch L.type(at: index) {
    case .boolean: .boolean(L.boolean(at: index))
    case .number: L.integer(at: index).map { .integer(Int($0)) } ?? .number(L.number(at: index))
    case .string: state.validText(at: index, of: L).map { .text($0) }
    default: nil
    }
  }
}

extension DeepChange.Key {
  /// Whether it is a whole number.
  fileprivate var isWhole: Bool {
    switch self {
    case .index: true
    case .number(let number): number.isFinite && number.rounded() == number
    case .name, .boolean: false
    }
  }
}
