internal import CTables
internal import Lua
internal import Observables

/// What `**` asks of tables (X1).
extension TableKind {
  /// Implements `movesObjects`: scalar values lead nowhere.
  func canMoveObjects(_ change: Change) -> Bool {
    guard let values = change.values else { return true }
    let write = values.assumingMemoryBound(to: clua_write.self).pointee
    guard write.edit == CLUA_EDIT_NONE, !write.uncompared, !write.triggered else { return true }
    // Elements that an edit has moved come without values, unless their watchers want these.
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

  /// The table at an index is a leaf for `**` from the next flush on.
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
