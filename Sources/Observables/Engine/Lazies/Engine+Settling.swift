/// Brings lazy properties up to date: dependencies are worked off from a list, the deepest first,
/// so that no chain of them needs the stack (Z13).
extension Engine {
  /// Makes a lazy property valid: nothing is computed unless something that it depends on has
  /// really changed.
  ///
  /// False where it failed; its receiver has the error.
  @discardableResult
  package func settle(_ target: WatcherRef) -> Bool {
    if !target.isOutdated { return !target.pointee.isPending }
    if hasWaitingWrites { return settleAfterWaitingWrites(target) }
    return settleNow(target)
  }

  /// Reports the writes that wait, and brings the property up to date if it is there after that.
  @inline(never)
  private func settleAfterWaitingWrites(_ target: WatcherRef) -> Bool {
    let name = target.identity
    reportWaiting()
    guard let target = watcher(name) else { return false }
    return target.isOutdated ? settleNow(target) : !target.pointee.isPending
  }

  @inline(__always)
  private func settleNow(_ target: WatcherRef) -> Bool {
    // A property that waits for its declared dependencies depends on `target` itself then.
    if target.isComputing || target.isWaiting { return false }
    if settling.isEmpty, computations.isEmpty { settling.beginOperation() }
    let name = target.identity
    let outer = settling.beginLevel()
    let isNested = computations.depth > 0
    computations.nest()
    suspendTracking()
    settling.push(target)
    while let lazy = nextToCompute() {
      if compute(lazy, isNested: isNested) { settling.pop() }
    }
    if let done = settling.endLevel(outer) { release(done) }
    computations.unnest()
    if computations.depth == 0 { tracking.notifyTrackers() }
    resumeTracking()
    guard let lazy = watcher(name) else { return false }
    return !lazy.pointee.isPending
  }

  /// Takes the result of a property whose receiver computes one after another in one go, and gives
  /// it the next one, of the same receiver; nil where no such property is next.
  package func next(after lazy: WatcherRef, _ computation: Computation) -> WatcherRef? {
    let receiver = lazy.pointee.receiver
    if finish(lazy, computation) { settling.pop() }
    guard let next = nextToCompute(), next.pointee.receiver.toOpaque() == receiver.toOpaque()
    else { return nil }
    begin(next)
    return next
  }

  /// Works the list of the innermost `settle` off until something is to be computed; nil at its
  /// end.
  private func nextToCompute() -> WatcherRef? {
    while let lazy = settling.top {
      let done = settling.takeDone()
      let step = settle(lazy, after: done)
      if let done { release(done) }
      switch step {
      case .done: settling.pop()
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
    let flags = lazy.pointee.flags
    if lazy.phase == .suspended, let done {
      lazy.phase = .running
      tracking.goOn(lazy)
      let receiver = lazy.pointee.receiver
      return finish(lazy, receiver._withUnsafeGuaranteedRef { $0.resume(lazy, after: done, nil) })
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
        validate(lazy)
        return .done
      case .changed:
        guard lazy.pointee.isActive else { return .done }
        lazy.pointee.raise(to: .stale)
      }
    }
    if !flags.contains(.tracking), !flags.contains(.wired) || lazy.hasWork {
      if let error = makeWires(of: lazy) {
        fail(lazy, error)
        return .done
      }
      guard follow(lazy) else { return .done }
      // Following them may have been too much: then all links were given up.
      if let error = makeWires(of: lazy) {
        fail(lazy, error)
        return .done
      }
      switch firstInvalid(of: lazy) {
      case .none: break
      case .some(let other) where other == lazy || other.phase == .awaiting:
        fail(lazy, LazyError.cycle(names: cycle(to: other)))
        return .done
      case .some(let other):
        settling.push(other)
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
    if lazy.lazyState.pointee.listings == 0 { freeIfUnused(lazy) }
  }

  /// Whether the property failed in the operation under way: it is not tried again before that is
  /// over.
  func hasFailedNow(_ lazy: WatcherRef) -> Bool {
    settling.hasFailed(lazy) && !(settling.isEmpty && computations.isEmpty)
  }

  // MARK: Looking at dependencies

  private enum Examination {
    case same, changed
    /// Dependencies have to be brought up to date first; they are on the list.
    case waits
  }

  /// Finds out whether something that an invalid property depends on has really changed.
  private func examine(_ lazy: WatcherRef) -> Examination {
    if lazy.pointee.flags.contains(.anchoring), takeDepartures(of: lazy) != nil { return .changed }
    // Objects may have come or left below `**`.
    guard rewire(lazy), !lazy.pointee.isStale else { return .changed }
    // Dependencies are examined in the order in which they were declared, or read.
    var found: Examination?
    forEachWire(of: lazy) { wire in
      if found != nil { return }
      found = wire.pointee.use == .tracking ? examineReads(wire) : examine(wire)
    }
    if let found {
      // Paths that were compared already need no comparison after the computation.
      if found == .changed { forgetIdleWires(of: lazy) }
      return found
    }
    guard rewire(lazy) else { return .changed }
    guard let refreshed = refresh(lazy) else { return .changed }
    return refreshed.path == nil ? .same : .changed
  }

  /// Examines what a tracked computation has read; nil where nothing has changed.
  private func examineReads(_ wire: WireRef) -> Examination? {
    for link in wire.links where link.pointee.isDirty && !link.pointee.isDead {
      if let other = link.pointee.slot?.pointee.lazy, other.isOutdated {
        if hasFailedNow(other) || other.isUnderWay { return .changed }
        settling.push(other)
        return .waits
      }
      if refreshDerived(link) { return .changed }
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
      guard rewire(lazy) else { return false }
      var isReplaced = false
      forEachWireWithWork(of: lazy) { wire in
        if wire.pointee.isShort { return }
        records.forEachDirty(of: wire) { link in
          if !link.pointee.isTerminal, !link.isBelowOperator,
            let other = link.pointee.slot?.pointee.lazy, !other.isOutdated,
            useValue(of: other, at: link)
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
        settling.push(other)
        waits = true
      }
    }
    if waits { return .waits }
    if hasFailed { return .changed }
    // An operator is compared when all its parts are known.
    var (others, hasChanged) = ([LinkRef](), false)
    while let link = takeDirty(wire) {
      if let lazy = link.pointee.slot?.pointee.lazy {
        if refreshLazy(link, lazy) { hasChanged = true }
      } else {
        others.append(link)
      }
    }
    for link in others { markDirty(link) }
    return hasChanged ? .changed : nil
  }

  /// The first property at the end of a declared path that is invalid.
  func firstInvalid(of lazy: WatcherRef) -> WatcherRef? {
    var found: WatcherRef?
    forEachWire(of: lazy) { wire in
      records.forEachDirty(of: wire) { link in
        guard found == nil, let other = link.pointee.slot?.pointee.lazy else { return }
        if other.pointee.flags.contains(.uncached) {
          // A property without a value only reports changes of its dependencies: those are brought
          // up to date.
          _ = settleDependencies(of: other)
        } else if other.isOutdated, !hasFailedNow(other), !other.isComputing {
          found = other
        }
      }
    }
    return found
  }
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
    !pointee.flags.contains(.lazy) || pointee.flags.contains(.uncached)
  }
}
