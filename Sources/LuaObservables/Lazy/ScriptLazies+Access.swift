internal import CTables
internal import Lua
internal import Observables

/// C's callbacks for lazy keys: they bring a key up to date, assign it, and note reads.
extension ScriptLazies {
  /// Computes an invalid lazy key that a script reads; returns false with the error pushed.
  func compute(_ L: LuaStack, _ slot: UnsafeMutablePointer<clua_slot>) -> Bool {
    let slot = UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self)
    return calls.entered(L) {
      readings += 1
      defer { readings -= 1 }
      // The getter may end the property, the table, or the host.
      return engine.records.hold {
        // If the property was declared anew while the read waited, compute the new one.
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
  }

  /// Pushes the error that kept a lazy property from being brought up to date. [-0, +1, -]
  func pushError(of lazy: WatcherRef, to L: LuaStack) {
    if let error = engine.lazies.cycleError(of: lazy) {
      state.pushError(error, to: L)
    } else {
      clua_lazy_pusherror(L.pointer, lazy.number, true)
    }
  }

  /// Prepares the assignment of an invalid lazy key by a script. [-0, +0, -]
  func prepareToAssign(_ L: LuaStack, _ slot: UnsafeMutablePointer<clua_slot>) {
    let slot = UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self)
    guard let lazy = slot.pointee.lazy else { return }
    calls.entered(L) {
      readings += 1
      defer { readings -= 1 }
      engine.lazies.prepareToAssign(lazy)
    }
  }

  /// Assigns a lazy key for a script; the value is on top of the stack. [-1, +0, -]
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

  /// Notes a read of a table by a tracked getter; the key is on top of the stack, nil for the whole
  /// table. [-1, +0, -]
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

  /// Notes a read of a key without a slot, or of the whole table.
  private func noteRead(
    _ L: LuaStack, _ table: OpaquePointer, _ reading: clua_reading, keyAt height: CInt
  ) {
    let root = host.tables.node(of: table)
    // A property that an instance's model declares has to exist before it is read: declaring it
    // changes the key.
    if reading == CLUA_READ_KEY { host.tables.declare(forKeyAt: height, of: table, L) }
    // If memory runs out, the read is not noted; other code reports the failed allocation.
    let made =
      reading == CLUA_READ_KEY
      ? try? host.tables.slot(forKeyAt: height, of: root, L)
      : try? host.tables.everySlot(of: root, L)
    guard let made else { return }
    engine.tracking.noteRead(made, reading == CLUA_READ_COUNT ? .count : .value)
    if !made.isLinked { engine.nodes.unobserveWhenIdle(root) }
  }

  /// Makes a change without values.
  func change(at slot: SlotRef) -> Change {
    let node = slot.pointee.node
    return Change(
      node: node, slot: slot, every: node.pointee.every, isSame: false, values: nil)
  }
}
