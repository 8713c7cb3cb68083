internal import CTables
public import Lua
package import Observables

/// Changes of a Swift object go into tables that its properties hold (X2).
extension LuaTable: TreeTable {
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

  package func copyContents() -> TreeTableContents? {
    guard let host else { return nil }
    var contents: TreeTableContents?
    host.module.transactions.exempted { contents = try? host.contents(of: self) }
    return contents
  }
}

extension LuaHost {
  /// Reads a table by the function of the prelude that reads tables for scripts.
  fileprivate func contents(of table: LuaTable) throws(LuaError) -> TreeTableContents? {
    let function = try module.transactions.prelude().contents
    guard case .table(let read)? = try function.callPlainly(arguments: [.table(table)]).first,
      case .table(let map) = try read["map"]
    else { return nil }
    var contents = TreeTableContents()
    contents.type = (try read["kind"]).text.flatMap { DeepChange.CollectionType(rawValue: $0) }
    contents.model = (try read["model"]).text
    contents.isSparse = (try read["sparse"]) == .boolean(true)
    let isList =
      contents.type == .array
      || contents.type == nil && contents.model == nil && !contents.isSparse
    var count = 0
    if isList, case .integer(let n) = try read["n"] { count = Int(n) }
    var list = [Any?](repeating: nil, count: count)
    try map.withTable { state, L throws(LuaError) in
      let height = L.height
      L.pushNil()
      while true {
        try state.pushNextEntry(at: height, of: L)
        guard !L.isNil(at: -2) else { return }
        let key = try treeValue(at: -2, of: L)
        if contents.type == .set {
          if let member = key as? AnyHashable { contents.members.append(member) }
        } else if let position = key as? Int, position >= 1, position <= count {
          list[position - 1] = try treeValue(at: -1, of: L)
        } else if let key = DeepChange.Key(key) {
          contents.fields[key] = try treeValue(at: -1, of: L)
        }
        L.pop()
      }
    }
    contents.list = list.compactMap { $0 }
    return contents
  }

  /// The Swift value of the stored value at an index. [-0, +0, -]
  private func treeValue(at index: CInt, of L: LuaStack) throws(LuaError) -> Any {
    if L.type(at: index) == .userdata, let object = objects.object(at: index, of: L) {
      return object
    }
    let value = try state.value(at: index, of: L)
    if case .table(let table) = value { return table }
    return value.swiftValue.base
  }
}

extension LuaValue {
  fileprivate var text: String? { if case .string(let string) = self { string.text } else { nil } }
}
