internal import CLua
internal import Lua
internal import Observables

/// What the engine is told of tables.
extension LuaHost {
  /// Keeps an observed table alive until its watchers were called (L2); false where the collector
  /// has given it up already (L8).
  func anchor(_ node: NodeRef) -> Bool {
    let L = state.pointer
    if let write = writing, write.pointee.node == TableKind.table(node), frame == clua_frame(L) {
      lua_pushvalue(L, write.pointee.table)
    } else {
      clua_node_pushtable(L, TableKind.table(node))
      if lua_type(L, -1) != LUA_TTABLE {
        clua_pop(L, 1)
        return false
      }
    }
    node.pointee.context = anchors.keep(L)
    return true
  }

  /// Runs what a C function asks for, as something that happens in the coroutine `L`, at a write or
  /// at none.
  @inline(__always)
  func entered<Result, Failure: Error>(
    _ L: OpaquePointer, at write: UnsafePointer<clua_write>? = nil,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outer = (state.pointer, writing, frame)
    (state.pointer, writing) = (L, write)
    if write != nil { frame = clua_frame(L) }
    defer { (state.pointer, writing, frame) = outer }
    return try body()
  }

  func release(_ node: NodeRef) {
    anchors.release(node.pointee.context, state.pointer)
    node.pointee.context = 0
  }

  /// A write that C heard and somebody wants to know of.
  func written(_ L: OpaquePointer, _ write: UnsafePointer<clua_write>) {
    guard let owner = clua_node_owner(write.pointee.node) else { return }
    let node = owner.assumingMemoryBound(to: Node.self)
    entered(L, at: write) {
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
    }
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
