/// Why what a getter computes is no good.
enum Disturbance {
  /// It wrote to this key, which its property depends on.
  case write(String)
  /// It invalidated its property.
  case invalidation
}

/// Lazy properties: records like those of watchers, linked to what they depend on, whose own key
/// has a slot where what depends on them is linked.
///
/// Flags are pushed and values pulled. A write marks what depends on it as invalid, and what
/// depends on that, and stops where it is marked already; nothing is computed. Settling brings up
/// to date what somebody reads or watches (see `Engine+Settling`).
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
    if !flags.contains(.uncached) { flags.formUnion([.pending, .certain, .untold]) }
    let lazy = makeWatcher(
      root: slot.pointee.node, receiver: receiver, flags: flags, context: context)
    lazy.pointee.slot = slot
    slot.pointee.lazy = lazy
    slot.pointee.isValid = false
    var next = slot.pointee.first
    while let link = next {
      next = link.pointee.next
      adapt(link, to: slot)
    }
    if wasElement { doubtElements(of: slot.pointee.node, lazy) }
    if slot.pointee.first != nil {
      if flags.contains(.uncached) { _ = makeWires(of: lazy) }
      invalidated.append(slot)
    }
    if !invalidated.isEmpty { spread(nil) }
    doubts.call()
    return lazy
  }

  /// What counts or goes through the elements of an object has lost one to a lazy property.
  private func doubtElements(of node: NodeRef, _ lazy: WatcherRef) {
    if node.pointee.journalReaders > 0 { noteJournal(of: node) }
    var next = node.pointee.every?.pointee.first
    while let link = next {
      next = link.pointee.next
      // As a property it is there as before.
      if link.isWhole || link.pointee.effect.isDisjoint(with: [.stale, .dirty]) { continue }
      if link.pointee.effect.contains(.stale) { markStale(link) }
      doubt(link, lazy, nil)
    }
  }

  /// The declaration is taken back, or the object is gone: its key is an ordinary one again.
  func forgetLazy(_ lazy: WatcherRef) {
    guard let slot = lazy.pointee.slot else { return }
    lazy.pointee.slot = nil
    slot.pointee.lazy = nil
    slot.pointee.isValid = false
    disturbances[lazy.pointee.id] = nil
    var next = slot.pointee.first
    while let link = next {
      next = link.pointee.next
      if !slot.pointee.node.isDead { keepNews(of: lazy, at: link) }
      adapt(link, to: slot)
    }
    if slot.pointee.node.isDead { return }
    makeIdle(slot.pointee.node)
  }

  /// A watcher that was not told the value that the property has yet is called for it: what it was
  /// told goes with the declaration.
  private func keepNews(of lazy: WatcherRef, at link: LinkRef) {
    let watcher = link.pointee.wire.pointee.watcher
    guard link.kind != .element, !link.isBelowOperator,
      watcher.pointee.flags.isDisjoint(with: [.lazy, .immediate]), watcher.pointee.isActive,
      link.pointee.derived != Link.notDerived, link.pointee.derived != lazy.pointee.version
    else { return }
    mark(watcher, isCertain: true, by: nil)
  }

  /// What a write of the key of a link means, which may be lazy.
  func adapt(_ link: LinkRef, to slot: SlotRef) {
    if link.state != nil || link.kind == .element { return }
    let wire = link.pointee.wire
    let lazy = slot.pointee.lazy
    link.pointee.derived = lazy?.pointee.version ?? Link.notDerived
    // Below an operator it is one step of a computation.
    if link.isBelowOperator { return }
    if lazy == nil {
      link.pointee.effect = link.pointee.isTerminal ? .certain : [.certain, .stale]
    } else {
      link.pointee.effect = link.pointee.isTerminal ? .dirty : [.dirty, .stale]
      // When that is computed, the version of this one is the one that it has used.
      if wire.pointee.watcher.pointee.flags.contains(.lazy) { markDirty(link) }
    }
  }

  // MARK: Becoming invalid

  /// Something that `lazy` depends on changed, or may have.
  func invalidate(_ lazy: WatcherRef, isCertain: Bool, by change: Change? = nil) {
    let flags = lazy.pointee.flags
    if flags.contains(.computing) {
      disturb(lazy, by: change)
      return
    }
    // In a ring the news comes round to where it began.
    guard !flags.contains(.announcing), let slot = lazy.pointee.slot else { return }
    if flags.contains(.uncached) {
      if isCertain { lazy.pointee.version = nextVersion() }
      invalidated.append(slot)
      return
    }
    if isCertain { lazy.pointee.flags.insert(.certain) }
    // One that failed is invalid too, but nobody was told what has happened since.
    if flags.contains(.pending), flags.isDisjoint(with: [.failed, .untold]) { return }
    lazy.pointee.flags.insert(.pending)
    lazy.pointee.flags.subtract([.failed, .untold])
    slot.pointee.isValid = false
    if flags.contains(.mirrored), !flags.contains(.pending) {
      lazy.pointee.receiver._withUnsafeGuaranteedRef { $0.invalidated(lazy) }
    }
    if isRecording, let change { recorder?.invalidated(lazy, by: change) }
    if slot.pointee.first != nil || slot.pointee.node.pointee.every != nil {
      invalidated.append(slot)
    }
  }

  private func disturb(_ lazy: WatcherRef, by change: Change?) {
    if lazy.pointee.flags.contains(.disturbed) { return }
    lazy.pointee.flags.insert(.disturbed)
    if let change, let slot = change.slot ?? change.every {
      disturbances[lazy.pointee.id] = .write(change.node.kind.name(of: slot))
    }
  }

  /// Goes on to what depends on the properties that became invalid.
  func spread(_ change: Change?) {
    var announced: Set<UInt64>?
    while let slot = invalidated.popLast() {
      guard let lazy = slot.pointee.lazy else { continue }
      if lazy.pointee.flags.contains(.uncached) {
        // Nothing stops at them but a round trip.
        if announced == nil { announced = [] }
        guard announced!.insert(lazy.pointee.id).inserted else { continue }
        announce(slot, lazy, change)
        continue
      }
      var next = slot.pointee.first
      while let link = next {
        next = link.pointee.next
        doubt(link, lazy, change)
      }
      next = slot.pointee.node.pointee.every?.pointee.first
      while let link = next {
        next = link.pointee.next
        guard link.isWhole else { continue }
        // It was invalid when the link was made, and is what was there once it had been computed.
        if !link.pointee.isDirty, lazy.isOutdated, link.pointee.derived < lazy.pointee.version {
          link.pointee.derived = lazy.pointee.version
        }
        doubt(link, lazy, change)
      }
    }
  }

  /// What a link leads to may have another value.
  private func doubt(_ link: LinkRef, _ lazy: WatcherRef, _ change: Change?) {
    let watcher = link.pointee.wire.pointee.watcher
    let flags = watcher.pointee.flags
    markDirty(link)
    if flags.contains(.lazy) {
      invalidate(watcher, isCertain: false, by: change)
    } else if flags.contains(.immediate) {
      doubts.note(link, lazy)
    } else if !flags.contains(.certain) {
      mark(watcher, isCertain: false, by: change)
    }
  }

  /// A property without a value of its own: what it depends on changed, so it did; or may have,
  /// where that is computed.
  ///
  /// Its version is that of what it depends on. Who hears of all properties (`toAll`) is told of it
  /// by the program alone, as for them it never has a value (Z3).
  private func announce(
    _ slot: SlotRef, _ lazy: WatcherRef, _ change: Change?, toAll: Bool = false
  ) {
    let every = toAll ? slot.pointee.node.pointee.every : nil
    for slot in [slot, every].compactMap({ $0 }) {
      var next = slot.pointee.first
      while let link = next {
        next = link.pointee.next
        if slot.pointee.isEvery, !link.isWhole { continue }
        let watcher = link.pointee.wire.pointee.watcher
        let flags = watcher.pointee.flags
        // What its getter does while the path is followed is looked at in the next turn.
        if !flags.contains(.wiring) || flags.contains(.immediate) {
          if link.pointee.effect.contains(.stale) { markStale(link) }
          markDirty(link)
        }
        let known = link.pointee.derived
        let isCertain =
          !link.isBelowOperator
          && (slot.pointee.isEvery ? lazy.pointee.version > known : lazy.pointee.version != known)
        if flags.contains(.lazy) {
          invalidate(watcher, isCertain: isCertain, by: change)
        } else if flags.contains(.immediate) {
          doubts.note(link, lazy)
        } else if !flags.contains(.certain) {
          mark(watcher, isCertain: isCertain, by: change)
        }
      }
    }
  }

  // MARK: By the program

  /// Something inside of its value changed, the program says: who watches it is called, whatever it
  /// is.
  package func announce(_ lazy: WatcherRef) {
    guard let slot = lazy.pointee.slot else { return }
    records.hold {
      lazy.pointee.version = nextVersion()
      announce(slot, lazy, nil, toAll: true)
      if !invalidated.isEmpty { spread(nil) }
    }
    doubts.call()
  }

  /// Its value is to be computed anew, whatever it depends on.
  ///
  /// Harmless where it is invalid already.
  package func invalidate(explicitly lazy: WatcherRef, by change: Change? = nil) {
    if waitingNodes.hasDead { buryDead() }
    var change = change
    if isRecording, let slot = lazy.pointee.slot {
      let known = change ?? Change(at: slot, isSame: false)
      recorder?.invalidating(known)
      change = known
    }
    if lazy.pointee.flags.contains(.computing) {
      if lazy.pointee.flags.isDisjoint(with: .disturbed) {
        disturbances[lazy.pointee.id] = .invalidation
        lazy.pointee.flags.insert(.disturbed)
      }
      return
    }
    invalidate(lazy, isCertain: true, by: change)
    if !invalidated.isEmpty { spread(change) }
    doubts.call()
  }

  /// A program is about to assign its value; `overridden` comes next.
  package func willAssign(_ lazy: WatcherRef) {
    willReplaceValue(of: lazy)
    guard let slot = lazy.pointee.slot,
      slot.pointee.eager + (slot.pointee.node.pointee.every?.pointee.eager ?? 0) > 0
    else { return }
    doubts.beginAssigning(lazy)
  }

  /// A program assigned its value, which is `computation` against the one before (Z5).
  package func overridden(
    _ lazy: WatcherRef, _ computation: Computation, by change: Change? = nil
  ) {
    if waitingNodes.hasDead { buryDead() }
    if isRecording, let change {
      if case .same = computation, let slot = lazy.pointee.slot {
        recorder?.wrote(Change(at: slot, isSame: true))
      } else {
        recorder?.wrote(change)
      }
    }
    defer { doubts.endAssigning() }
    records.hold {
      let flags = lazy.pointee.flags
      keep(computation, of: lazy, isAssigned: true)
      forgetDoubts(of: lazy)
      // What its dependencies lead to now is what it has to hear from, though nothing is computed.
      if !flags.contains(.tracking) { _ = makeWires(of: lazy) }
      guard rewire(lazy) else { return }
      expectNews(of: lazy)
      guard lazy.pointee.isActive, let slot = lazy.pointee.slot else { return }
      rearmQuietSlots()
      if case .same = computation { return }
      // Where it had become invalid, what depends on it knows; nobody was told of what never had a
      // value.
      if flags.isSuperset(of: [.pending, .known]), flags.isDisjoint(with: [.failed, .untold]) {
        return
      }
      invalidated.append(slot)
      lazy.pointee.flags.insert(.announcing)
      spread(change)
      lazy.pointee.flags.remove(.announcing)
      forgetDoubts(of: lazy)
      doubts.call()
    }
  }

  /// `lazy` is valid though something that it depends on is not: it has to hear when that changes.
  private func expectNews(of lazy: WatcherRef) {
    var work = [lazy.identity]
    while let name = work.popLast() {
      guard let next = watcher(name) else { continue }
      // One that was never computed hears of nothing yet.
      if !next.pointee.flags.contains(.tracking) { _ = makeWires(of: next) }
      // Nor do those whose dependencies lead to other objects than when they were computed.
      guard let next = watcher(name), rewire(next) else { continue }
      forEachWire(of: next) { wire in
        forEachLink(of: wire) { link in
          guard let other = link.pointee.slot?.pointee.lazy, other.isOutdated else { return }
          let flags = other.pointee.flags
          if flags.contains(.untold), !flags.isDisjoint(with: [.wired, .tracking]) { return }
          other.pointee.flags.insert(.untold)
          work.append(other.identity)
        }
      }
    }
  }

  /// The version that belongs to a value which was computed or assigned.
  func keep(_ computation: Computation, of lazy: WatcherRef, isAssigned: Bool = false) {
    let isFirst =
      !isAssigned && lazy.pointee.version == 0 && !lazy.pointee.flags.contains(.known)
    lazy.pointee.flags.subtract([.pending, .certain, .failed, .untold])
    lazy.pointee.flags.insert(.known)
    lazy.pointee.slot?.pointee.isValid = true
    switch computation {
    case .changed: lazy.pointee.version = toldValues.version(of: lazy)
    case .restored: lazy.pointee.version = toldValues.restoredVersion(of: lazy)
    case .same, .failed, .waiting, .finished: break
    }
    if isFirst { lazy.pointee.firstVersion = lazy.pointee.version }
  }

  func nextVersion() -> Int { versions.next() }
}

extension LinkRef {
  /// What it leads to is a part of what an operator puts together.
  var isBelowOperator: Bool {
    pointee.wire.pointee.path._withUnsafeGuaranteedRef { Int(pointee.step) > $0.aggregateStep }
  }

  /// It hears of every property of its object: `*` at the end of a path, or what a tracked
  /// computation went through.
  var isWhole: Bool {
    guard pointee.isTerminal, state == nil else { return false }
    switch pointee.wire.pointee.use {
    case .tracking: return pointee.effect.contains(.certain)
    case .followingStored: return false
    case .following, .editing: return kind == .every
    }
  }
}
