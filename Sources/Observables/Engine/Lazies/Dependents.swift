/// Watchers of lazy properties, and of paths through them: each property is brought up to date
/// before its value is followed, and compared with the last delivered value (Z4).
package struct Dependents: Room {
  package let rooms: Rooms

  struct State {
    /// Links of watchers whose dependencies are being brought up to date; the links of the
    /// innermost operation come last.
    fileprivate var taken = RawList<LinkRef>()
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.dependents) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.dependents)
    }
  }

  /// Brings the lazy properties that a watcher depends on up to date, and makes its links follow
  /// them.
  ///
  /// Errors have no reader here, and are reported (Z8). False if the watcher has ended.
  @inline(__always)
  func follow(_ watcher: WatcherRef, isItsTurn: Bool = false) -> Bool {
    watcher.hasDirtyLinks
      ? followLazies(watcher, isItsTurn) : rewire(watcher, isItsTurn)
  }

  private func followLazies(_ watcher: WatcherRef, _ isItsTurn: Bool) -> Bool {
    // Properties below a link whose object may have been replaced are brought up to date after the
    // link has followed: each pass reaches one step further, unless getters write.
    var passes = watcher.longestPath
    var waits = false
    repeat {
      guard settleDirty(watcher, &waits), rewire(watcher, isItsTurn) else { return false }
      passes -= 1
    } while waits && passes > 0
    return true
  }

  @inline(__always)
  private func rewire(_ watcher: WatcherRef, _ isItsTurn: Bool) -> Bool {
    isItsTurn ? wiring.rewireInFlush(watcher) : wiring.rewire(watcher)
  }

  /// Brings the lazy properties up to date on which a property without a stored value depends, and
  /// lets its links follow replaced objects.
  func settleDependencies(of uncached: WatcherRef) {
    if uncached.hasWork { _ = follow(uncached) }
  }

  /// The result of comparing the derived values of a watcher with the last delivered ones.
  struct Refreshed {
    /// The first path with a different value; nil if all are the same.
    var path: Path?
    /// The lazy property with the different value, if it is one.
    var lazy: WatcherID?
  }

  /// Reads and compares the derived values of a watcher, which may run code of the program; nil if
  /// the watcher has ended.
  func refresh(_ watcher: WatcherRef) -> Refreshed? {
    if !watcher.hasWork { return Refreshed() }
    var refreshed = Refreshed()
    return wiring.whileWiring(watcher) { refreshed = members.refreshDerived(watcher) }
      ? refreshed : nil
  }

  /// Brings the lazy properties at dirty links up to date; `waits` says whether some have to wait
  /// for a link above them.
  private func settleDirty(_ watcher: WatcherRef, _ waits: inout Bool) -> Bool {
    waits = false
    if operations.wirings > 16, !computing.hasRoom() { return true }
    return wiring.whileWiring(watcher) {
      wiring.forEachWireWithWork(of: watcher) { wire in
        let base = state.taken.count
        while let link = wiring.takeDirty(wire) { state.taken.append(link) }
        let end = state.taken.count
        for index in base..<end where !settle(state.taken[index], of: watcher) { waits = true }
        for index in base..<end {
          let link = state.taken[index]
          if !link.pointee.isDead, !(link.pointee.isStale && link.isBelowOperator) {
            wiring.putBack(link)
          }
        }
        state.taken.removeAll(from: base)
      }
    }
  }

  /// Brings the lazy property at a link up to date; a later step finds out whether its value
  /// differs.
  ///
  /// False if it has to wait for a link above it.
  private func settle(_ link: LinkRef, of watcher: WatcherRef) -> Bool {
    guard let lazy = link.pointee.slot?.pointee.lazy, watcher.pointee.isActive,
      !link.pointee.isSettled
    else { return true }
    guard link.isBelowOperator || !link.isBelowReplaced else { return false }
    // Its getter may make it dirty again.
    link.pointee.isSettled = true
    update(lazy, at: link)
    return true
  }

  private func update(_ lazy: WatcherRef, at link: LinkRef) {
    if lazy.pointee.traits.contains(.uncached) {
      compareDependencies(of: lazy)
    } else if isUnread(link.pointee.wire.pointee.watcher) {
      settleUnread(lazy)
    } else {
      // Code that reads the dependent property gets the error.
      settling.settle(lazy)
    }
    guard let slot = link.pointee.slot, let lazy = slot.pointee.lazy else { return }
    let isFailed = lazy.isOutdated && link.isBelowOperator
    let version = lazy.version(for: link.pointee.wire.pointee.watcher)
    if link.pointee.version == version, !isFailed {
      // The path may have followed another value that was not delivered to its watcher.
      if !link.pointee.isTerminal, !link.isBelowOperator { wiring.markStale(link) }
      return
    }
    if link.isBelowOperator {
      // The contribution of the link has to change before the operator is computed.
      link.pointee.version = isFailed ? Link.failedVersion : version
      wiring.markStale(link)
    } else if !link.pointee.isTerminal {
      wiring.markStale(link)
    }
  }

  /// Whether nothing reads the values that this watcher or property depends on.
  ///
  /// While a property is being brought up to date, it reads the properties that keep no value.
  private func isUnread(_ watcher: WatcherRef) -> Bool {
    watcher.needsEachChange && !(watcher.pointee.traits.contains(.lazy) && settling.isUnderWay)
  }

  /// Gives a property without a stored value a new version, if a computed dependency has a
  /// different value.
  private func compareDependencies(of lazy: WatcherRef) {
    // Properties that depend on each other are compared recursively.
    guard lazy.hasWork, operations.wirings <= 16 || computing.hasRoom(), follow(lazy),
      refresh(lazy)?.path != nil
    else { return }
    lazies.announce(lazy)
  }

  /// Notes the value of a lazy property at a link, for a reader that will be computed anyway.
  ///
  /// True if the reader has used a different value; the links below then have to follow the new
  /// one.
  func useValue(of lazy: WatcherRef, at link: LinkRef) -> Bool {
    let version =
      lazy.isOutdated && link.isBelowOperator
      ? Link.failedVersion : lazy.version(for: link.pointee.wire.pointee.watcher)
    guard let known = link.pointee.version, known != version else { return false }
    link.pointee.version = version
    // An operator may have followed before the property was computed.
    if !link.pointee.isTerminal || link.isBelowOperator { wiring.markStale(link) }
    return true
  }

  /// Brings a lazy property up to date that no code of the program reads: its error has no caller.
  ///
  /// A property that has failed is only computed `again` for a new link. False if it has no value.
  @discardableResult
  package func settleUnread(_ lazy: WatcherRef, again: Bool = false) -> Bool {
    if !lazy.isOutdated { return !lazy.pointee.isPending }
    if lazy.isUnderWay || settling.hasFailedNow(lazy) { return false }
    if lazy.pointee.status == .failed, !again { return false }
    guard let root = lazy.pointee.root, root.kind.isThere(root) else { return false }
    let name = lazy.identity
    if settling.settle(lazy) { return true }
    if let lazy = watchers[name], !lazy.isUnderWay {
      lazy.pointee.receiver.takeUnretainedValue().reportFailure(of: lazy)
    }
    return false
  }

  /// Computes the lazy property at a new link, if it is watched (Z4) or if the path goes through
  /// it.
  ///
  /// False if the link is gone.
  func isUpToDate(_ link: LinkRef, _ wire: WireRef) -> Bool {
    guard let lazy = link.pointee.slot?.pointee.lazy else { return true }
    if lazy.pointee.traits.contains(.uncached) {
      if let error = computing.makeWires(of: lazy) {
        lazy.pointee.receiver.takeUnretainedValue().fail(lazy, error)
        lazy.pointee.receiver.takeUnretainedValue().reportFailure(of: lazy)
      }
      // The new link does not notify of earlier changes.
      compareDependencies(of: lazy)
    } else if !link.pointee.isTerminal || wire.pointee.watcher.needsEachChange {
      settleUnread(lazy, again: true)
    }
    guard let slot = link.pointee.slot, wire.pointee.watcher.pointee.isActive else { return false }
    if link.pointee.version != nil, let lazy = slot.pointee.lazy {
      // If the property fails when a watcher is registered, there is no earlier value (Z8).
      let isUnknown = lazy.isOutdated && !wire.pointee.watcher.pointee.traits.contains(.lazy)
      link.pointee.version =
        isUnknown ? Link.failedVersion : lazy.version(for: wire.pointee.watcher)
    }
    return true
  }

  /// Whether the value of the property at a link differs from the last delivered one.
  func refreshLazy(_ link: LinkRef, _ lazy: WatcherRef) -> Bool {
    let watcher = link.pointee.wire.pointee.watcher
    let isReader = watcher.pointee.traits.contains(.lazy)
    // A property that depends on a failed one meets the error when it is computed.
    if lazy.isOutdated {
      if link.isBelowOperator {
        link.pointee.version = Link.failedVersion
        wiring.markStale(link)
      }
      return isReader
    }
    if link.pointee.version == nil { return true }
    if lazy.pointee.traits.contains(.uncached) { compareDependencies(of: lazy) }
    // Comparing may have run code of the program.
    guard !link.pointee.isDead, lazy.pointee.isActive, let known = link.pointee.version,
      known != lazy.version(for: watcher)
    else { return false }
    link.pointee.version = lazy.version(for: watcher)
    if link.isBelowOperator {
      wiring.markStale(link)
      // After a failure the operator may have the value that it had before.
      return isReader && known == Link.failedVersion
    }
    if !isReader {
      guard deliveredValues.isEqual(lazy, to: known, for: watcher) else { return true }
      // The next value is compared with the last delivered one (Z5).
      link.pointee.version = known
      return false
    }
    if !link.pointee.isTerminal { wiring.markStale(link) }
    return true
  }

  /// The first lazy property with a different value, for a link to all properties of an object.
  ///
  /// Properties that were never read are not computed (Z3).
  func changedLazy(at link: LinkRef) -> WatcherID? {
    guard link.isWhole, let node = link.pointee.slot?.pointee.node, !node.isDead else { return nil }
    let known = link.pointee.version
    link.pointee.version = lazies.lastVersion
    guard let known else { return nil }
    let watcher = link.pointee.wire.pointee.watcher.identity
    var lazies: [WatcherID] = []
    node.forEachSlot { slot in
      if let lazy = slot.pointee.lazy, lazy.lazyState.pointee.isKnown,
        !lazy.pointee.traits.contains(.uncached)
      {
        lazies.append(lazy.identity)
      }
    }
    var changed: WatcherID?
    for name in lazies {
      guard let lazy = watchers[name] else { continue }
      settleUnread(lazy)
      guard let lazy = watchers[name], let watcher = watchers[watcher] else { continue }
      // If a property was first read after the last delivery, its first value counts as the former
      // value.
      let first = lazy.lazyState.pointee.firstVersion
      let version = lazy.version(for: watcher)
      if first > known ? version != first : version > known {
        changed = changed ?? name
      }
    }
    if link.pointee.slot != nil { link.pointee.version = self.lazies.lastVersion }
    return changed
  }

  func free() { state.taken.free() }
}
