/// Slots of lazy properties that became invalid in the write under way, until what depends on them
/// was marked.
struct InvalidSlots {
  private var slots = RawList<SlotRef>()

  @inline(__always) var isEmpty: Bool { slots.isEmpty }

  @inline(__always)
  mutating func add(_ slot: SlotRef) { slots.append(slot) }

  @inline(__always)
  mutating func take() -> SlotRef? { slots.popLast() }

  mutating func free() { slots.free() }
}
