/// Marks lazy properties and their dependents as invalid.
///
/// A property that becomes invalid is put on a list. For each property on the list, its dependents
/// are marked, and dependent properties are put on the list in turn. So there is no recursion, and
/// as an already invalid property is not put on the list again, each is visited once. Nothing is
/// computed.
package struct Invalidation: Room {
  package let rooms: Rooms

  struct State {
    /// Slots of lazy properties that became invalid in the write under way, until their dependents
    /// were marked.
    fileprivate var slots = RawList<SlotRef>()
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.invalidation) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.invalidation)
    }
  }

  /// Marks `lazy` as invalid, as one of its dependencies has changed or may have; the caller calls
  /// `spread` next.
  func invalidate(
    _ lazy: WatcherRef, _ status: WatcherRecord.Status, by change: Change? = nil
  ) {
    let traits = lazy.pointee.traits
    if lazy.isComputing {
      disturb(lazy, by: change)
      return
    }
    // In a cycle of properties, invalidation returns to the property where it began.
    guard !lazy.lazyState.pointee.isNotifying, let slot = lazy.slot else { return }
    if traits.contains(.uncached) {
      if status == .stale { lazies.announce(lazy) }
      state.slots.append(slot)
      return
    }
    guard makeInvalid(lazy, at: slot, status) else { return }
    if recording.isOn, let change { recording.recorder?.invalidated(lazy, by: change) }
    if slot.isLinked || slot.pointee.node.pointee.every != nil {
      state.slots.append(slot)
    }
  }

  /// Makes a lazy property invalid; false if its dependents were already notified.
  @inline(__always)
  private func makeInvalid(
    _ lazy: WatcherRef, at slot: SlotRef, _ status: WatcherRecord.Status
  ) -> Bool {
    let (before, traits) = (lazy.pointee.status, lazy.pointee.traits)
    transactions.note(lazy)
    // An assigned value ends, whatever the values of computed dependencies (Z5).
    lazy.pointee.raise(to: lazy.isAssigned ? .stale : status)
    // The dependents of an invalid property were notified. The dependents of a failed one were not,
    // and have to learn that it may be computed now.
    if before == .check || before == .stale, !lazy.lazyState.pointee.isUnnotified { return false }
    lazy.lazyState.pointee.isUnnotified = false
    slot.pointee.isValid = false
    if traits.contains(.mirrored), before == .clean {
      lazy.pointee.receiver._withUnsafeGuaranteedRef { $0.invalidated(lazy) }
    }
    return true
  }

  private func disturb(_ lazy: WatcherRef, by change: Change?) {
    if lazy.lazyState.pointee.flaw == .disturbance { return }
    let slot = change.flatMap { $0.slot ?? $0.every }
    computing.disturb(
      lazy, by: slot.map { .write($0.pointee.node.kind.name(of: $0)) })
  }

  /// Marks links that count or go through the elements of an object, as one of its elements is now
  /// a lazy property.
  func invalidateElements(of node: NodeRef, _ lazy: WatcherRef) {
    if node.pointee.journalReaders > 0 { nodes.noteJournal(of: node) }
    records.forEach(from: node.pointee.every?.pointee.links.first) { link in
      // For a link to the whole object the property is the same as before.
      if link.isWhole || link.pointee.effect.isDisjoint(with: [.stale, .dirty]) { return }
      if link.pointee.effect.contains(.stale) { wiring.markStale(link) }
      noteInvalid(link, lazy, nil)
    }
  }

  /// Adds the slot of a property that became invalid by other means than `invalidate`; the caller
  /// calls `spread` next.
  func add(_ slot: SlotRef) { state.slots.append(slot) }

  /// Marks the dependents of the properties that became invalid.
  @inline(__always)
  func spread(_ change: Change?) {
    if !state.slots.isEmpty { spreadAll(change) }
  }

  private func spreadAll(_ change: Change?) {
    var notified: Set<UInt64>?
    while let slot = state.slots.popLast() {
      guard let lazy = slot.pointee.lazy else { continue }
      if lazy.pointee.traits.contains(.uncached) {
        // Properties without a value are never marked: only this set ends a walk around a cycle.
        if notified == nil { notified = [] }
        guard notified!.insert(lazy.pointee.id).inserted else { continue }
        notifyReaders(of: slot, lazy, change, toAll: false)
        continue
      }
      forEachReader(of: lazy, at: slot) { noteInvalid($0, lazy, change) }
    }
  }

  /// Marks the dependents of a property that has a value after a failure, although nothing has
  /// changed that it depends on; `comparisons.call` follows.
  func noteRecovery(of lazy: WatcherRef) {
    guard let slot = lazy.slot else { return }
    lazy.lazyState.pointee.isNotifying = true
    defer { lazy.lazyState.pointee.isNotifying = false }
    forEachReader(of: lazy, at: slot) { link in
      let watcher = link.pointee.wire.pointee.watcher
      // Getters that are running read the value.
      if watcher.pointee.traits.contains(.lazy), watcher.isUnderWay { return }
      noteInvalid(link, lazy, nil)
    }
    spread(nil)
  }

  /// Visits the links for which the value of a lazy property counts.
  @inline(__always)
  private func forEachReader(
    of lazy: WatcherRef, at slot: SlotRef, _ visit: (LinkRef) -> Void
  ) {
    records.forEach(from: slot.pointee.links.first, visit)
    records.forEach(from: slot.pointee.node.pointee.every?.pointee.links.first) { link in
      guard link.isWhole else { return }
      // The property was invalid when the link was made: the value computed since then counts as
      // the former value.
      let version = lazy.version(for: link.pointee.wire.pointee.watcher)
      if !link.pointee.isDirty, lazy.isOutdated, link.pointee.version ?? .min < version {
        link.pointee.version = version
      }
      visit(link)
    }
  }

  /// Notifies the dependents of a property without a stored value, because the program says that
  /// its value has changed.
  func notifyDependents(of lazy: WatcherRef) {
    guard let slot = lazy.slot else { return }
    lazies.announce(lazy)
    notifyReaders(of: slot, lazy, nil, toAll: true)
    spread(nil)
  }

  /// Marks a link whose lazy property may have a different value, and notifies its watcher.
  private func noteInvalid(_ link: LinkRef, _ lazy: WatcherRef, _ change: Change?) {
    let watcher = link.pointee.wire.pointee.watcher
    let traits = watcher.pointee.traits
    if traits.contains(.covering) { return }
    wiring.markDirty(link)
    if traits.contains(.lazy) {
      invalidate(watcher, .check, by: change)
    } else if traits.contains(.immediate) {
      comparisons.note(link, lazy)
    } else {
      delivery.mark(watcher, .check, by: change)
    }
  }

  /// Notifies the dependents of a property without a stored value that one of its dependencies has
  /// changed or, if computed, may have changed.
  ///
  /// Watchers of all properties are notified only if the program announced the change (`toAll`):
  /// for them the property never has a value (Z3).
  private func notifyReaders(
    of slot: SlotRef, _ lazy: WatcherRef, _ change: Change?, toAll: Bool
  ) {
    let every = toAll ? slot.pointee.node.pointee.every : nil
    for slot in [slot, every].compactMap({ $0 }) {
      records.forEach(from: slot.pointee.links.first) { link in
        if slot.pointee.isEvery, !link.isWhole { return }
        let watcher = link.pointee.wire.pointee.watcher
        let traits = watcher.pointee.traits
        if traits.contains(.covering) { return }
        // Changes that a getter makes while the path of a watcher is followed count for the next
        // turn.
        if !watcher.pointee.flags.contains(.wiring) || traits.contains(.immediate) {
          if link.pointee.effect.contains(.stale) { wiring.markStale(link) }
          wiring.markDirty(link)
        }
        let known = link.pointee.version ?? .min
        let isDifferent =
          !link.isBelowOperator
          && (slot.pointee.isEvery ? lazy.version > known : lazy.version != known)
        if traits.contains(.lazy) {
          invalidate(watcher, isDifferent ? .stale : .check, by: change)
        } else if traits.contains(.immediate) {
          comparisons.note(link, lazy)
        } else {
          delivery.mark(watcher, isDifferent ? .stale : .check, by: change)
        }
      }
    }
  }

  // MARK: Waiting writes

  /// Makes properties invalid that depend on a key that was written while no code of the program
  /// could run.
  ///
  /// `Writes.report` follows later and notifies the watchers. Until then these properties are
  /// marked `isUnnotified`.
  ///
  /// - Complexity: O(links of the key, and of the properties that become invalid).
  package func outdate(_ change: Change) {
    var reached: [WatcherRef] = []
    for slot in [change.slot, change.every] {
      records.forEach(from: slot?.pointee.links.first) { link in
        let effect = link.pointee.effect
        if effect.contains(.objects), !change.node.kind.movesObjects(change) { return }
        outdateReader(at: link, effect, effect.status, &reached)
      }
    }
    var index = 0
    while index < reached.count {
      let lazy = reached[index]
      index += 1
      guard let slot = lazy.slot else { continue }
      if lazy.pointee.traits.contains(.uncached) {
        // Its readers have no value to compare.
        records.forEach(from: slot.pointee.links.first) { link in
          outdateReader(at: link, link.pointee.effect.union(.dirty), .stale, &reached)
        }
      } else {
        forEachReader(of: lazy, at: slot) { link in
          let traits = link.pointee.wire.pointee.watcher.pointee.traits
          if traits.contains(.covering) { return }
          wiring.markDirty(link)
          if traits.contains(.immediate) { comparisons.note(link, lazy, isEarly: true) }
          outdateReader(at: link, .dirty, .check, &reached)
        }
      }
    }
    for lazy in reached {
      lazy.lazyState.pointee.isNotifying = false
      if !lazy.pointee.traits.contains(.uncached) { lazy.lazyState.pointee.isUnnotified = true }
    }
  }

  /// Makes the lazy property that owns a link invalid, if one does, and appends it to `reached` the
  /// first time.
  private func outdateReader(
    at link: LinkRef, _ effect: Link.Effect, _ status: WatcherRecord.Status,
    _ reached: inout [WatcherRef]
  ) {
    let lazy = link.pointee.wire.pointee.watcher
    let traits = lazy.pointee.traits
    guard traits.contains(.lazy), !lazy.lazyState.pointee.isNotifying, !lazy.isComputing,
      let slot = lazy.slot
    else { return }
    if effect.contains(.stale) { wiring.markStale(link) }
    if effect.contains(.dirty) { wiring.markDirty(link) }
    if traits.contains(.uncached) {
      lazy.lazyState.pointee.isNotifying = true
    } else {
      // It is reached only once: `outdate` sets `isUnnotified` again at its end.
      guard makeInvalid(lazy, at: slot, status) else { return }
    }
    reached.append(lazy)
  }

  func free() { state.slots.free() }
}
