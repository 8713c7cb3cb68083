/// What a mutation tells: its edit to the journal, and one event for `*` and the slots whose element is
/// another one now (C3).
extension ObservableArray {
  @usableFromInline func inserted(_ count: Int, at index: Int) {
    if count == 0 { return }
    if journal != nil {
      for place in index..<index + count { journal!.record(.insert(storage[place], at: place)) }
    }
    report(index, from: { $0 < index ? self.element($0) : self.element($0 + count) })
  }

  @usableFromInline func appended(_ count: Int) {
    if isHeard { inserted(count, at: storage.count - count) }
  }

  @usableFromInline func removed(_ elements: [Element], at index: Int) {
    if journal != nil {
      for element in elements { journal!.record(.remove(element, at: index)) }
    }
    report(index) { place in
      if place < index { return self.element(place) }
      return place - index < elements.count
        ? elements[place - index] : self.element(place - elements.count)
    }
  }

  func replaced(_ old: Element, at index: Int) {
    let isSame = traits.same(old, storage[index])
    if !isSame { journal?.record(.replace(old, with: storage[index], at: index)) }
    guard let node else { return }
    if !isSame { changeCount += 1 }
    let (slot, every) = (slots[index], node.pointee.every)
    let wants = (slot?.pointee.wants ?? 0) | (every?.pointee.wants ?? 0)
    if wants == 0 || isSame && wants & Slot.Wants.writes == 0 { return }
    let values = ObservedValues(key: .index(index), old: old, new: storage[index])
    withUnsafePointer(to: values) { values in
      node.engine.written(
        Change(
          node: node, slot: slot, every: every, isSame: isSame,
          values: wants & Slot.Wants.values == 0 ? nil : UnsafeRawPointer(values)))
    }
  }

  @usableFromInline func swapped(_ a: Int, _ b: Int) {
    if traits.same(storage[a], storage[b]) { return }
    if journal != nil {
      journal!.record(.replace(storage[b], with: storage[a], at: a))
      journal!.record(.replace(storage[a], with: storage[b], at: b))
    }
    report(Swift.min(a, b)) {
      $0 == a ? self.element(b) : $0 == b ? self.element(a) : self.element($0)
    }
  }

  @usableFromInline func moved(from: Int, to: Int) {
    let (traits, element) = (traits, storage[to])
    let range = Swift.min(from, to)...Swift.max(from, to)
    // Among its likes nothing is another than before (T5).
    if storage[range].allSatisfy({ traits.same($0, element) }) { return }
    journal?.record(.move(storage[to], from: from, at: to))
    report(Swift.min(from, to)) { place in
      if place == from { return self.element(to) }
      if from < place, place <= to { return self.element(place - 1) }
      if to <= place, place < from { return self.element(place + 1) }
      return self.element(place)
    }
  }

  @usableFromInline func rearranged(from old: [Element], isPermutation: Bool) {
    let traits = traits
    let first = zip(old, storage).enumerated().first { !traits.same($0.element.0, $0.element.1) }
    guard
      let index = first?.offset ?? (old.count == storage.count ? nil : Swift.min(old.count, count))
    else { return }
    journal?.rearranged(from: old, isPermutation: isPermutation)
    report(index) { old.indices.contains($0) ? old[$0] : nil }
  }

  private func element(_ index: Int) -> Element? {
    storage.indices.contains(index) ? storage[index] : nil
  }

  /// One event for the slots from `first` on, which is the first that changed, and for `*`.
  ///
  /// - Complexity: O(observed slots), and O(1) while all who watch them are to be called anyway.
  private func report(_ first: Int, from old: (Int) -> Element?) {
    guard let node else { return }
    changeCount += 1
    let engine = node.engine
    let every = node.pointee.every
    let wantsEvery = every?.pointee.wants ?? 0
    var changed: [(slot: SlotRef, index: Int)] = []
    if !slots.isEmpty, quietArmings != engine.armings.pointee {
      changed = changedSlots(from: first, old)
    }
    if wantsEvery == 0, changed.isEmpty { return }
    let wants = changed.reduce(wantsEvery) { $0 | $1.slot.pointee.wants }
    if wants & Slot.Wants.values == 0 {
      if changed.isEmpty {
        engine.written(Change(node: node, slot: nil, every: every, isSame: false, values: nil))
      } else {
        engine.written(
          changed.indices.map { index in
            Change(
              node: node, slot: changed[index].slot, every: index == 0 ? every : nil,
              isSame: false, values: nil)
          })
      }
      return
    }
    // `*` is told of the first place; a slot of its own.
    let places = [first] + changed.map(\.index)
    let values = places.map { place in
      ObservedValues(
        key: .index(place), old: old(place).flatMap { flattened($0) },
        new: element(place).flatMap { flattened($0) })
    }
    values.withUnsafeBufferPointer { values in
      var changes = changed.indices.map { index in
        Change(
          node: node, slot: changed[index].slot, every: nil, isSame: false,
          values: UnsafeRawPointer(values.baseAddress! + index + 1))
      }
      if every != nil {
        changes.insert(
          Change(
            node: node, slot: nil, every: every, isSame: false,
            values: UnsafeRawPointer(values.baseAddress!)), at: 0)
      }
      engine.written(changes)
    }
  }

  private func changedSlots(
    from first: Int, _ old: (Int) -> Element?
  ) -> [(slot: SlotRef, index: Int)] {
    let traits = traits
    var changed: [(slot: SlotRef, index: Int)] = []
    var areAllQuiet = true
    var next = node?.pointee.slots
    while let slot = next {
      next = slot.pointee.next
      if slot.pointee.wants == 0 { continue }
      areAllQuiet = false
      let index = slot.pointee.key
      if index < first { continue }
      switch (old(index), element(index)) {
      case (nil, nil): continue
      case (let old?, let new?) where traits.same(old, new): continue
      default: changed.append((slot, index))
      }
    }
    if areAllQuiet { quietArmings = node!.engine.armings.pointee }
    return changed.sorted { $0.index < $1.index }
  }
}
