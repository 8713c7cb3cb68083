/// Brings lazy properties up to date: a list of dependencies is processed, the deepest first, so
/// that long chains need no stack space (Z13).
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

  /// Makes a lazy property valid; computes only if one of its dependencies has really changed.
  ///
  /// False if it failed; its receiver has the error.
  @discardableResult
  package func settle(_ target: WatcherRef) -> Bool {
    if !target.isOutdated { return !target.pointee.isPending }
    if delivery.hasWaitingWrites { return settleAfterWaitingWrites(target) }
    return settleNow(target)
  }

  /// Reports the waiting writes, and brings the property up to date if it still exists after that.
  @inline(never)
  private func settleAfterWaitingWrites(_ target: WatcherRef) -> Bool {
    let name = target.identity
    delivery.reportWaiting()
    guard let target = watchers[name] else { return false }
    return target.isOutdated ? settleNow(target) : !target.pointee.isPending
  }

  @inline(__always)
  private func settleNow(_ target: WatcherRef) -> Bool {
    // If `target` waits for its declared dependencies, one of them requests it here: a cycle.
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
    // A property that has a value after a failure may have dependents.
    if computing.depth == 0, !delivery.hasWaitingWrites { comparisons.call() }
    guard let lazy = watchers[name] else { return false }
    return !lazy.pointee.isPending
  }

  /// Processes the result of a getter: its property is done, or waits for another one that it
  /// reads.
  package func take(_ computation: Computation, of lazy: WatcherRef) {
    if computing.finish(lazy, computation) { state.list.pop() }
  }

  /// Processes the result of a getter, and returns the receiver's next property to compute; nil if
  /// the list is done, or if that property belongs to another receiver.
  package func next(after lazy: WatcherRef, _ computation: Computation) -> WatcherRef? {
    let receiver = lazy.pointee.receiver
    take(computation, of: lazy)
    guard let next = nextToCompute(), next.pointee.receiver.toOpaque() == receiver.toOpaque()
    else { return nil }
    computing.begin(next)
    return next
  }

  /// Processes the list of the innermost `settle` up to the next property to compute; nil at its
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
    /// The property needs no more work.
    case done
    /// Another property is now above it on the list.
    case waits
    /// All its dependencies are up to date: it is computed next.
    case computes
  }

  /// Makes one step with the property on top of the list.
  private func settle(_ lazy: WatcherRef, after done: WatcherRef?) -> Step {
    operations.countStep()
    let hasWaited = lazy.phase == .awaiting
    if hasWaited { lazy.phase = .idle }
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
      // While it is examined, it is marked as waiting, so that a cycle is found.
      lazy.phase = .awaiting
      let examination = examine(lazy, again: hasWaited)
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
      // Following them may have exceeded a limit: then all links were given up.
      if let error = computing.makeWires(of: lazy) {
        computing.fail(lazy, error)
        return .done
      }
      lazy.phase = .awaiting
      let (count, invalid) = (state.list.count, pushInvalid(of: lazy))
      if invalid.wait {
        state.list.reverse(from: count)
        return .waits
      }
      lazy.phase = .idle
      if let other = invalid.cycle {
        computing.fail(lazy, LazyError.cycle(names: lazies.cycle(to: other)))
        return .done
      }
    }
    return .computes
  }

  /// Releases a property that has left the list.
  @inline(__always)
  private func release(_ lazy: WatcherRef) {
    lazy.lazyState.pointee.listings -= 1
    if lazy.lazyState.pointee.listings == 0 { watchers.freeIfUnused(lazy) }
  }

  /// Whether the property failed in the operation under way; it is not computed again before that
  /// operation is over.
  func hasFailedNow(_ lazy: WatcherRef) -> Bool { state.list.hasFailed(lazy) && isUnderWay }

  /// Whether a property is being brought up to date; it receives the errors of its dependencies.
  var isUnderWay: Bool { !state.list.isEmpty || computing.isUnderWay }

  // MARK: Examining dependencies

  private enum Examination {
    case same, changed
    /// Dependencies have to be brought up to date first; they are on the list.
    case waits
  }

  /// Finds out whether a dependency of an invalid property has really changed.
  ///
  /// Dependencies that are invalid themselves are brought up to date first. A tracked property may
  /// read a dependency only if the earlier ones are the same, so it waits for one at a time. It
  /// then continues (`again`) where it stopped, because starting over for each dependency would
  /// take quadratic time.
  private func examine(_ lazy: WatcherRef, again: Bool) -> Examination {
    if lazy.pointee.flags.contains(.anchoring), wiring.takeDepartures(of: lazy) != nil {
      return .changed
    }
    // Objects may have come or left below `**`.
    guard wiring.rewire(lazy), !lazy.pointee.isStale else { return .changed }
    // Dependencies are examined in the order they were declared or read.
    let count = state.list.count
    var (found, invalid) = (Examination?.none, Invalid())
    wiring.forEachWireWithWork(of: lazy) { wire in
      operations.countStep()
      if found != nil { return }
      if wire.pointee.use == .tracking {
        if !again { wire.pointee.cursor = nil }
        found = examineReads(wire)
      } else {
        pushInvalid(on: wire, &invalid)
        if !invalid.wait, !invalid.isBlocked { found = examine(wire) }
      }
    }
    if invalid.wait {
      state.list.reverse(from: count)
      return .waits
    }
    if invalid.isBlocked { found = .changed }
    if let found { return found }
    guard wiring.rewire(lazy) else { return .changed }
    guard let refreshed = dependents.refresh(lazy) else { return .changed }
    return refreshed.path == nil ? .same : .changed
  }

  /// Examines the reads of a tracked computation after the last one that was the same; nil if
  /// nothing has changed.
  private func examineReads(_ wire: WireRef) -> Examination? {
    while let link = wire.linkAfterCursor {
      operations.countStep()
      if link.pointee.isDirty {
        if let other = link.pointee.slot?.pointee.lazy, other.isOutdated {
          if hasFailedNow(other) || other.isUnderWay { return .changed }
          state.list.push(other)
          return .waits
        }
        if members.refreshDerived(link) { return .changed }
      }
      // Comparing may have run code of the program that ended the link.
      wire.pointee.cursor = link.pointee.isDead ? nil : link
    }
    // Getters of later dependencies may have made earlier ones invalid again.
    var isInvalid = false
    records.forEachDirty(of: wire) { link in
      if link.pointee.slot?.pointee.lazy?.isOutdated == true { isInvalid = true }
    }
    wire.pointee.cursor = nil
    return isInvalid ? examineReads(wire) : nil
  }

  /// Makes the declared paths of a property follow all values that are up to date.
  ///
  /// If a property on a path is not up to date, the path ends there until the property is computed.
  /// False if the property has ended.
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

  /// Examines the values on one declared path; nil if nothing has changed.
  private func examine(_ wire: WireRef) -> Examination? {
    if wire.pointee.dirty == nil { return nil }
    // An operator is compared after all its parts are known.
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

  /// The invalid properties on declared paths.
  private struct Invalid {
    /// Whether some, which are on the list, have to be brought up to date first.
    var wait = false
    /// Whether some cannot be brought up to date now, because they have failed or are under way.
    var isBlocked = false
    /// A property that waits for the examined one.
    var cycle: WatcherRef?
  }

  private func pushInvalid(of lazy: WatcherRef) -> Invalid {
    var invalid = Invalid()
    wiring.forEachWireWithWork(of: lazy) { pushInvalid(on: $0, &invalid) }
    return invalid
  }

  /// Adds the invalid properties on one declared path to the list.
  ///
  /// A new value of a property may make the path lead elsewhere, so the properties behind it are
  /// added later.
  private func pushInvalid(on wire: WireRef, _ invalid: inout Invalid) {
    records.forEachDirty(of: wire) { link in
      operations.countStep()
      guard let other = link.pointee.slot?.pointee.lazy else { return }
      if other.pointee.traits.contains(.uncached) {
        // A property without a value only reports changes of its dependencies, so these are brought
        // up to date instead.
        dependents.settleDependencies(of: other)
      } else if other.isOutdated {
        if other.isUnderWay || hasFailedNow(other) {
          invalid.isBlocked = true
          if other.phase == .awaiting, invalid.cycle == nil { invalid.cycle = other }
        } else if link.isBelowOperator || !link.isBelowOtherValue {
          state.list.push(other)
          invalid.wait = true
        } else {
          invalid.isBlocked = true
        }
      }
    }
  }

  // MARK: The list

  /// The properties that wait for one another, beginning with the first requested one.
  var chain: [WatcherRef] { state.list.chain }
  /// Adds a property to the list, to be brought up to date before the current top.
  func push(_ lazy: WatcherRef) { state.list.push(lazy) }
  /// Removes the property on top of the list, which needs no more work.
  func pop() { state.list.pop() }
  func noteFailure(of lazy: WatcherRef) { state.list.noteFailure(of: lazy) }
  func free() { state.list.free() }
}

