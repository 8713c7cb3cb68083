internal import CLua
internal import Observables

extension Slot {
  /// C reads the beginning of a slot by a declaration of its own.
  static var isAsInC: Bool {
    MemoryLayout<Slot>.offset(of: \.wants) == MemoryLayout<clua_slot>.offset(of: \.wants)
      && MemoryLayout<Slot>.offset(of: \.isValid) == MemoryLayout<clua_slot>.offset(of: \.valid)
      && MemoryLayout<Slot>.offset(of: \.stamp) == MemoryLayout<clua_slot>.offset(of: \.stamp)
      && MemoryLayout<Slot>.size >= MemoryLayout<clua_slot>.size
      && Int(Wants.changes) == CLUA_WANTS_CHANGES
      && Int(Wants.writes) == CLUA_WANTS_WRITES
      && Int(Wants.values) == CLUA_WANTS_VALUES
  }
}
