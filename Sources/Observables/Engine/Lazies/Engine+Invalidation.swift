/// Lazy properties that become invalid, and what depends on them.
///
/// A property that becomes invalid is put on a list; the list is worked off, which marks what
/// depends on its members and puts that on it in turn. So there is no recursion, and as one that is
/// invalid already is not put there again, each is met once. Nothing is computed.
extension Engine {
  /// Something that `lazy` depends on changed, or may have; `spread` comes next.
  func invalidate(
    _ lazy: WatcherRef, _ status: WatcherRecord.Status, by change: Change? = nil
  ) {
    let flags = lazy.pointee.flags
    if lazy.isComputing {
      disturb(lazy, by: change)
      return
    }
    // In a ring the news comes round to where it began.
    guard !flags.contains(.notifying), let slot = lazy.slot else { return }
    if flags.contains(.uncached) {
      if status == .stale { lazy.version = nextVersion() }
      invalidSlots.add(slot)
      return
    }
    let before = lazy.pointee.status
    lazy.pointee.raise(to: status)
    // What depends on one that failed does not know that it may be computed now.
    if before == .check || before == .stale, !flags.contains(.unnotified) { return }
    lazy.pointee.flags.remove(.unnotified)
    slot.pointee.isValid = false
    if flags.contains(.mirrored), before == .clean {
      lazy.pointee.receiver._withUnsafeGuaranteedRef { $0.invalidated(lazy) }
    }
    if isRecording, let change { recorder?.invalidated(lazy, by: change) }
    if slot.pointee.first != nil || slot.pointee.node.pointee.every != nil {
      invalidSlots.add(slot)
    }
  }

  private func disturb(_ lazy: WatcherRef, by change: Change?) {
    if lazy.lazyState.pointee.flaw == .disturbance { return }
    let slot = change.flatMap { $0.slot ?? $0.every }
    computations.disturb(
      lazy, by: slot.map { .write($0.pointee.node.kind.name(of: $0)) })
  }

  /// What counts or goes through the elements of an object has lost one to a lazy property.
  func invalidateElements(of node: NodeRef, _ lazy: WatcherRef) {
    if node.pointee.journalReaders > 0 { noteJournal(of: node) }
    for link in Chain(node.pointee.every?.pointee.first) {
      // As a property it is there as before.
      if link.isWhole || link.pointee.effect.isDisjoint(with: [.stale, .dirty]) { continue }
      if link.pointee.effect.contains(.stale) { markStale(link) }
      noteInvalid(link, lazy, nil)
    }
  }

  /// Goes on to what depends on the properties that became invalid.
  @inline(__always)
  func spread(_ change: Change?) {
    if !invalidSlots.isEmpty { spreadAll(change) }
  }

  private func spreadAll(_ change: Change?) {
    var notified: Set<UInt64>?
    while let slot = invalidSlots.take() {
      guard let lazy = slot.pointee.lazy else { continue }
      if lazy.pointee.flags.contains(.uncached) {
        // Nothing stops at them but a round trip.
        if notified == nil { notified = [] }
        guard notified!.insert(lazy.pointee.id).inserted else { continue }
        notifyReaders(of: slot, lazy, change, toAll: false)
        continue
      }
      for link in Chain(slot.pointee.first) {
        noteInvalid(link, lazy, change)
      }
      for link in Chain(slot.pointee.node.pointee.every?.pointee.first) {
        guard link.isWhole else { continue }
        // It was invalid when the link was made, and is what was there once it had been computed.
        if !link.pointee.isDirty, lazy.isOutdated, link.pointee.version < lazy.version {
          link.pointee.version = lazy.version
        }
        noteInvalid(link, lazy, change)
      }
    }
  }

  /// A property without a value of its own has another one, the program says.
  func notifyDependents(of lazy: WatcherRef) {
    guard let slot = lazy.slot else { return }
    lazy.version = nextVersion()
    notifyReaders(of: slot, lazy, nil, toAll: true)
    spread(nil)
  }

  /// What a link leads to may have another value.
  private func noteInvalid(_ link: LinkRef, _ lazy: WatcherRef, _ change: Change?) {
    let watcher = link.pointee.wire.pointee.watcher
    let flags = watcher.pointee.flags
    markDirty(link)
    if flags.contains(.lazy) {
      invalidate(watcher, .check, by: change)
    } else if flags.contains(.immediate) {
      comparisons.note(link, lazy)
    } else if !watcher.pointee.isStale {
      mark(watcher, .check, by: change)
    }
  }

  /// A property without a value of its own: what it depends on changed, so it did; or may have,
  /// where that is computed.
  ///
  /// Its version is that of what it depends on. Who hears of all properties (`toAll`) is told of it
  /// by the program alone, as for them it never has a value (Z3).
  private func notifyReaders(
    of slot: SlotRef, _ lazy: WatcherRef, _ change: Change?, toAll: Bool
  ) {
    let every = toAll ? slot.pointee.node.pointee.every : nil
    for slot in [slot, every].compactMap({ $0 }) {
      for link in Chain(slot.pointee.first) {
        if slot.pointee.isEvery, !link.isWhole { continue }
        let watcher = link.pointee.wire.pointee.watcher
        let flags = watcher.pointee.flags
        // What its getter does while the path is followed is looked at in the next turn.
        if !flags.contains(.wiring) || flags.contains(.immediate) {
          if link.pointee.effect.contains(.stale) { markStale(link) }
          markDirty(link)
        }
        let known = link.pointee.version
        let isDifferent =
          !link.isBelowOperator
          && (slot.pointee.isEvery ? lazy.version > known : lazy.version != known)
        if flags.contains(.lazy) {
          invalidate(watcher, isDifferent ? .stale : .check, by: change)
        } else if flags.contains(.immediate) {
          comparisons.note(link, lazy)
        } else if !watcher.pointee.isStale {
          mark(watcher, isDifferent ? .stale : .check, by: change)
        }
      }
    }
  }
}