extension LinkRef {
  /// Whether a lazy property nearer to the root is invalid, or has a value that the path does not
  /// follow yet.
  fileprivate var isBelowOtherValue: Bool {
    isBelow {
      guard $0.pointee.isDirty, let lazy = $0.pointee.slot?.pointee.lazy else { return false }
      return lazy.isOutdated
        || $0.pointee.version != lazy.version(for: $0.pointee.wire.pointee.watcher)
    }
  }
}

extension WatcherRef {
  /// True if links of the watcher may be stale or dirty.
  @inline(__always)
  var hasWork: Bool { pointee.wiresWithWork != nil }
  /// True if links of a path with more than one component may be stale or dirty.
  @inline(__always)
  var hasLongWork: Bool {
    var wire = pointee.wiresWithWork
    while let current = wire {
      if !current.pointee.isShort { return true }
      wire = current.pointee.nextWithWork
    }
    return false
  }
  /// True if links of the watcher are dirty.
  @inline(__always)
  var hasDirtyLinks: Bool {
    var wire = pointee.wiresWithWork
    while let current = wire {
      if current.pointee.dirty != nil { return true }
      wire = current.pointee.nextWithWork
    }
    return false
  }
  /// The number of components of its longest path with stale or dirty links.
  var longestPath: Int {
    var (wire, longest) = (pointee.wiresWithWork, 0)
    while let current = wire {
      longest = max(
        longest, current.pointee.path._withUnsafeGuaranteedRef { $0.components.count })
      wire = current.pointee.nextWithWork
    }
    return longest
  }
  /// True for a watcher, or a property without a value, which have to be notified of each change;
  /// other lazy properties compare when they are read.
  var needsEachChange: Bool {
    !pointee.traits.contains(.lazy) || pointee.traits.contains(.uncached)
  }
}
