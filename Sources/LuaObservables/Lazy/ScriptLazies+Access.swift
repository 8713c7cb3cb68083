internal import CTables
internal import Lua
internal import Observables

/// The callbacks of C for lazy keys: one has to be brought up to date, is assigned, or was read.
extension ScriptLazies {
  /// Computes an invalid lazy key that a script reads; returns false with the error pushed.
  func compute(_ L: LuaStack, _ slot: UnsafeMutablePointer<clua_slot>) -> Bool {
    let slot = UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self)
    return calls.entered(L) {
      readings += 1
      defer { readings -= 1 }
      // A property that was declared anew while the read waited is another one.
      var last: UInt64?
      while let lazy = slot.pointee.lazy, lazy.pointee.id != last {
        last = lazy.pointee.id
        if engine.settling.settle(lazy) { return true }
      }
      guard let lazy = slot.pointee.lazy else { return true }
      pushError(of: lazy, to: L)
      return false
    }
  }

  /// Pushes why a lazy property could not be brought up to date. [-0, +1, -]
  func pushError(of lazy: WatcherRef, to L: LuaStack) {
    if let error = engine.lazies.cycleError(of: lazy) {
      state.pushError(error, to: L)
    } else {
      clua_lazy_pusherror(L.pointer, lazy.number, true)
    }
  }

  /// Assigns a lazy key for a script: the value is on top of the stack. [-1, +0, -]
  func assign(
    _ L: LuaStack, _ slot: UnsafeMutablePointer<clua_slot>, isInvalid: Bool
  ) {
    let slot = UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self)
    guard let lazy = slot.pointee.lazy else { return L.pop() }
    calls.entered(L) {
      if isInvalid {
        L.pop()
        return engine.lazies.invalidate(explicitly: lazy, by: change(at: slot))
      }
      engine.lazies.willAssign(lazy)
      let computation: Computation
      switch clua_lazy_assign(L.pointer, lazy.number, lazy.comparison) {
      case CLUA_COMPUTED_SAME: computation = .same
      case CLUA_COMPUTED_RESTORED: computation = .restored
      default:
        keepBase(of: lazy)
        computation = .changed
      }
      engine.lazies.overridden(lazy, computation, by: change(at: slot))
    }
  }

  /// Notes that a tracked getter read something of a table: the key is on top of the stack, nil for
  /// the whole. [-1, +0, -]
  func noteRead(
    _ L: LuaStack, _ table: OpaquePointer, _ slot: UnsafeMutablePointer<clua_slot>?,
    _ reading: clua_reading
  ) {
    let height = L.height
    defer { L.height = height - 1 }
    if let slot {
      return engine.tracking.noteRead(
        UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self))
    }
    if !host.isClosed { calls.entered(L) { noteRead(L, table, reading, keyAt: height) } }
  }

  /// Notes a read of a key that has no slot yet, or of the whole table.
  private func noteRead(
    _ L: LuaStack, _ table: OpaquePointer, _ reading: clua_reading, keyAt height: CInt
  ) {
    let root = host.tables.node(of: table)
    // A property that the model of an instance declares has to be there before it is read:
    // declaring it changes the key.
    if reading == CLUA_READ_KEY { host.tables.declare(forKeyAt: height, of: table, L) }
    // Without memory the read is not noted; the allocation that failed is reported where it
    // matters.
    let made =
      reading == CLUA_READ_KEY
      ? try? host.tables.slot(forKeyAt: height, of: root, L)
      : try? host.tables.everySlot(of: root, L)
    guard let made else { return }
    engine.tracking.noteRead(made, reading == CLUA_READ_COUNT ? .count : .value)
    if !made.isLinked { engine.nodes.unobserveWhenIdle(root) }
  }

  /// Makes a change that has no values.
  func change(at slot: SlotRef) -> Change {
    let node = slot.pointee.node
    return Change(
      node: node, slot: slot, every: node.pointee.every, isSame: false, values: nil)
  }
}
