/// Brings lazy properties up to date: what depends on what is worked off from a list, the deepest first,
/// so that no chain of them needs the stack (Z13).
extension Engine {
  /// Makes a lazy property valid: nothing is computed unless something that it depends on has really
  /// changed.
  ///
  /// False where it failed; its receiver knows why.
  @discardableResult
  package func settle(_ target: WatcherRef) -> Bool {
    if !target.isOutdated { return !target.pointee.flags.contains(.pending) }
    // A property that waits for what it declares cannot be one of those.
    if target.pointee.flags.contains(.computing) || target.isWaiting { return false }
    if settling.isEmpty, computing.isEmpty { operation += 1 }
    let (base, target) = (settling.count, (index: target.pointee.index, id: target.pointee.id))
    let isNested = nativeDepth > 0
    nativeDepth += 1
    suspendTracking()
    push(watcher(at: target.index, id: target.id)!)
    var done: WatcherRef?
    while settling.count > base {
      let lazy = settling[settling.count - 1]
      if settle(lazy, after: done, isNested: isNested) {
        done = lazy
        pop()
      }
    }
    nativeDepth -= 1
    if nativeDepth == 0, !trackers.isEmpty {
      for tracker in trackers { tracker._withUnsafeGuaranteedRef { $0.settled() } }
      trackers.removeAll(keepingCapacity: true)
    }
    resumeTracking()
    guard let lazy = watcher(at: target.index, id: target.id) else { return false }
    return !lazy.pointee.flags.contains(.pending)
  }

  /// One step with the property on top of the list; true when it is done with.
  private func settle(_ lazy: WatcherRef, after done: WatcherRef?, isNested: Bool) -> Bool {
    lazy.pointee.flags.remove(.awaiting)
    let flags = lazy.pointee.flags
    if flags.contains(.waiting), let done {
      lazy.pointee.flags.remove(.waiting)
      track(lazy)
      return finish(
        lazy, lazy.pointee.receiver.takeUnretainedValue().resume(lazy, after: done, nil))
    }
    guard lazy.isOutdated, !hasFailedNow(lazy) else { return true }
    if !flags.contains(.certain) {
      switch examine(lazy) {
      case .waits:
        lazy.pointee.flags.insert(.awaiting)
        return false
      case .same:
        validate(lazy)
        return true
      case .changed:
        guard lazy.pointee.isActive else { return true }
        lazy.pointee.flags.insert(.certain)
      }
    }
    if !flags.contains(.tracking), !flags.contains(.wired) || lazy.hasWork {
      if let error = makeWires(of: lazy) { return fail(lazy, error) }
      guard rewire(lazy) else { return true }
      switch firstInvalid(of: lazy) {
      case .none: break
      case .some(let other) where other.pointee.flags.contains(.awaiting):
        return fail(lazy, LazyError.cycle(names: cycle(to: other)))
      case .some(let other):
        push(other)
        lazy.pointee.flags.insert(.awaiting)
        return false
      }
    }
    return compute(lazy, isNested: isNested)
  }

  @inline(__always)
  private func push(_ lazy: WatcherRef) {
    lazy.pointee.flags.insert(.stacked)
    lazy.pointee.nested += 1
    settling.append(lazy)
  }

  @inline(__always)
  private func pop() {
    guard let lazy = settling.popLast() else { return }
    lazy.pointee.nested -= 1
    if lazy.pointee.nested > 0 { return }
    lazy.pointee.flags.remove(.stacked)
    freeIfUnused(lazy)
  }

  /// It failed in the operation under way: it is not tried again before that is over.
  private func hasFailedNow(_ lazy: WatcherRef) -> Bool {
    lazy.pointee.flags.contains(.failed) && lazy.pointee.operation == operation
      && !(settling.isEmpty && computing.isEmpty)
  }

  // MARK: Looking at dependencies

  private enum Examination {
    case same, changed
    /// These have to be brought up to date first; they are on the list.
    case waits
  }

