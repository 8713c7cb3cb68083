internal import CTables
internal import Lua
internal import Observables

/// Answers of tables to `**` (X1).
extension TableKind {
  /// Implements `movesObjects`: a write of scalar values moves no objects.
  func canMoveObjects(_ change: Change) -> Bool {
    guard let values = change.values else { return true }
    let write = values.assumingMemoryBound(to: clua_write.self).pointee
    guard write.edit == CLUA_EDIT_NONE, !write.uncompared, !write.triggered else { return true }
    // An edit reports moved elements without values, unless watchers want the values.
    if write.old == 0 { return true }
    return isObject(at: write.old) || isObject(at: write.new_)
  }

  /// Implements `isOpaque`.
  func isMarkedOpaque(_ node: NodeRef) -> Bool {
    let L = L
    defer { L.pop() }
    clua_node_pushtable(L.pointer, TableKind.table(node))
    return L.isTable(at: -1) && clua_isopaque(L.pointer, -1)
  }

  /// Whether the table at an index is a leaf for `**`.
  func isOpaque(at index: CInt, of L: LuaStack) -> Bool {
    hasOpaqueTables && clua_isopaque(L.pointer, index)
  }

  /// Makes the table at an index a leaf for `**` from the next flush on.
  func markOpaque(at index: CInt, of L: LuaStack) throws(LuaError) {
    hasOpaqueTables = true
    L.pushCopy(at: index)
    try state.check(clua_try_markopaque(L.pointer), L)
    if let node = TableKind.existingNode(at: index, of: L) { engine.members.noteOpaque(node) }
  }

  func isObject(at index: CInt) -> Bool {
    switch L.type(at: index) {
    case .table, .userdata: true
    default: false
    }
  }
}
