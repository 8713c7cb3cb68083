/// Lazy properties: records like those of watchers, linked to what they depend on, whose own key
/// has a slot with the links of their dependents.
///
/// Flags are pushed and values pulled. A write marks its dependents as invalid, and their
/// dependents, and stops where these are marked already; nothing is computed. Settling brings the
/// properties up to date that are read or watched.
extension Engine {
  /// Makes the key of `slot` a lazy property, which is invalid to begin with.
  ///
  /// `flags` are among `tracking`, `uncached`, `mirrored` and `known`; `wasElement`: the key had a
  /// value until now, which was an element of a collection (C9).
  ///
  /// - Complexity: O(links of the slot), and those of the whole object for an element.
  package func makeLazy(
    _ slot: SlotRef, receiver: Receiver, flags: WatcherRecord.Flags, context: Int = 0,
    wasElement: Bool = false
  ) -> WatcherRef {
    var flags = flags.union(.lazy)
    if !flags.contains(.uncached) { flags.insert(.unnotified) }
    let lazy = makeWatcher(
      root: slot.pointee.node, receiver: receiver, flags: flags, context: context)
    if !flags.contains(.uncached) { lazy.pointee.status = .stale }
    lazy.slot = slot
    slot.pointee.lazy = lazy
    slot.pointee.isValid = false
    records.forEach(from: slot.pointee.links.first) { adapt($0, to: slot) }
    if wasElement { invalidateElements(of: slot.pointee.node, lazy) }
    if slot.isLinked {
      if flags.contains(.uncached) { _ = makeWires(of: lazy) }
      invalidSlots.add(slot)
    }
    spread(nil)
    comparisons.call()
    return lazy
  }

  /// The declaration is taken back, or the object is gone: its key is an ordinary one again.
  func forgetLazy(_ lazy: WatcherRef) {
    guard let slot = lazy.slot else { return }
    lazy.slot = nil
    slot.pointee.lazy = nil
    slot.pointee.isValid = false
    computations.forget(lazy)
    records.forEach(from: slot.pointee.links.first) { link in
      if !slot.pointee.node.isDead { scheduleIfUndelivered(of: lazy, at: link) }
      adapt(link, to: slot)
    }
    if slot.pointee.node.isDead { return }
    unobserveWhenIdle(slot.pointee.node)
  }

  /// Schedules the watcher of a link to which the present value of the property was not delivered
  /// yet: which value was delivered is forgotten with the declaration.
  private func scheduleIfUndelivered(of lazy: WatcherRef, at link: LinkRef) {
    let watcher = link.pointee.wire.pointee.watcher
    guard link.kind != .element, !link.isBelowOperator,
      watcher.pointee.flags.isDisjoint(with: [.lazy, .immediate]), watcher.pointee.isActive,
      link.pointee.hasVersion, link.pointee.version != lazy.version
    else { return }
    mark(watcher, .stale, by: nil)
  }

  /// Sets what a write of the key of a link does: the key may be a lazy property.
  func adapt(_ link: LinkRef, to slot: SlotRef) {
    if link.state != nil || link.kind == .element { return }
    let wire = link.pointee.wire
    let lazy = slot.pointee.lazy
    link.pointee.version = lazy?.version ?? Link.noVersion
    // Below an operator a link is one step of a computation, and keeps its effect.
    if link.isBelowOperator { return }
    if lazy == nil {
      link.pointee.effect = link.pointee.isTerminal ? .notify : [.notify, .stale]
    } else {
      link.pointee.effect = link.pointee.isTerminal ? .dirty : [.dirty, .stale]
      // When the reader is computed, it notes the version that it has used.
      if wire.pointee.watcher.pointee.flags.contains(.lazy) { markDirty(link) }
    }
  }

  // MARK: By the program

  /// Calls the watchers of a property, whatever its value: the program says that something inside
  /// of the value changed.
  package func trigger(_ lazy: WatcherRef) {
    if lazy.slot == nil { return }
    records.hold { notifyDependents(of: lazy) }
    comparisons.call()
  }

  /// Makes a property invalid, whatever it depends on.
  ///
  /// Does nothing where it is invalid already.
  package func invalidate(explicitly lazy: WatcherRef, by change: Change? = nil) {
    if waitingNodes.hasDead { buryDead() }
    var change = change
    if isRecording, let slot = lazy.slot {
      let known = change ?? Change(at: slot, isSame: false)
      recorder?.invalidating(known)
      change = known
    }
    if lazy.isComputing {
      computations.disturb(lazy, by: .invalidation)
      return
    }
    invalidate(lazy, .stale, by: change)
    spread(change)
    comparisons.call()
  }

