/// Makes slots, and decides which of their writes are reported.
package struct Slots: Room {
  package let rooms: Rooms

  struct State {
    fileprivate var quiet = QuietSlots()
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.slots) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.slots)
    }
  }

  /// Counts how often any slot was armed; in memory that a bridge without Swift can read.
  package var armings: UnsafeMutablePointer<UInt64> { state.quiet.armings }

  /// Makes a slot of `node` and adds it to the node's list; `key` is for the kind's use.
  package func make(on node: NodeRef, key: Int, isEvery: Bool = false) -> SlotRef {
    let slot = records.make(Slot(wants: 0, isEvery: isEvery, node: node, key: key))
    if isEvery {
      node.pointee.every = slot
    } else {
      node.pointee.slots.add(slot)
    }
    return slot
  }

  /// Discards a slot that was just made, because its kind could not register it.
  package func discard(_ slot: SlotRef) {
    let node = slot.pointee.node
    if slot.pointee.isEvery {
      node.pointee.every = nil
      free(slot)
    } else {
      node.pointee.slots.removeAll(where: { $0 == slot }, free)
    }
    nodes.unobserveWhenIdle(node)
  }

  /// Ends a slot that is in no list of its node.
  func free(_ slot: SlotRef) {
    slot.pointee.isDead = true
    if !slot.pointee.isQuiet { records.end(slot) }
  }

  // MARK: Quiet slots

  /// Makes `slot` quiet: until a watcher was called, only the writes in `wants` are reported.
  func makeQuiet(_ slot: SlotRef, wants: UInt8) {
    if !recording.isOn { state.quiet.add(slot, wants: wants) }
  }

  @inline(__always)
  func arm(_ slot: SlotRef) { state.quiet.arm(slot, isRecording: recording.isOn) }

  /// Arms all quiet slots: a watcher that is called needs reports again from any quiet slot that it
  /// watches.
  @inline(__always)
  package func rearmQuiet() {
    if !state.quiet.isEmpty { rearm() }
  }

  private func rearm() {
    while let slot = state.quiet.take() {
      if slot.pointee.isDead { records.end(slot) } else { arm(slot) }
    }
  }

  /// Arms every slot, when the first recorder was added or the last one removed.
  func rearmEverything() {
    nodes.forEach { node in node.forEachSlot { arm($0) } }
  }

  /// Frees dead slots that are still in the list, when the engine is deinitialized.
  func free() {
    while let slot = state.quiet.take() { if slot.pointee.isDead { records.end(slot) } }
    state.quiet.free()
  }
}
