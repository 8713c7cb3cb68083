/// Slots that are quiet because everybody who watches them is pending.
struct QuietSlots {
  private var slots = RawList<SlotRef>()
  /// How often a slot began to want something; where a bridge without Swift can read it.
  let armings: UnsafeMutablePointer<UInt64>

  init() {
    armings = .allocate(capacity: 1)
    armings.initialize(to: 1)
  }

  @inline(__always) var isEmpty: Bool { slots.isEmpty }

  /// No watcher wants news of `slot` until it is armed.
  mutating func add(_ slot: SlotRef) {
    slot.pointee.wants = 0
    if !slot.pointee.isQuiet {
      slot.pointee.isQuiet = true
      slots.append(slot)
    }
  }

  /// Those who watch `slot` want news of it; a recorder wants all of it.
  @inline(__always)
  func arm(_ slot: SlotRef, isRecording: Bool) {
    var wants: UInt8 = slot.pointee.first == nil ? 0 : Slot.Wants.changes
    if slot.pointee.eager > 0 { wants |= Slot.Wants.values }
    if slot.pointee.choosy > 0 { wants |= Slot.Wants.writes }
    if isRecording, wants != 0 { wants |= Slot.Wants.values | Slot.Wants.writes }
    slot.pointee.wants = wants
    armings.pointee &+= 1
  }

  /// Takes one out, which is to be armed, or to be freed where it is dead.
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
