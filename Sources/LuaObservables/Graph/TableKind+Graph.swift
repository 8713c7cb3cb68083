internal import CTables
internal import Lua
internal import Observables

/// Information about tables for `obs.graph`.
extension TableKind {
  /// The title of a table: the name of its model or metatable, or its kind of collection.
  func tableTitle(of node: NodeRef) -> String {
    switch clua_node_kind(TableKind.table(node)) {
    case CLUA_KIND_ARRAY: "array"
    case CLUA_KIND_SET: "set"
    case CLUA_KIND_DICTIONARY: "dictionary"
    default: className(of: node) ?? "table"
    }
  }

  /// The name of a plain table's model or metatable, if it has one.
  func className(of node: NodeRef) -> String? {
    let L = state.stack
    let height = L.height
    defer { L.height = height }
    guard L.hasRoom(for: 12) else { return nil }
    clua_node_pushtable(L.pointer, TableKind.table(node))
    return L.isTable(at: -1) ? state.className(at: -1, of: L) : nil
  }

  /// The observed objects stored in a table: at one key, or at any key for the slot of `*`.
  func observedObjects(at slot: SlotRef) -> [(key: String?, node: NodeRef)] {
    let L = state.stack
    let height = L.height
    defer { L.height = height }
    let table = TableKind.table(slot.pointee.node)
    guard L.hasRoom(for: 12) else { return [] }
    clua_node_pushtable(L.pointer, table)
    guard L.isTable(at: -1) else { return [] }
    guard slot.pointee.isEvery else {
      TableKind.pushKey(of: slot, to: L)
      L.getOwn(at: height + 1)
      return knownNode(at: -1, of: L).map { [(nil, $0)] } ?? []
    }
    var found: [(key: String?, node: NodeRef)] = []
    let isSet = clua_node_kind(table) == CLUA_KIND_SET
    try? state.forEachEntry(at: height + 1, of: L) {
      if let node = knownNode(at: isSet ? -2 : -1, of: L) {
        found.append((isSet ? nil : state.keyName(at: -2, of: L), node))
      }
    }
    return found
  }

  /// The node of the value at an index, if it is observed.
  func knownNode(at index: CInt, of L: LuaStack) -> NodeRef? {
    switch L.type(at: index) {
    case .table:
      return TableKind.existingNode(at: index, of: L)
    case .userdata:
      return (host.objects.object(at: index, of: L) as? any KeyPathObservable)?.currentNode(
        in: engine)
    default:
      return nil
    }
  }
}
