internal import CTables
internal import Lua
internal import Observables

/// Reports of tables to the engine.
extension TableKind {
  /// Keeps an observed table alive until its watchers are called (L2); returns false if the
  /// collector has already given it up (L8).
  func keepTable(of node: NodeRef) -> Bool {
    let (L, table) = (state.stack, TableKind.table(node))
    clua_node_pushtable(L.pointer, table)
    if !L.isTable(at: -1) {
      L.pop()
      return false
    }
    node.pointee.context = anchors.keep(L)
    return true
  }

  func releaseTable(of node: NodeRef) {
    anchors.release(node.pointee.context, state.stack)
    node.pointee.context = 0
  }

  /// Reports a write that a slot or journal found by C wants.
  func written(_ L: LuaStack, _ write: UnsafePointer<clua_write>) {
    guard let owner = clua_node_owner(write.pointee.node) else { return }
    let node = owner.assumingMemoryBound(to: Node.self)
    calls.entered(L) {
      record(write.pointee, of: node, L)
      let isEdit = write.pointee.edit != CLUA_EDIT_NONE && !write.pointee.same
      let run = isEdit ? engine.recording.run : nil
      run?.beginEdit(of: node) { step in write.pointee.forEachStep(L, step) }
      defer { run?.endEdit() }
      if write.pointee.othercount == 0 {
        engine.writes.report(change(of: node, write))
      } else {
        var changes: [Change] = []
        changes.reserveCapacity(Int(write.pointee.othercount) + 1)
        if write.pointee.every != nil { changes.append(change(of: node, write)) }
        for index in 0..<Int(write.pointee.othercount) {
          changes.append(change(of: node, write.pointee.others + index))
        }
        engine.writes.report(changes)
      }
    }
  }

  /// Begins or ends several writes that are one operation.
  func batch(_ L: LuaStack, _ begins: Bool) {
    calls.entered(L) {
      if begins {
        engine.immediates.beginBatch()
      } else {
        engine.immediates.endBatch()
        host.recorder?.drain()
      }
    }
  }

  /// Notes a key that a C module has written, which is reported later (M1).
  func outdated(_ L: LuaStack, _ write: UnsafePointer<clua_write>) {
    guard let owner = clua_node_owner(write.pointee.node) else { return }
    calls.entered(L) {
      let change = change(of: owner.assumingMemoryBound(to: Node.self), write)
      engine.transactions.note(change)
      engine.invalidation.outdate(change)
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
}
