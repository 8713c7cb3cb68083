internal import CTables
internal import Observables

/// The beginning of the engine's slots, which C reads as `clua_slot`: both languages share the
/// layout.
enum SlotLayout {
  /// Whether both languages declare the same layout.
  static var isShared: Bool {
    MemoryLayout<Slot>.offset(of: \.wants) == MemoryLayout<clua_slot>.offset(of: \.wants)
      && MemoryLayout<Slot>.offset(of: \.isValid) == MemoryLayout<clua_slot>.offset(of: \.valid)
      && MemoryLayout<Slot>.offset(of: \.stamp) == MemoryLayout<clua_slot>.offset(of: \.stamp)
      && MemoryLayout<Slot>.size >= MemoryLayout<clua_slot>.size
      && MemoryLayout<Slot>.alignment >= MemoryLayout<clua_slot>.alignment
      && Int(Slot.Wants.changes) == Int(CLUA_WANTS_CHANGES)
      && Int(Slot.Wants.writes) == Int(CLUA_WANTS_WRITES)
      && Int(Slot.Wants.values) == Int(CLUA_WANTS_VALUES)
  }
}
