internal import CLua
internal import Lua
internal import Observables

/// What the engine is told of tables.
extension LuaHost {
  /// Keeps an observed table alive until its watchers were called (L2).
  func anchor(_ node: NodeRef) {
    let L = state.pointer
    if let write = writing, write.pointee.node == TableKind.table(node) {
      lua_pushvalue(L, write.pointee.table)
    } else {
      clua_node_pushtable(L, TableKind.table(node))
    }
    node.pointee.context = anchors.keep(L)
  }

  func release(_ node: NodeRef) {
    anchors.release(node.pointee.context, state.pointer)
    node.pointee.context = 0
  }

  /// A write that C heard and somebody wants to know of.
  func written(_ L: OpaquePointer, _ write: UnsafePointer<clua_write>) {
    guard let owner = clua_node_owner(write.pointee.node) else { return }
    let node = owner.assumingMemoryBound(to: Node.self)
    let outer = (state.pointer, writing)
    state.pointer = L
    writing = write
    tables.record(write.pointee, of: node, L)
    if write.pointee.othercount == 0 {
      engine.written(change(of: node, write))
    } else {
      var changes: [Change] = []
      changes.reserveCapacity(Int(write.pointee.othercount) + 1)
      if write.pointee.every != nil { changes.append(change(of: node, write)) }
      for index in 0..<Int(write.pointee.othercount) {
        changes.append(change(of: node, write.pointee.others + index))
      }
      engine.written(changes)
    }
    (state.pointer, writing) = outer
  }

  @inline(__always)
  private func change(of node: NodeRef, _ write: UnsafePointer<clua_write>) -> Change {
    Change(
      node: node, slot: slot(write.pointee.slot), every: slot(write.pointee.every),
      isSame: write.pointee.same, values: UnsafeRawPointer(write))
  }

  private func slot(_ slot: UnsafeMutablePointer<clua_slot>?) -> SlotRef? {
    slot.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: Slot.self) }
  }

  /// The key at an index as `observed_keys` and reports tell it. [-0, +0, -]
  func keyName(at index: CInt, of L: OpaquePointer) -> String {
    switch lua_type(L, index) {
    case LUA_TSTRING: state.text(at: index, of: L)
    case LUA_TNUMBER:
      lua_isinteger(L, index) != 0
        ? "#\(lua_tointegerx(L, index, nil))" : "\(lua_tonumberx(L, index, nil))"
    case LUA_TBOOLEAN: lua_toboolean(L, index) != 0 ? "true" : "false"
    case LUA_TNIL: "nil"
    default:
      "\(String(cString: lua_typename(L, lua_type(L, index))))"
    }
  }
}
