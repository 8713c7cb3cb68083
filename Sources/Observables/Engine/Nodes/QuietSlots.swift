/// Slots that are quiet because all their watchers are pending.
struct QuietSlots {
  private var slots = RawList<SlotRef>()
  /// Counts how often any slot was armed.
  ///
  /// Collections and C remember this number together with "none of my keys has to report writes",
  /// which holds until the number changes. C reads it, so it has a separate allocation.
  let armings: UnsafeMutablePointer<UInt64>

  init() {
    armings = .allocate(capacity: 1)
    armings.initialize(to: 1)
  }

  @inline(__always) var isEmpty: Bool { slots.isEmpty }

  /// Makes `slot` quiet: until it is armed, only the writes in `wants` are reported.
  mutating func add(_ slot: SlotRef, wants: UInt8) {
    slot.pointee.wants = wants
    if !slot.pointee.isQuiet {
      slot.pointee.isQuiet = true
      slots.append(slot)
    }
  }

  /// Arms `slot` for the writes that its watchers need; for all writes while there is a recorder.
  @inline(__always)
  func arm(_ slot: SlotRef, isRecording: Bool) {
    var wants = slot.needs
    if isRecording, wants != 0 { wants |= Slot.Wants.values | Slot.Wants.writes }
    slot.pointee.wants = wants
    armings.pointee &+= 1
  }

  /// Removes a slot, which the caller arms, or frees if it is dead.
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
