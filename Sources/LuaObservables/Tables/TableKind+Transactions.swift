internal import CTables
internal import Lua
internal import Observables

/// Answers of tables to transactions (S8).
extension TableKind {
  /// Pushes a new table with a table's values from before the write under way. [-0, +1, -]
  func pushFormerContents(_ change: Change, to L: LuaStack) throws(LuaError) {
    guard let values = change.values else {
      throw LuaError("a write does not say which values it replaced (this is a bug in obs-lua)")
    }
    try state.check(
      clua_try_former(L.pointer, values.assumingMemoryBound(to: clua_write.self)), L)
  }

  /// Calls `visit` with the objects that the write under way has stored; false if these are
  /// unknown.
  func visitArrivals(_ change: Change, _ visit: (NodeRef) -> Void) -> Bool {
    guard let write = change.values?.assumingMemoryBound(to: clua_write.self).pointee,
      hasRoom(L)
    else { return false }
    let L = L
    func visitTop() {
      if case .node(let node) = observable(L) { visit(node) }
      L.pop()
    }
    // A value under a key that is an object is not below the table (X1).
    let isMember = clua_node_kind(TableKind.table(change.node)) == CLUA_KIND_SET
    if write.key > 0, !isMember, isObject(at: write.key) { return true }
    if write.new_ > 0 {
      L.pushCopy(at: write.new_)
      visitTop()
    }
    for place in places(of: write) {
      L.rawGet(index: place, at: write.store)
      visitTop()
    }
    return true
  }

  /// The positions at which an edit may have stored several elements.
  private func places(of write: clua_write) -> Range<lua_Integer> {
    switch write.edit {
    case CLUA_EDIT_APPEND, CLUA_EDIT_RANGE: write.at..<write.at + write.count
    case CLUA_EDIT_WHOLE where !write.permutation:
      1..<lua_Integer(L.rawLength(at: write.store)) + 1
    default: 0..<0
    }
  }
}
