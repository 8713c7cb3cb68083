/// Makes slots, and decides which writes they want to be notified of.
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

  /// How often a slot began to want something; in memory that a bridge without Swift can read.
  package var armings: UnsafeMutablePointer<UInt64> { state.quiet.armings }

  /// A new slot of `node`, in its list; `key` is the kind's to use.
  package func make(on node: NodeRef, key: Int, isEvery: Bool = false) -> SlotRef {
    let slot = records.make(Slot(wants: 0, isEvery: isEvery, node: node, key: key))
    if isEvery {
      node.pointee.every = slot
    } else {
      node.pointee.slots.add(slot)
    }
    return slot
  }

  /// Takes back a slot that was just made: its kind could not register it.
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

  /// Makes `slot` quiet: writes of its key are not reported until a watcher was called, but those
  /// that `wants` says.
  func makeQuiet(_ slot: SlotRef, wants: UInt8) {
    if !recording.isOn { state.quiet.add(slot, wants: wants) }
  }

  @inline(__always)
  func arm(_ slot: SlotRef) { state.quiet.arm(slot, isRecording: recording.isOn) }

  /// Arms all quiet slots, as what a watcher watches may be quiet, and has to be reported again
  /// once the watcher is called.
  @inline(__always)
  package func rearmQuiet() {
    if !state.quiet.isEmpty { rearm() }
  }

  private func rearm() {
    while let slot = state.quiet.take() {
      if slot.pointee.isDead { records.end(slot) } else { arm(slot) }
    }
  }

  /// Arms every slot: the first recorder was added, or the last removed.
  func rearmEverything() {
    nodes.forEach { node in node.forEachSlot { arm($0) } }
  }

  /// Frees the slots that are dead and still in the list: the engine goes.
  func free() {
    while let slot = state.quiet.take() { if slot.pointee.isDead { records.end(slot) } }
    state.quiet.free()
  }
}
