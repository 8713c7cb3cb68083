/// The observed keys of a dictionary, or members of a set.
struct KeyedSlots<Key: Hashable> {
  private var slots: [Key: SlotRef] = [:]
  /// The keys, by the number in their slot.
  private var keys: [Int: Key] = [:]
  private var last = 0

  subscript(key: Key) -> SlotRef? { slots[key] }

  func key(of slot: SlotRef) -> Key? { keys[slot.pointee.key] }

  mutating func slot(of key: Key, on node: NodeRef) -> SlotRef {
    if let slot = slots[key] { return slot }
    last += 1
    let slot = node.engine.slots.make(on: node, key: last)
    slots[key] = slot
    keys[last] = key
    return slot
  }

  mutating func forget(_ slot: SlotRef) {
    if let key = keys.removeValue(forKey: slot.pointee.key) { slots[key] = nil }
  }
}

/// One key that a mutation changed.
struct KeyChange<Key: Hashable> {
  let key: Key
  let old: Any?
  let new: Any?
  let isSame: Bool
}

extension NodeRef {
  /// Reports one event for keys of a dictionary or members of a set, and for `*`.
  func report<Key>(_ changes: [KeyChange<Key>], _ slots: KeyedSlots<Key>) {
    let every = pointee.every
    let wantsEvery = every?.pointee.wants ?? 0
    var heard = changes.filter { change in
      let wants = wantsEvery | (slots[change.key]?.pointee.wants ?? 0)
      return wants != 0 && (!change.isSame || wants & Slot.Wants.writes != 0)
    }
    if heard.isEmpty { return }
    // `*` gets the first value: a change, unless all keys were written with the values they had.
    if let first = heard.firstIndex(where: { !$0.isSame }) { heard.swapAt(0, first) }
    var values = heard.map {
      ObservedValues(
        key: .value(AnyHashable($0.key)), old: $0.old.flatMap { flattened($0) },
        new: $0.new.flatMap { flattened($0) })
    }
    if wantsEvery & Slot.Wants.objects != 0 {
      values[0].also = values.dropFirst().compactMap(\.new)
    }
    values.withUnsafeBufferPointer { values in
      engine.writes.report(
        heard.indices.map { index in
          Change(
            node: self, slot: slots[heard[index].key], every: index == 0 ? every : nil,
            isSame: heard[index].isSame,
            values: UnsafeRawPointer(values.baseAddress! + index))
        })
    }
  }
}
