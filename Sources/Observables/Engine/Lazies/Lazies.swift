/// Makes, invalidates and assigns lazy properties.
///
/// A lazy property has a record like a watcher, with links to its dependencies. The slot of the
/// property's key lists the links of its dependents.
///
/// Flags are pushed and values pulled. A write marks its dependents as invalid, then their
/// dependents, and stops at properties that are already marked; nothing is computed. Settling
/// brings the properties up to date that are read or watched.
package struct Lazies: Room {
  package let rooms: Rooms

  struct State {
    fileprivate var lastVersion = 0
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.lazies) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.lazies)
    }
  }

  /// Makes the key of `slot` a lazy property, which is invalid at first.
  ///
  /// `traits` are among `tracking`, `uncached` and `mirrored`. `isKnown` says that there is a value
  /// with which the next one is compared; `wasElement`, that the former value of the key was an
  /// element of a collection (C9).
  ///
  /// - Complexity: O(links of the slot); for an element, O(links of the whole object), too.
  package func make(
    _ slot: SlotRef, receiver: Receiver, traits: WatcherRecord.Traits, context: Int = 0,
    isKnown: Bool = false, wasElement: Bool = false
  ) -> WatcherRef {
    let lazy = watchers.make(
      root: slot.pointee.node, receiver: receiver, traits: traits.union(.lazy), context: context)
    if !traits.contains(.uncached) {
      lazy.pointee.status = .stale
      lazy.lazyState.pointee.isUnnotified = true
    }
    lazy.isKnown = isKnown
    lazy.slot = slot
    slot.pointee.lazy = lazy
    slot.pointee.isValid = false
    records.forEach(from: slot.pointee.links.first) { adapt($0, to: slot) }
    if wasElement { invalidation.invalidateElements(of: slot.pointee.node, lazy) }
    if slot.isLinked {
      if traits.contains(.uncached) { _ = computing.makeWires(of: lazy) }
      invalidation.add(slot)
    }
    invalidation.spread(nil)
    comparisons.call()
    return lazy
  }

  /// Makes the key an ordinary one again, after its declaration was removed or its object has died.
  func forget(_ lazy: WatcherRef) {
    guard let slot = lazy.slot else { return }
    lazy.slot = nil
    slot.pointee.lazy = nil
    slot.pointee.isValid = false
    computing.forget(lazy)
    records.forEach(from: slot.pointee.links.first) { link in
      if !slot.pointee.node.isDead { scheduleIfUndelivered(of: lazy, at: link) }
      adapt(link, to: slot)
    }
    if slot.pointee.node.isDead { return }
    nodes.unobserveWhenIdle(slot.pointee.node)
  }

  /// Schedules the watcher of a link that has not yet received the present value of the property:
  /// with the declaration, the record of delivered values is lost.
  private func scheduleIfUndelivered(of lazy: WatcherRef, at link: LinkRef) {
    let watcher = link.pointee.wire.pointee.watcher
    guard !link.isBelowOperator,
      watcher.pointee.traits.isDisjoint(with: [.lazy, .immediate]), watcher.pointee.isActive,
      let known = link.pointee.version, known != lazy.version
    else { return }
    delivery.mark(watcher, .stale, by: nil)
  }

  /// Sets the effect of a write at a link, whose key may be a lazy property.
  func adapt(_ link: LinkRef, to slot: SlotRef) {
    if link.state != nil || link.kind == .element { return }
    let wire = link.pointee.wire
    let lazy = slot.pointee.lazy
    link.pointee.version = lazy?.version(for: wire.pointee.watcher)
    // Below an operator the link is one step of a computation, and keeps its effect.
    if link.isBelowOperator { return }
    if lazy == nil {
      link.pointee.effect = link.pointee.isTerminal ? .notify : [.notify, .stale]
    } else {
      link.pointee.effect = link.pointee.isTerminal ? .dirty : [.dirty, .stale]
      // When the reader is computed, it notes the version that it has used.
      if wire.pointee.watcher.pointee.traits.contains(.lazy) { wiring.markDirty(link) }
    }
  }

  // MARK: Requests of the program

  /// Calls the watchers of a property, whatever its value, as the program says that something
  /// inside of the value has changed.
  package func trigger(_ lazy: WatcherRef) {
    if lazy.slot == nil { return }
    records.hold { invalidation.notifyDependents(of: lazy) }
    comparisons.call()
  }

  /// Makes a property invalid, whatever its dependencies.
  ///
  /// Has no effect on a property that is already invalid.
  package func invalidate(explicitly lazy: WatcherRef, by change: Change? = nil) {
    nodes.buryDead()
    var change = change
    if recording.isOn, let slot = lazy.slot {
      let known = change ?? Change(at: slot, isSame: false)
      recording.recorder?.invalidating(known)
      change = known
    }
    if lazy.isComputing {
      computing.disturb(lazy, by: .invalidation)
      return
    }
    invalidation.invalidate(lazy, .stale, by: change)
    invalidation.spread(change)
    comparisons.call()
  }

  /// Brings everything up to date that a property depends on, before a program assigns its value:
  /// the value ends when one of the dependencies changes, whatever was read before (Z5).
  ///
  /// If the property is tracked and invalid, its getter runs, because only a run shows the
  /// dependencies. Errors are dropped. This may run code of the program, which may end the
  /// property.
  package func prepareToAssign(_ lazy: WatcherRef) {
    // A valid property has valid dependencies, and the links of a failed one are known.
    guard lazy.pointee.status == .check || lazy.pointee.status == .stale, !lazy.isUnderWay
    else { return }
    records.hold {
      if lazy.pointee.traits.contains(.tracking) {
        settling.settle(lazy)
      } else if computing.makeWires(of: lazy) == nil {
        // Its links have to follow all values, as if it were computed: each pass gets at least one
        // step nearer to the end of the longest path.
        lazy.pointee.raise(to: .stale)
        var passes = lazy.longestPath + 1
        while passes > 0, lazy.hasWork, dependents.follow(lazy) { passes -= 1 }
      }
    }
  }

  /// Called before a program assigns the value of a property, after `prepareToAssign`; `overridden`
  /// follows.
  package func willAssign(_ lazy: WatcherRef) {
    transactions.note(lazy)
    deliveredValues.willReplaceValue(of: lazy)
    if recording.isOn { recording.recorder?.replacing(lazy) }
    guard let slot = lazy.slot,
      slot.pointee.eager + (slot.pointee.node.pointee.every?.pointee.eager ?? 0) > 0
    else { return }
    comparisons.beginAssigning(lazy)
  }

  /// Processes a value that a program has assigned to a property; `computation` says how it
  /// compares with the former value (Z5).
  ///
  /// `isAdopted` is for a value that the property had before the engine knew it.
  package func overridden(
    _ lazy: WatcherRef, _ computation: Computation, by change: Change? = nil,
    isAdopted: Bool = false
  ) {
    nodes.buryDead()
    if recording.isOn, !isAdopted, let slot = lazy.slot {
      if case .same = computation {
        recording.recorder?.wrote(Change(at: slot, isSame: true))
      } else {
        recording.recorder?.wrote(change ?? Change(at: slot, isSame: false))
      }
    }
    defer { comparisons.endAssigning() }
    records.hold {
      let status = lazy.pointee.status
      let (wasKnown, wasUnnotified) = (lazy.isKnown, lazy.lazyState.pointee.isUnnotified)
      keep(computation, of: lazy, isAssigned: true)
      lazy.lazyState.pointee.isAssigned = true
      computing.adoptVersions(of: lazy)
      guard lazy.pointee.isActive, let slot = lazy.slot else { return }
      slots.rearmQuiet()
      // The dependents of a property that has failed have used the failure.
      if case .same = computation, status != .failed { return }
      // If the property had become invalid, its dependents were notified then; but not if it never
      // had a value.
      if status == .check || status == .stale, wasKnown,
        !wasUnnotified
      {
        return
      }
      invalidation.add(slot)
      lazy.lazyState.pointee.isNotifying = true
      invalidation.spread(change)
      lazy.lazyState.pointee.isNotifying = false
      computing.adoptVersions(of: lazy)
      comparisons.call()
    }
  }

  /// Makes a property valid, with the version for a value that was computed or assigned.
  func keep(_ computation: Computation, of lazy: WatcherRef, isAssigned: Bool = false) {
    let isFirst =
      !isAssigned && lazy.version == 0 && !lazy.lazyState.pointee.isKnown
    lazy.pointee.status = .clean
    lazy.lazyState.pointee.isUnnotified = false
    lazy.lazyState.pointee.isKnown = true
    lazy.slot?.pointee.isValid = true
    let state = lazy.lazyState
    var isNew = state.pointee.operation != 0
    switch computation {
    case .changed:
      lazy.version = deliveredValues.version(of: lazy) ?? nextVersion()
      isNew = true
    case .restored:
      lazy.version = deliveredValues.restoredVersion(of: lazy)
      isNew = true
    case .same, .failed, .waiting: break
    }
    // A value that comes back differs from the value, or the failure, in between.
    if isNew { state.pointee.seen = lazy.version == lastVersion ? lastVersion : nextVersion() }
    state.pointee.operation = 0
    if isFirst { state.pointee.firstVersion = lazy.version }
  }

  /// A new version: each value that differs from the former one gets a new number.
  func nextVersion() -> Int {
    state.lastVersion += 1
    return state.lastVersion
  }

  var lastVersion: Int { state.lastVersion }

  /// Gives a property without a stored value a new version: its value may differ from now on.
  func announce(_ lazy: WatcherRef) {
    transactions.noteAnnouncement(of: lazy)
    lazy.version = nextVersion()
    lazy.lazyState.pointee.seen = lazy.version
  }

  // MARK: Names

  /// The error of a property that waits for itself; nil if it does not.
  package func cycleError(of lazy: WatcherRef) -> LazyError? {
    lazy.isUnderWay ? .cycle(names: cycle(to: lazy)) : nil
  }

  /// The lazy properties of an object, in the order of their declaration.
  package func all(of node: NodeRef) -> [WatcherRef] {
    var lazies: [WatcherRef] = []
    node.forEachSlot { slot in if let lazy = slot.pointee.lazy { lazies.append(lazy) } }
    return lazies.sorted { $0.pointee.id < $1.pointee.id }
  }

  package func name(of lazy: WatcherRef) -> String {
    guard let slot = lazy.slot, !slot.pointee.node.isDead else { return "?" }
    return slot.pointee.node.kind.name(of: slot)
  }

  /// The names of the properties that wait for each other, from `lazy` back to it; full names if
  /// they belong to several objects.
  package func cycle(to lazy: WatcherRef) -> [String] {
    var members: [WatcherRef] = []
    var isInside = false
    for other in settling.chain {
      if other == lazy { isInside = true }
      if isInside, other != lazy || members.isEmpty { members.append(other) }
    }
    // If it was first observed after its getter had begun, it is not on the list.
    if members.isEmpty { members.append(lazy) }
    members.append(lazy)
    let node = lazy.slot?.pointee.node
    if members.allSatisfy({ $0.slot?.pointee.node == node }) {
      return members.map { name(of: $0) }
    }
    return members.map { fullName(of: $0) }
  }

  /// The name of a property including its object, which distinguishes properties of the same name.
  private func fullName(of lazy: WatcherRef) -> String {
    guard let slot = lazy.slot, !slot.pointee.node.isDead else { return "?" }
    return lazy.pointee.receiver.takeUnretainedValue().fullName(
      of: lazy, name(of: lazy), title: slot.pointee.node.kind.title(of: slot.pointee.node))
  }
}

extension LinkRef {
  /// True for a link after an operator on its path: its value is a part of the operator's value.
  var isBelowOperator: Bool {
    pointee.wire.pointee.path._withUnsafeGuaranteedRef { Int(pointee.step) > $0.aggregateStep }
  }

  /// True for a link to every property of its object: `*` at the end of a path, or an object that a
  /// tracked computation has iterated.
  var isWhole: Bool {
    guard pointee.isTerminal, state == nil else { return false }
    switch pointee.wire.pointee.use {
    case .tracking: return pointee.effect.contains(.notify)
    case .followingStored, .objects: return false
    case .following, .editing:
      // Below `**` only stored values count.
      return kind == .every && !isBelowDeep
    }
  }
}
