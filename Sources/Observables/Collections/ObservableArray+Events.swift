/// Reports of mutations: an edit in the journal, and one event for `*` and the slots whose element
/// changed (C3).
extension ObservableArray {
  @usableFromInline func inserted(_ count: Int, at index: Int) {
    if count == 0 { return }
    if journal != nil {
      for place in index..<index + count { journal!.record(.insert(storage[place], at: place)) }
    }
    report(
      index..<storage.count, putIn: index..<index + count,
      steps: { step in
        for place in index..<index + count { step("insert", place + 1, self.recorded(at: place)) }
      }
    ) {
      $0 < index ? self.element($0) : self.element($0 + count)
    }
  }

  @usableFromInline func appended(_ count: Int) {
    if isHeard { inserted(count, at: storage.count - count) }
  }

  @usableFromInline func removed(_ elements: [Element], at index: Int) {
    if journal != nil {
      for element in elements { journal!.record(.remove(element, at: index)) }
    }
    report(
      index..<storage.count + elements.count,
      steps: { step in
        for element in elements { step("remove", index + 1) { $0.add(value: flattened(element)) } }
      }
    ) { place in
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
    let values = ObservedValues(
      key: .index(index), old: flattened(old), new: flattened(storage[index]))
    withUnsafePointer(to: values) { values in
      node.engine.writes.report(
        Change(
          node: node, slot: slot, every: every, isSame: isSame,
          values: wants & (Slot.Wants.values | Slot.Wants.objects) == 0
            ? nil : UnsafeRawPointer(values)))
    }
  }

  @usableFromInline func swapped(_ a: Int, _ b: Int) {
    if traits.same(storage[a], storage[b]) { return }
    if journal != nil {
      journal!.record(.replace(storage[b], with: storage[a], at: a))
      journal!.record(.replace(storage[a], with: storage[b], at: b))
    }
    report(
      [Swift.min(a, b), Swift.max(a, b)],
      steps: { step in
        for place in [a, b] { step("replace", place + 1, self.recorded(at: place)) }
      }
    ) { self.element($0 == a ? b : a) }
  }

  @usableFromInline func moved(from: Int, to: Int) {
    let (traits, element) = (traits, storage[to])
    let range = Swift.min(from, to)...Swift.max(from, to)
    // If all elements of the range are the same, nothing has changed (T5).
    if storage[range].allSatisfy({ traits.same($0, element) }) { return }
    journal?.record(.move(storage[to], from: from, at: to))
    report(
      range.lowerBound..<range.upperBound + 1,
      steps: { step in
        step("remove", from + 1, self.recorded(at: to))
        step("insert", to + 1, self.recorded(at: to))
      }
    ) { place in
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
    report(
      index..<Swift.max(old.count, storage.count),
      putIn: isPermutation ? 0..<0 : index..<Swift.max(index, count),
      steps: { step in
        step("all", 0) { lines in lines.addList(of: self.storage.lazy.map { flattened($0) }) }
      }
    ) {
      old.indices.contains($0) ? old[$0] : nil
    }
  }

  /// Returns a function that adds the element at `place` to the lines of a recording.
  private func recorded(at place: Int) -> (inout RunLines) -> Void {
    { $0.add(value: self.element(place).flatMap { flattened($0) }) }
  }

  private func element(_ index: Int) -> Element? {
    index >= 0 && index < storage.count ? storage[index] : nil
  }

  /// Reports one event for the slots at `places` whose element changed, and for `*`, with the
  /// values of the first place.
  ///
  /// The elements at `new` were inserted; a recording gets the `steps`.
  ///
  /// - Complexity: O(places), at most O(observed slots), and O(1) while all their watchers are
  ///   pending.
  private func report(
    _ places: some RandomAccessCollection<Int>, putIn new: Range<Int> = 0..<0,
    steps: RunRecorder.EditSteps, from old: (Int) -> Element?
  ) {
    guard let node else { return }
    changeCount += 1
    let engine = node.engine
    let every = node.pointee.every
    let wantsEvery = every?.pointee.wants ?? 0
    var changed: [(slot: SlotRef, index: Int)] = []
    if !slots.isEmpty, quietArmings != engine.slots.armings.pointee {
      changed = changedSlots(at: places, old)
    }
    if wantsEvery == 0, changed.isEmpty { return }
    let run = engine.recording.run
    run?.beginEdit(of: node, steps)
    defer { run?.endEdit() }
    let wants = changed.reduce(wantsEvery) { $0 | $1.slot.pointee.wants }
    if wants & (Slot.Wants.values | Slot.Wants.objects) == 0 {
      if changed.isEmpty {
        engine.writes.report(
          Change(node: node, slot: nil, every: every, isSame: false, values: nil))
      } else {
        engine.writes.report(
          changed.indices.map { index in
            Change(
              node: node, slot: changed[index].slot, every: index == 0 ? every : nil,
              isSame: false, values: nil)
          })
      }
      return
    }
    // Slots are reported in order. `*` is reported for the first place.
    changed.sort { $0.index < $1.index }
    let reported = [places.first!] + changed.map(\.index)
    var values = reported.map { place in
      ObservedValues(
        key: .index(place), old: old(place).flatMap { flattened($0) },
        new: element(place).flatMap { flattened($0) })
    }
    if wantsEvery & Slot.Wants.objects != 0, traits.mayBeObservable {
      values[0].also = storage[new].dropFirst().compactMap { flattened($0) }
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
      engine.writes.report(changes)
    }
  }

  private func changedSlots(
    at places: some RandomAccessCollection<Int>, _ old: (Int) -> Element?
  ) -> [(slot: SlotRef, index: Int)] {
    let same = traits.same
    func hasChanged(_ index: Int) -> Bool {
      // The two are read separately: for a pair of them, the type would be looked up each time.
      guard let new = element(index) else { return old(index) != nil }
      guard let old = old(index) else { return true }
      return !same(old, new)
    }
    var changed: [(slot: SlotRef, index: Int)] = []
    if places.count < slots.count {
      for index in places {
        if let slot = slots[index], slot.pointee.wants != 0, hasChanged(index) {
          changed.append((slot, index))
        }
      }
      return changed
    }
    var areAllQuiet = true
    for (index, slot) in slots where slot.pointee.wants != 0 {
      areAllQuiet = false
      if places.contains(index), hasChanged(index) { changed.append((slot, index)) }
    }
    if areAllQuiet { quietArmings = node!.engine.slots.armings.pointee }
    return changed
  }
}
