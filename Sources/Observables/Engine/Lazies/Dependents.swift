/// Watchers of lazy properties, and of paths that go through them: a property is brought up to date
/// before its value is followed, and compared with what was delivered last (Z4).
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

  /// Brings the lazy properties that a watcher depends on up to date, before its paths are
  /// followed.
  ///
  /// Errors have no reader here, and are reported (Z8). False when the watcher ended meanwhile.
  func settleDependencies(of watcher: WatcherRef) -> Bool {
    watcher.hasDirtyLinks ? settleDirty(watcher) : true
  }

  /// The result of comparing the derived values of a watcher with those that were delivered last.
  struct Refreshed {
    /// The first path that has another value; nil where all are the same.
    var path: Path?
    /// The lazy property that has it, where it is one.
    var lazy: WatcherID?
  }

  /// Takes the derived values of a watcher anew, which may run code of the program; nil when the
  /// watcher ended meanwhile.
  func refresh(_ watcher: WatcherRef) -> Refreshed? {
    if !watcher.hasWork { return Refreshed() }
    var refreshed = Refreshed()
    return wiring.whileWiring(watcher) { refreshed = members.refreshDerived(watcher) }
      ? refreshed : nil
  }

  private func settleDirty(_ watcher: WatcherRef) -> Bool {
    if operations.wirings > 16, !computing.hasRoom() { return true }
    return wiring.whileWiring(watcher) {
      wiring.forEachWireWithWork(of: watcher) { wire in
        let base = state.taken.count
        while let link = wiring.takeDirty(wire) { state.taken.append(link) }
        let end = state.taken.count
        for index in base..<end { settle(state.taken[index], of: watcher) }
        for index in base..<end {
          let link = state.taken[index]
          if !link.pointee.isDead, !(link.pointee.isStale && link.isBelowOperator) {
            wiring.markDirty(link)
          }
        }
        state.taken.removeAll(from: base)
      }
    }
  }

  /// Brings the lazy property at a link up to date; whether it has another value is found out
  /// later.
  private func settle(_ link: LinkRef, of watcher: WatcherRef) {
    guard let lazy = link.pointee.slot?.pointee.lazy, watcher.pointee.isActive,
      link.isBelowOperator || !link.isBelowReplaced
    else { return }
    if lazy.pointee.traits.contains(.uncached) {
      compareDependencies(of: lazy)
    } else {
      settleUnread(lazy)
    }
    guard let slot = link.pointee.slot, let lazy = slot.pointee.lazy else { return }
    let isFailed = lazy.isOutdated && link.isBelowOperator
    if link.pointee.version == lazy.version, !isFailed {
      // The path may have followed another value meanwhile, which was not delivered to its watcher.
      if !link.pointee.isTerminal, !link.isBelowOperator { wiring.markStale(link) }
      return
    }
    if link.isBelowOperator {
      // The contribution of the link has to change before the operator is computed.
      link.pointee.version = isFailed ? Link.failedVersion : lazy.version
      wiring.markStale(link)
    } else if !link.pointee.isTerminal {
      wiring.markStale(link)
    }
  }

  /// Gives a property without a value of its own another version, if something computed that it
  /// depends on has another value.
  private func compareDependencies(of lazy: WatcherRef) {
    // Properties that depend on each other are compared recursively.
    guard lazy.hasWork, operations.wirings <= 16 || computing.hasRoom(),
      settleDependencies(of: lazy),
      wiring.rewire(lazy), refresh(lazy)?.path != nil
    else { return }
    lazy.version = lazies.nextVersion()
  }

  /// Notes the value of a lazy property at a link, for a reader that computes anew anyway.
  ///
  /// True where it is another one than the reader has used; what is below has to follow it then.
  func useValue(of lazy: WatcherRef, at link: LinkRef) -> Bool {
    guard let known = link.pointee.version, known != lazy.version
    else { return false }
    link.pointee.version = lazy.version
    if !link.pointee.isTerminal { wiring.markStale(link) }
    return true
  }

  /// Brings a lazy property up to date that no code of the program reads: its error has no caller.
  ///
  /// A property that has failed is tried `again` only for a new link. False where it has no value.
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

  /// A link was made to a lazy property: computes the property if it is watched (Z4), or if the
  /// path goes through it.
  ///
  /// False when the link is gone.
  func isUpToDate(_ link: LinkRef, _ wire: WireRef) -> Bool {
    guard let lazy = link.pointee.slot?.pointee.lazy else { return true }
    if lazy.pointee.traits.contains(.uncached) {
      if let error = computing.makeWires(of: lazy) {
        lazy.pointee.receiver.takeUnretainedValue().fail(lazy, error)
        lazy.pointee.receiver.takeUnretainedValue().reportFailure(of: lazy)
      }
      // What has changed before is nothing that the new link has to notify of.
      compareDependencies(of: lazy)
    } else if !link.pointee.isTerminal || wire.pointee.watcher.needsEachChange {
      settleUnread(lazy, again: true)
    }
    guard let slot = link.pointee.slot, wire.pointee.watcher.pointee.isActive else { return false }
    if link.pointee.version != nil, let lazy = slot.pointee.lazy {
      // For a watcher that is registered while the property fails, there is no earlier value (Z8).
      let isUnknown = lazy.isOutdated && !wire.pointee.watcher.pointee.traits.contains(.lazy)
      link.pointee.version = isUnknown ? Link.failedVersion : lazy.version
    }
    return true
  }

  /// Whether the property at a link has another value than the one that was delivered last.
  func refreshLazy(_ link: LinkRef, _ lazy: WatcherRef) -> Bool {
    let watcher = link.pointee.wire.pointee.watcher
    let isReader = watcher.pointee.traits.contains(.lazy)
    // A property that depends on one that failed meets the error when it is computed.
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
      known != lazy.version
    else { return false }
    link.pointee.version = lazy.version
    if link.isBelowOperator {
      wiring.markStale(link)
      return false
    }
    if !isReader {
      guard deliveredValues.isEqual(lazy, to: known, for: watcher) else { return true }
      // The next value is compared with the one that was delivered last (Z5).
      link.pointee.version = known
      return false
    }
    if !link.pointee.isTerminal { wiring.markStale(link) }
    return true
  }

  /// The first of the lazy properties of an object that have other values, where a link stands for
  /// all its properties; those that were never read are not computed (Z3).
  func changedLazy(at link: LinkRef) -> WatcherID? {
    guard link.isWhole, let node = link.pointee.slot?.pointee.node, !node.isDead else { return nil }
    let known = link.pointee.version
    link.pointee.version = lazies.lastVersion
    guard let known else { return nil }
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
      guard let lazy = watchers[name] else { continue }
      // A property that was read for the first time since then is taken to have had its first value
      // before.
      let first = lazy.lazyState.pointee.firstVersion
      if first > known ? lazy.version != first : lazy.version > known {
        changed = changed ?? name
      }
    }
    if link.pointee.slot != nil { link.pointee.version = self.lazies.lastVersion }
    return changed
  }

  func free() { state.taken.free() }
}