  /// Finds out whether something that an invalid property depends on has really changed.
  private func examine(_ lazy: WatcherRef) -> Examination {
    if lazy.pointee.flags.contains(.anchoring), takeDepartures(of: lazy) != nil { return .changed }
    guard rewire(lazy) else { return .changed }
    // In the order in which they were declared, or read.
    var wire = lazy.pointee.wires
    while let current = wire {
      if let found = current.pointee.isTracking ? examineReads(current) : examine(current) {
        return found
      }
      wire = current.pointee.next
    }
    guard rewire(lazy) else { return .changed }
    return refreshDerived(lazy) ? .changed : .same
  }

  /// What a tracked computation has read; nil where nothing has changed.
  private func examineReads(_ wire: WireRef) -> Examination? {
    var link = wire.pointee.top
    while let current = link {
      link = current.pointee.sibling
      guard current.pointee.isDirty else { continue }
      if let other = current.pointee.slot?.pointee.lazy, other.isOutdated {
        if hasFailedNow(other) || other.isUnderWay { return .changed }
        push(other)
        return .waits
      }
      if refreshDerived(current) { return .changed }
    }
    return nil
  }

  /// What one declared path leads to.
  private func examine(_ wire: WireRef) -> Examination? {
    guard let first = firstDirty(of: wire) else { return nil }
    var (link, hasFailed, waits) = (LinkRef?(first), false, false)
    while let current = link {
      link = current.pointee.nextDirty
      guard !current.pointee.isDead, let other = current.pointee.slot?.pointee.lazy,
        other.isOutdated
      else { continue }
      if hasFailedNow(other) || other.isUnderWay {
        hasFailed = true
      } else {
        push(other)
        waits = true
      }
    }
    if waits { return .waits }
    if hasFailed { return .changed }
    // What an operator puts together is looked at when all its parts are known.
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
  private func firstInvalid(of lazy: WatcherRef) -> WatcherRef? {
    var wire = lazy.pointee.wires
    while let current = wire {
      wire = current.pointee.next
      var link = current.pointee.dirty
      while let dirty = link {
        link = dirty.pointee.nextDirty
        guard !dirty.pointee.isDead, let other = dirty.pointee.slot?.pointee.lazy else { continue }
        if other.pointee.flags.contains(.uncached) {
          // It announces what is up to date only.
          _ = settleDependencies(of: other)
        } else if other.isOutdated, !hasFailedNow(other), !other.pointee.flags.contains(.computing)
        {
          return other
        }
      }
    }
    return nil
  }

  /// What a watcher waits for is brought up to date before its paths are followed.
  ///
  /// Errors have no reader here, and are reported (Z8). False when the watcher ended meanwhile.
  func settleDependencies(of watcher: WatcherRef) -> Bool {
    var wire = watcher.pointee.wires
    while let current = wire {
      if current.pointee.dirty != nil { return settleDirty(watcher) }
      wire = current.pointee.next
    }
    return true
  }

  private func settleDirty(_ watcher: WatcherRef) -> Bool {
    let outer = beginWiring(watcher)
    var wire = watcher.pointee.wires
    while let current = wire {
      // Kept until all is done: nothing of them is freed while links are made.
      var links: [LinkRef] = []
      while let link = takeDirty(current) { links.append(link) }
      for link in links {
        guard let lazy = link.pointee.slot?.pointee.lazy, watcher.pointee.isActive else { continue }
        if lazy.pointee.flags.contains(.uncached) {
          // It announces what is up to date only.
          _ = settleDependencies(of: lazy)
        } else {
          settleForNobody(lazy)
        }
        guard let slot = link.pointee.slot, let lazy = slot.pointee.lazy else { continue }
        if link.pointee.derived == lazy.pointee.version { continue }
        if link.isBelowOperator {
          // Its contribution changes before the operator is looked at.
          link.pointee.derived = lazy.pointee.version
          markStale(link)
        } else if !link.pointee.isTerminal {
          markStale(link)
        }
      }
      for link in links
      where link.pointee.slot != nil && !(link.pointee.isStale && link.isBelowOperator) {
        markDirty(link)
      }
      wire = current.pointee.next
    }
    return endWiring(watcher, outer)
  }

  /// … where nobody reads it.
  ///
  /// What has failed is tried `again` only for somebody new. False where it has no value.
  @discardableResult
  package func settleForNobody(_ lazy: WatcherRef, again: Bool = false) -> Bool {
    if !lazy.isOutdated { return !lazy.pointee.flags.contains(.pending) }
    if lazy.isUnderWay || hasFailedNow(lazy) { return false }
    if lazy.pointee.flags.contains(.failed), !again { return false }
    let (index, id) = (lazy.pointee.index, lazy.pointee.id)
    if settle(lazy) { return true }
    if let lazy = watcher(at: index, id: id), !lazy.isUnderWay {
      lazy.pointee.receiver.takeUnretainedValue().reportFailure(of: lazy)
    }
    return false
  }

  /// A link was made to a lazy property: what is watched is computed (Z4), and so is what a path goes
  /// through.
  ///
  /// False when the link is gone.
  func isUpToDate(_ link: LinkRef, _ wire: WireRef) -> Bool {
    guard let lazy = link.pointee.slot?.pointee.lazy else { return true }
    if lazy.pointee.flags.contains(.uncached) {
      if let error = makeWires(of: lazy) {
        lazy.pointee.receiver.takeUnretainedValue().fail(lazy, error)
        lazy.pointee.receiver.takeUnretainedValue().reportFailure(of: lazy)
      }
    } else if !link.pointee.isTerminal || wire.pointee.watcher.wantsNews {
      settleForNobody(lazy, again: true)
    }
    guard let slot = link.pointee.slot, wire.pointee.watcher.pointee.isActive else { return false }
    if link.pointee.derived != Link.notDerived, link.kind != .element, let lazy = slot.pointee.lazy
    {
      link.pointee.derived = lazy.pointee.version
      if wire.pointee.watcher.wantsNews { lazy.pointee.flags.remove(.based) }
    }
    return true
  }

  /// Whether the property at a link has another value than the one that was delivered last.
  func refreshLazy(_ link: LinkRef, _ lazy: WatcherRef) -> Bool {
    let watcher = link.pointee.wire.pointee.watcher
    let isReader = watcher.pointee.flags.contains(.lazy)
    // Who depends on what failed finds the error when it is computed.
    if lazy.isOutdated { return isReader }
    guard link.kind != .element, link.pointee.derived != Link.notDerived else { return true }
    if link.pointee.derived == lazy.pointee.version { return false }
    link.pointee.derived = lazy.pointee.version
    if link.isBelowOperator {
      markStale(link)
      return false
    }
    if !isReader { return !isEqual(lazy, for: watcher) }
    if !link.pointee.isTerminal { markStale(link) }
    return true
  }

  /// For a watcher that compares by itself; what it is told is what was delivered last from now on.
  private func isEqual(_ lazy: WatcherRef, for watcher: WatcherRef) -> Bool {
    defer { if !watcher.pointee.flags.contains(.immediate) { lazy.pointee.flags.remove(.based) } }
    guard watcher.pointee.flags.contains(.comparing), lazy.pointee.flags.contains(.based),
      let slot = lazy.pointee.slot
    else { return false }
    var change = Change(
      node: slot.pointee.node, slot: slot, every: nil, isSame: false, values: nil)
    change.saved = lazy.pointee.receiver.takeUnretainedValue().change(of: lazy)
    return watcher.pointee.receiver.takeUnretainedValue().isEqual(watcher, change)
  }

  /// Whether one of the lazy properties of an object that is watched as a whole has another value; those
  /// that were never read are left alone (Z3).
  func refreshLazies(_ link: LinkRef, of node: NodeRef) -> Bool {
    let known = link.pointee.derived
    link.pointee.derived = lastVersion
    if known == Link.notDerived { return false }
    var lazies: [(index: Int, id: UInt64)] = []
    node.forEachSlot { slot in
      if let lazy = slot.pointee.lazy, lazy.pointee.flags.contains(.known) {
        lazies.append((lazy.pointee.index, lazy.pointee.id))
      }
    }
    var hasChanged = false
    for (index, id) in lazies {
      guard let lazy = watcher(at: index, id: id) else { continue }
      settleForNobody(lazy)
      guard let lazy = watcher(at: index, id: id) else { continue }
      if lazy.pointee.version > known { hasChanged = true }
      lazy.pointee.flags.remove(.based)
    }
    if link.pointee.slot != nil { link.pointee.derived = lastVersion }
    return hasChanged
  }

  // MARK: Computing

  /// Makes the links to what a property depends on; the error where they cannot be.
  func makeWires(of lazy: WatcherRef) -> (any Error)? {
    if !lazy.pointee.flags.isDisjoint(with: [.wired, .tracking]) { return nil }
    lazy.pointee.flags.insert(.wired)
    let outer = beginWiring(lazy)
    defer { endWiring(lazy, outer) }
    do {
      try lazy.pointee.receiver.takeUnretainedValue().wire(lazy, in: self)
      return nil
    } catch {
      lazy.pointee.flags.remove(.wired)
      while let wire = lazy.pointee.wires {
        lazy.pointee.wires = wire.pointee.next
        free(wire)
      }
      return error
    }
  }

  private func compute(_ lazy: WatcherRef, isNested: Bool) -> Bool {
    if nativeDepth > 16, nativeDepth > computationLimit || !stack.hasRoom(),
      let first = computing.first
    {
      return fail(
        lazy, LazyError.tooDeep(first: name(of: first), last: name(of: lazy), depth: nativeDepth))
    }
    lazy.pointee.flags.insert(.computing)
    lazy.pointee.flags.remove(.disturbed)
    computing.append(lazy)
    beginTracking(lazy)
    let receiver = lazy.pointee.receiver
    return finish(
      lazy, receiver._withUnsafeGuaranteedRef { $0.compute(lazy, isNested: isNested) })
  }

  /// True when the property is done with; false while it waits for another one.
  private func finish(_ lazy: WatcherRef, _ computation: Computation) -> Bool {
    var computation = computation
    while case .waiting(let slot) = computation {
      suspendTracking()
      if let other = slot.pointee.lazy, !other.isUnderWay {
        lazy.pointee.flags.insert(.waiting)
        push(other)
        return false
      }
      let error = slot.pointee.lazy.map { LazyError.cycle(names: cycle(to: $0)) }
      let other = slot.pointee.lazy ?? lazy
      track(lazy)
      computation = lazy.pointee.receiver.takeUnretainedValue().resume(lazy, after: other, error)
    }
    endTracking(lazy)
    _ = computing.popLast()
    lazy.pointee.flags.remove(.computing)
    if lazy.pointee.isActive {
      if lazy.pointee.flags.contains(.disturbed) {
        lazy.pointee.flags.remove(.disturbed)
        computation = .failed
        let error = LazyError.disturbed(
          property: name(of: lazy), by: disturbances.removeValue(forKey: lazy.pointee.id) ?? "?")
        lazy.pointee.receiver.takeUnretainedValue().fail(lazy, error)
      }
      if case .failed = computation {
        noteFailure(of: lazy)
      } else {
        keep(computation, of: lazy)
        forgetDoubts(of: lazy)
      }
      if isRecording { recorder?.computed(lazy, computation) }
      rearmQuietSlots()
    }
    return true
  }

  /// It cannot be computed.
  private func fail(_ lazy: WatcherRef, _ error: any Error) -> Bool {
    lazy.pointee.receiver.takeUnretainedValue().fail(lazy, error)
    noteFailure(of: lazy)
    rearmQuietSlots()
    return true
  }

  private func noteFailure(of lazy: WatcherRef) {
    lazy.pointee.flags.formUnion([.failed, .certain, .pending])
    lazy.pointee.operation = operation
  }

  /// Nothing that it depends on has really changed.
  private func validate(_ lazy: WatcherRef) {
    keep(.same, of: lazy)
    forgetDoubts(of: lazy)
    if lazy.pointee.flags.contains(.mirrored) {
      lazy.pointee.receiver._withUnsafeGuaranteedRef { $0.validated(lazy) }
    }
    rearmQuietSlots()
  }

  /// What it depends on has the versions that it has used.
  func forgetDoubts(of lazy: WatcherRef) {
    if !lazy.hasWork { return }
    var wire = lazy.pointee.wires
    while let current = wire {
      wire = current.pointee.next
      while let link = takeDirty(current) {
        guard let slot = link.pointee.slot else { continue }
        if let other = slot.pointee.lazy {
          if link.pointee.derived != Link.notDerived {
            link.pointee.derived = other.pointee.version
          }
        } else {
          _ = refreshDerived(link)
        }
      }
    }
  }

  /// The error of a property that waits for itself, if it does.
  package func cycleError(of lazy: WatcherRef) -> LazyError? {
    lazy.isUnderWay ? .cycle(names: cycle(to: lazy)) : nil
  }

  /// The lazy properties of an object, in the order of their declaration.
  package func lazies(of node: NodeRef) -> [WatcherRef] {
    var lazies: [WatcherRef] = []
    node.forEachSlot { slot in if let lazy = slot.pointee.lazy { lazies.append(lazy) } }
    return lazies.sorted { $0.pointee.id < $1.pointee.id }
  }

  /// The getter of a lazy property is running.
  package var isComputing: Bool { !computing.isEmpty }

  // MARK: Names

  package func name(of lazy: WatcherRef) -> String {
    lazy.pointee.slot.map { $0.pointee.node.kind.name(of: $0) } ?? "?"
  }

  /// The names of the properties that wait for each other, from `lazy` back to it.
  package func cycle(to lazy: WatcherRef) -> [String] {
    var names: [String] = []
    var isInside = false
    for index in 0..<settling.count {
      let other = settling[index]
      // Others on the list wait for their turn, and for nobody.
      guard other.isUnderWay || index == settling.count - 1 else { continue }
      if other == lazy { isInside = true }
      if isInside, other != lazy || names.isEmpty { names.append(name(of: other)) }
    }
    return names + [name(of: lazy)]
  }
}

extension WatcherRef {
  /// Some of its links have to look again, or compare.
  @inline(__always)
  fileprivate var hasWork: Bool {
    var wire = pointee.wires
    while let current = wire {
      if current.pointee.dirty != nil || current.pointee.stale != nil { return true }
      wire = current.pointee.next
    }
    return false
  }
  /// It has to hear of each change of what it is linked to, and does not look by itself.
  var wantsNews: Bool {
    !pointee.flags.contains(.lazy) || pointee.flags.contains(.uncached)
  }
  /// Of a lazy property: its value has to be looked at before it is used.
  ///
  /// Of an object that is gone nothing is computed.
  @inline(__always)
  var isOutdated: Bool {
    guard pointee.flags.contains(.pending), let root = pointee.root else { return false }
    return !root.isDead
  }
  /// It is to be computed when all that it declares is up to date.
  var isWaiting: Bool {
    pointee.flags.isSuperset(of: [.awaiting, .certain]) && !pointee.flags.contains(.tracking)
  }
  /// It is being computed, or waits for what it depends on.
  var isUnderWay: Bool { !pointee.flags.isDisjoint(with: [.computing, .awaiting]) }
}
