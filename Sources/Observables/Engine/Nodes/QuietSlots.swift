/// Slots that are quiet because all their watchers are pending.
struct QuietSlots {
  private var slots = RawList<SlotRef>()
  /// How often any slot was armed.
  ///
  /// Collections and C remember this number together with "none of my keys has to report writes",
  /// which holds as long as the number is the same. It lies in memory of its own: C reads it.
  let armings: UnsafeMutablePointer<UInt64>

  init() {
    armings = .allocate(capacity: 1)
    armings.initialize(to: 1)
  }

  @inline(__always) var isEmpty: Bool { slots.isEmpty }

  /// Makes `slot` quiet: writes of its key are not reported until it is armed, but those that
  /// `wants` says.
  mutating func add(_ slot: SlotRef, wants: UInt8) {
    slot.pointee.wants = wants
    if !slot.pointee.isQuiet {
      slot.pointee.isQuiet = true
      slots.append(slot)
    }
  }

  /// Has writes reported that the watchers of `slot` need; all of them while there is a recorder.
  @inline(__always)
  func arm(_ slot: SlotRef, isRecording: Bool) {
    var wants = slot.needs
    if isRecording, wants != 0 { wants |= Slot.Wants.values | Slot.Wants.writes }
    slot.pointee.wants = wants
    armings.pointee &+= 1
  }

  /// Takes a slot out, which is to be armed, or to be freed where it is dead.
  mutating func take() -> SlotRef? {
    guard let slot = slots.popLast() else { return nil }
    slot.pointee.isQuiet = false
    return slot
  }

  mutating func free() {
    slots.free()
    armings.deallocate()
  }
}