  /// A program is about to assign the value of a property; `overridden` is called next.
  package func willAssign(_ lazy: WatcherRef) {
    willReplaceValue(of: lazy)
    if isRecording { recorder?.replacing(lazy) }
    guard let slot = lazy.slot,
      slot.pointee.eager + (slot.pointee.node.pointee.every?.pointee.eager ?? 0) > 0
    else { return }
    comparisons.beginAssigning(lazy)
  }

  /// A program assigned the value of a property; `computation` says how it compares with the one
  /// before (Z5).
  ///
  /// `isAdopted` is for a value that the property had before the engine knew it.
  package func overridden(
    _ lazy: WatcherRef, _ computation: Computation, by change: Change? = nil,
    isAdopted: Bool = false
  ) {
    if waitingNodes.hasDead { buryDead() }
    if isRecording, !isAdopted, let slot = lazy.slot {
      if case .same = computation {
        recorder?.wrote(Change(at: slot, isSame: true))
      } else {
        recorder?.wrote(change ?? Change(at: slot, isSame: false))
      }
    }
    defer { comparisons.endAssigning() }
    records.hold {
      let (flags, status) = (lazy.pointee.flags, lazy.pointee.status)
      keep(computation, of: lazy, isAssigned: true)
      lazy.lazyState.pointee.isAssigned = true
      adoptVersions(of: lazy)
      // The property has to be notified by what its declared paths lead to now, though nothing is
      // computed.
      if !flags.contains(.tracking) { _ = makeWires(of: lazy) }
      guard rewire(lazy) else { return }
      awaitInvalidation(of: lazy)
      guard lazy.pointee.isActive, let slot = lazy.slot else { return }
      rearmQuietSlots()
      if case .same = computation { return }
      // Where the property had become invalid, its dependents were notified then; not so where it
      // never had a value.
      if status == .check || status == .stale, flags.contains(.known),
        !flags.contains(.unnotified)
      {
        return
      }
      invalidSlots.add(slot)
      lazy.pointee.flags.insert(.notifying)
      spread(change)
      lazy.pointee.flags.remove(.notifying)
      adoptVersions(of: lazy)
      comparisons.call()
    }
  }

  /// Has `lazy` notified when something that it depends on changes: it is valid, though that is
  /// not.
  private func awaitInvalidation(of lazy: WatcherRef) {
    var work = [lazy.identity]
    while let name = work.popLast() {
      guard let next = watcher(name) else { continue }
      // A property that was never computed has no links yet.
      if !next.pointee.flags.contains(.tracking) { _ = makeWires(of: next) }
      // The links of one whose paths lead to other objects than when it was computed have to
      // follow.
      guard let next = watcher(name), rewire(next) else { continue }
      forEachWire(of: next) { wire in
        for link in wire.links {
          guard let other = link.pointee.slot?.pointee.lazy, other.isOutdated else { continue }
          let flags = other.pointee.flags
          if flags.contains(.unnotified), !flags.isDisjoint(with: [.wired, .tracking]) { continue }
          other.pointee.flags.insert(.unnotified)
          work.append(other.identity)
        }
      }
    }
  }

  /// Makes a property valid, and gives it the version that belongs to a value which was computed or
  /// assigned.
  func keep(_ computation: Computation, of lazy: WatcherRef, isAssigned: Bool = false) {
    let isFirst =
      !isAssigned && lazy.version == 0 && !lazy.pointee.flags.contains(.known)
    lazy.pointee.status = .clean
    lazy.pointee.flags.remove(.unnotified)
    lazy.pointee.flags.insert(.known)
    lazy.slot?.pointee.isValid = true
    switch computation {
    case .changed: lazy.version = deliveredValues.version(of: lazy) ?? nextVersion()
    case .restored: lazy.version = deliveredValues.restoredVersion(of: lazy)
    case .same, .failed, .waiting, .finished: break
    }
    if isFirst { lazy.lazyState.pointee.firstVersion = lazy.version }
  }

  func nextVersion() -> Int { versions.next() }
}

extension LinkRef {
  /// True for a link behind an operator on its path: its value is a part of the operator's.
  var isBelowOperator: Bool {
    pointee.wire.pointee.path._withUnsafeGuaranteedRef { Int(pointee.step) > $0.aggregateStep }
  }

  /// True for a link that stands for every property of its object: `*` at the end of a path, or
  /// what a tracked computation went through.
  var isWhole: Bool {
    guard pointee.isTerminal, state == nil else { return false }
    switch pointee.wire.pointee.use {
    case .tracking: return pointee.effect.contains(.notify)
    case .followingStored: return false
    case .following, .editing:
      // Below `**` only what is stored counts.
      return kind == .every && !isBelowDeep
    }
  }
}
