/// Brings lazy properties up to date: dependencies are worked off from a list, the deepest first,
/// so that no chain of them needs the stack (Z13).
package struct Settling: Room {
  package let rooms: Rooms

  struct State {
    fileprivate var list = SettlingList()
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.settling) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.settling)
    }
  }

  /// Makes a lazy property valid: nothing is computed unless something that it depends on has
  /// really changed.
  ///
  /// False where it failed; its receiver has the error.
  @discardableResult
  package func settle(_ target: WatcherRef) -> Bool {
    if !target.isOutdated { return !target.pointee.isPending }
    if delivery.hasWaitingWrites { return settleAfterWaitingWrites(target) }
    return settleNow(target)
  }

  /// Reports the writes that wait, and brings the property up to date if it is there after that.
  @inline(never)
  private func settleAfterWaitingWrites(_ target: WatcherRef) -> Bool {
    let name = target.identity
    delivery.reportWaiting()
    guard let target = watchers[name] else { return false }
    return target.isOutdated ? settleNow(target) : !target.pointee.isPending
  }

  @inline(__always)
  private func settleNow(_ target: WatcherRef) -> Bool {
    // A property that waits for its declared dependencies depends on `target` itself then.
    if target.isComputing || target.isWaiting { return false }
    if state.list.isEmpty, !computing.isUnderWay { state.list.beginOperation() }
    let name = target.identity
    let outer = state.list.beginLevel()
    let isNested = computing.depth > 0
    computing.nest()
    tracking.suspend()
    state.list.push(target)
    while let lazy = nextToCompute() { computing.compute(lazy, isNested: isNested) }
    if let done = state.list.endLevel(outer) { release(done) }
    computing.unnest()
    if computing.depth == 0 { tracking.notifyTrackers() }
    tracking.resume()
    guard let lazy = watchers[name] else { return false }
    return !lazy.pointee.isPending
  }

  /// Takes the result of a getter: its property is done, or waits for another one that it reads.
  package func take(_ computation: Computation, of lazy: WatcherRef) {
    if computing.finish(lazy, computation) { state.list.pop() }
  }

  /// Takes the result of a getter, and gives the receiver its next property to compute; nil where
  /// the next one is of another receiver, or there is none.
  package func next(after lazy: WatcherRef, _ computation: Computation) -> WatcherRef? {
    let receiver = lazy.pointee.receiver
    take(computation, of: lazy)
    guard let next = nextToCompute(), next.pointee.receiver.toOpaque() == receiver.toOpaque()
    else { return nil }
    computing.begin(next)
    return next
  }

  /// Works the list of the innermost `settle` off until something is to be computed; nil at its
  /// end.
  private func nextToCompute() -> WatcherRef? {
    while let lazy = state.list.top {
      let done = state.list.takeDone()
      let step = settle(lazy, after: done)
      if let done { release(done) }
      switch step {
      case .done: state.list.pop()
      case .waits: break
      case .computes: return lazy
      }
    }
    return nil
  }

  private enum Step {
    /// Nothing is left to do for the property.
    case done
    /// Another property is above it on the list now.
    case waits
    /// All its dependencies are up to date: it is computed next.
    case computes
  }

  /// Does one step with the property on top of the list.
  private func settle(_ lazy: WatcherRef, after done: WatcherRef?) -> Step {
    if lazy.phase == .awaiting { lazy.phase = .idle }
    let traits = lazy.pointee.traits
    if lazy.phase == .suspended, let done {
      lazy.phase = .running
      tracking.goOn(lazy)
      let receiver = lazy.pointee.receiver
      return computing.finish(
        lazy, receiver._withUnsafeGuaranteedRef { $0.resume(lazy, after: done, nil) })
        ? .done : .waits
    }
    guard lazy.isOutdated, !hasFailedNow(lazy) else { return .done }
    if !lazy.pointee.isStale {
      // It waits for itself, if it is among those.
      lazy.phase = .awaiting
      let examination = examine(lazy)
      lazy.phase = examination == .waits ? .awaiting : .idle
      switch examination {
      case .waits: return .waits
      case .same:
        computing.validate(lazy)
        return .done
      case .changed:
        guard lazy.pointee.isActive else { return .done }
        lazy.pointee.raise(to: .stale)
      }
    }
    if !traits.contains(.tracking), !lazy.lazyState.pointee.isWired || lazy.hasWork {
      if let error = computing.makeWires(of: lazy) {
        computing.fail(lazy, error)
        return .done
      }
      guard follow(lazy) else { return .done }
      // Following them may have been too much: then all links were given up.
      if let error = computing.makeWires(of: lazy) {
        computing.fail(lazy, error)
        return .done
      }
      switch firstInvalid(of: lazy) {
      case .none: break
      case .some(let other) where other == lazy || other.phase == .awaiting:
        computing.fail(lazy, LazyError.cycle(names: lazies.cycle(to: other)))
        return .done
      case .some(let other):
        state.list.push(other)
        lazy.phase = .awaiting
        return .waits
      }
    }
    return .computes
  }

  /// Takes the property off the list; the one that has waited for it goes on.
  @inline(__always)
  private func release(_ lazy: WatcherRef) {
    lazy.lazyState.pointee.listings -= 1
    if lazy.lazyState.pointee.listings == 0 { watchers.freeIfUnused(lazy) }
  }

  /// Whether the property failed in the operation under way: it is not tried again before that is
  /// over.
  func hasFailedNow(_ lazy: WatcherRef) -> Bool {
    state.list.hasFailed(lazy) && (!state.list.isEmpty || computing.isUnderWay)
  }

  // MARK: Looking at dependencies

  private enum Examination {
    case same, changed
    /// Dependencies have to be brought up to date first; they are on the list.
    case waits
  }

  /// Finds out whether something that an invalid property depends on has really changed.
  private func examine(_ lazy: WatcherRef) -> Examination {
    if lazy.pointee.flags.contains(.anchoring), wiring.takeDepartures(of: lazy) != nil {
      return .changed
    }
    // Objects may have come or left below `**`.
    guard wiring.rewire(lazy), !lazy.pointee.isStale else { return .changed }
    // Dependencies are examined in the order in which they were declared, or read.
    var found: Examination?
    wiring.forEachWire(of: lazy) { wire in
      if found != nil { return }
      found = wire.pointee.use == .tracking ? examineReads(wire) : examine(wire)
    }
    if let found {
      // Paths that were compared already need no comparison after the computation.
      if found == .changed { wiring.forgetIdleWires(of: lazy) }
      return found
    }
    guard wiring.rewire(lazy) else { return .changed }
    guard let refreshed = dependents.refresh(lazy) else { return .changed }
    return refreshed.path == nil ? .same : .changed
  }

  /// Examines what a tracked computation has read; nil where nothing has changed.
  private func examineReads(_ wire: WireRef) -> Examination? {
    for link in wire.links where link.pointee.isDirty && !link.pointee.isDead {
      if let other = link.pointee.slot?.pointee.lazy, other.isOutdated {
        if hasFailedNow(other) || other.isUnderWay { return .changed }
        state.list.push(other)
        return .waits
      }
      if members.refreshDerived(link) { return .changed }
    }
    return nil
  }

  /// Makes the declared paths of a property lead through all that is up to date.
  ///
  /// Where a property on a path is not up to date, the path ends there until that is computed.
  /// False when the property ended meanwhile.
  @inline(__always)
  private func follow(_ lazy: WatcherRef) -> Bool {
    lazy.hasLongWork ? followAll(lazy) : true
  }

  @inline(never)
  private func followAll(_ lazy: WatcherRef) -> Bool {
    while lazy.hasWork {
      guard wiring.rewire(lazy) else { return false }
      var isReplaced = false
      wiring.forEachWireWithWork(of: lazy) { wire in
        if wire.pointee.isShort { return }
        records.forEachDirty(of: wire) { link in
          if !link.pointee.isTerminal, !link.isBelowOperator,
            let other = link.pointee.slot?.pointee.lazy, !other.isOutdated,
            dependents.useValue(of: other, at: link)
          {
            isReplaced = true
          }
        }
      }
      if !isReplaced { break }
    }
    return true
  }

  /// Examines what one declared path leads to; nil where nothing has changed.
  private func examine(_ wire: WireRef) -> Examination? {
    if wire.pointee.dirty == nil { return nil }
    var (hasFailed, waits) = (false, false)
    records.forEachDirty(of: wire) { link in
      guard let other = link.pointee.slot?.pointee.lazy, other.isOutdated else { return }
      if hasFailedNow(other) || other.isUnderWay {
        hasFailed = true
      } else {
        state.list.push(other)
        waits = true
      }
    }
    if waits { return .waits }
    if hasFailed { return .changed }
    // An operator is compared when all its parts are known.
    var (others, hasChanged) = ([LinkRef](), false)
    while let link = wiring.takeDirty(wire) {
      if let lazy = link.pointee.slot?.pointee.lazy {
        if dependents.refreshLazy(link, lazy) { hasChanged = true }
      } else {
        others.append(link)
      }
    }
    for link in others { wiring.markDirty(link) }
    return hasChanged ? .changed : nil
  }

  /// The first property at the end of a declared path that is invalid.
  private func firstInvalid(of lazy: WatcherRef) -> WatcherRef? {
    var found: WatcherRef?
    wiring.forEachWire(of: lazy) { wire in
      records.forEachDirty(of: wire) { link in
        guard found == nil, let other = link.pointee.slot?.pointee.lazy else { return }
        if other.pointee.traits.contains(.uncached) {
          // A property without a value only reports changes of its dependencies: those are brought
          // up to date.
          _ = dependents.settleDependencies(of: other)
        } else if other.isOutdated, !hasFailedNow(other), !other.isComputing {
          found = other
        }
      }
    }
    return found
  }

  // MARK: The list

  /// The properties that wait for one another, the first that was asked for at the front.
  var chain: [WatcherRef] { state.list.chain }
  /// Has a property brought up to date before the one that is on top of the list.
  func push(_ lazy: WatcherRef) { state.list.push(lazy) }
  /// Nothing is left to do for the property on top of the list.
  func pop() { state.list.pop() }
  func noteFailure(of lazy: WatcherRef) { state.list.noteFailure(of: lazy) }
  func free() { state.list.free() }
}

extension WatcherRef {
  /// True where links of the watcher may be stale or dirty.
  @inline(__always)
  var hasWork: Bool { pointee.wiresWithWork != nil }
  /// True where links of a path with more than one component may be stale or dirty.
  @inline(__always)
  var hasLongWork: Bool {
    var wire = pointee.wiresWithWork
    while let current = wire {
      if !current.pointee.isShort { return true }
      wire = current.pointee.nextWithWork
    }
    return false
  }
  /// True where links of the watcher are dirty.
  @inline(__always)
  var hasDirtyLinks: Bool {
    var wire = pointee.wiresWithWork
    while let current = wire {
      if current.pointee.dirty != nil { return true }
      wire = current.pointee.nextWithWork
    }
    return false
  }
  /// True for a watcher, or a property without a value, which have to be notified of each change;
  /// other lazy properties compare when they are read.
  var needsEachChange: Bool {
    !pointee.traits.contains(.lazy) || pointee.traits.contains(.uncached)
  }
}
