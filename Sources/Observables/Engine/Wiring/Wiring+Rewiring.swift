/// Bringing the links of a watcher up to date with the objects (P6): by identity, never by
/// equality.
///
/// A write marks links behind which an object was replaced as *stale*, and links whose derived
/// value may differ as *dirty*. Both stay in lists of their path until the watcher runs.
///
/// A slot may be quiet, with further writes not reported, only while its links are marked. Code
/// that removes a mark therefore arms the slot again.
extension Wiring {
  // MARK: Marks

  func markStale(_ link: LinkRef) {
    guard !link.pointee.isStale, !link.pointee.isDead else { return }
    link.pointee.wire.addStale(link)
    noteWork(of: link.pointee.wire)
  }

  func markDirty(_ link: LinkRef) {
    link.pointee.isSettled = false
    putBack(link)
  }

  /// Puts a dirty link that was taken into the list of its path again.
  func putBack(_ link: LinkRef) {
    guard !link.pointee.isDirty, !link.pointee.isDead else { return }
    link.pointee.wire.addDirty(link)
    noteWork(of: link.pointee.wire)
  }

  @inline(__always)
  private func noteWork(of wire: WireRef) {
    if wire.pointee.hasWork || wire.hasEnded { return }
    wire.pointee.hasWork = true
    let watcher = wire.pointee.watcher
    wire.pointee.nextWithWork = watcher.pointee.wiresWithWork
    watcher.pointee.wiresWithWork = wire
  }

  /// Removes and returns the next link that has to be looked up again and still exists.
  func takeStale(_ wire: WireRef) -> LinkRef? {
    while let link = wire.popStale() {
      operations.countStep()
      if !link.pointee.isDead {
        wake(link)
        return link
      }
      if !link.pointee.isDirty { records.end(link) }
    }
    return nil
  }

  /// Removes and returns the next link whose derived value may have changed and that still exists.
  @inline(__always)
  func takeDirty(_ wire: WireRef) -> LinkRef? {
    while let link = wire.popDirty() {
      operations.countStep()
      if !link.pointee.isDead {
        wake(link)
        return link
      }
      if !link.pointee.isStale { records.end(link) }
    }
    return nil
  }

  /// Arms the slot of a marked link, so that writes are reported again.
  @inline(__always)
  private func wake(_ link: LinkRef) {
    if let slot = link.pointee.slot, slot.pointee.isQuiet { slots.arm(slot) }
  }

  /// Calls `body` with the paths of a watcher that have stale or dirty links, in the order they
  /// were added; then removes paths without such links from the list.
  @inline(__always)
  func forEachWireWithWork(of watcher: WatcherRef, _ body: (WireRef) -> Void) {
    guard let first = watcher.pointee.wiresWithWork else { return }
    if first.pointee.nextWithWork == nil { body(first) } else { goThrough(first, body) }
    forgetIdleWires(of: watcher)
  }

  @inline(never)
  private func goThrough(_ first: WireRef, _ body: (WireRef) -> Void) {
    var wires = [first]
    while let next = wires.last!.pointee.nextWithWork { wires.append(next) }
    wires.sort { $0.pointee.index < $1.pointee.index }
    records.hold { for wire in wires where !wire.hasEnded { body(wire) } }
  }

  /// Removes paths that no longer have stale or dirty links from the list of paths with work.
  @inline(__always)
  func forgetIdleWires(of watcher: WatcherRef) {
    var next = watcher.pointee.wiresWithWork
    watcher.pointee.wiresWithWork = nil
    while let wire = next {
      next = wire.pointee.nextWithWork
      if wire.pointee.stale == nil, wire.pointee.dirty == nil {
        wire.pointee.nextWithWork = nil
        wire.pointee.hasWork = false
      } else {
        wire.pointee.nextWithWork = watcher.pointee.wiresWithWork
        watcher.pointee.wiresWithWork = wire
      }
    }
  }

  // MARK: Replaced objects

  /// Makes the links of a watcher follow the current objects on its paths.
  ///
  /// A lazy property, and the first and the last element of a list, are derived values: a different
  /// one only causes a call if it still differs in the watcher's turn (Z4), and a dependent
  /// property only runs if it still differs when it is read. Until then the links below stay at the
  /// last delivered one, as writes to it count if it comes back. Below an operator they follow at
  /// once: it is the operator's value that is compared.
  ///
  /// If a watcher is stale only for writes that a transaction may take back (S8), all its links
  /// stay. Watchers that compare in each write are the exception: their links follow at once.
  ///
  /// False if the watcher has ended.
  @discardableResult
  func rewire(_ watcher: WatcherRef, isItsTurn: Bool = false) -> Bool {
    if !isItsTurn, watcher.pointee.flags.contains(.tentative), !watcher.pointee.isEager {
      return true
    }
    var wire = watcher.pointee.wiresWithWork
    while let current = wire {
      operations.countStep()
      if current.pointee.stale != nil { return rewireStale(watcher, isItsTurn: isItsTurn) }
      wire = current.pointee.nextWithWork
    }
    return true
  }

  private func rewireStale(_ watcher: WatcherRef, isItsTurn: Bool) -> Bool {
    let traits = watcher.pointee.traits
    let keepsDelivered =
      !isItsTurn && watcher.pointee.status == .check && !traits.contains(.immediate)
      && !(traits.contains(.lazy) && watcher.isUnderWay)
    var kept: [LinkRef] = []
    func follow(_ link: LinkRef) {
      if keepsDelivered, link.leadsToUndelivered {
        kept.append(link)
      } else {
        rewire(link)
      }
    }
    return whileWiring(watcher) {
      forEachWireWithWork(of: watcher) { wire in
        if transactions.holds(wire) { return }
        let payer = wire.chargedReceiver
        while !isRefused(payer), let first = takeStale(wire) {
          if wire.pointee.stale == nil {
            follow(first)
          } else {
            rewire(first, andOthersOf: wire, payer, follow)
          }
        }
      }
      for link in kept where !link.pointee.isDead { markStale(link) }
      if !watcher.pointee.traits.contains(.immediate), members.takeMoves(of: watcher) != nil {
        // A property that has a value now was assigned after the moves.
        let isValid = traits.contains(.lazy) && watcher.slot?.pointee.isValid == true
        if !isValid { watcher.pointee.raise(to: .stale) }
      }
    }
  }

  /// Makes stale links follow, from the root down: links below a replaced object are removed, and
  /// need not be looked up.
  private func rewire(
    _ first: LinkRef, andOthersOf wire: WireRef, _ payer: ObservationCore.Receiver?,
    _ follow: (LinkRef) -> Void
  ) {
    var links = [first]
    while let link = takeStale(wire) { links.append(link) }
    // Links of the same step keep the order of their marks.
    links.reverse()
    links.sort { $0.pointee.step < $1.pointee.step }
    for link in links where !link.pointee.isDead && !isRefused(payer) { follow(link) }
  }

  /// Makes a path follow all writes so far; false if it could not, or has ended.
  func follows(_ wire: WireRef) -> Bool {
    if wire.pointee.stale != nil { rewire(wire.pointee.watcher) }
    return wire.pointee.stale == nil && !wire.hasEnded
  }

  private func rewire(_ link: LinkRef) {
    let path = link.pointee.wire.pointee.path._withUnsafeGuaranteedRef { $0 }
    if let node = link.pointee.slot?.pointee.node, !node.isDead {
      if let state = link.state, state.role != .end {
        members.update(link, state, on: node)
        return
      }
      // An anchored link follows its object, not the one at the position now.
      if link.isAnchored { return }
      if !link.pointee.isTerminal { follow(link, on: node, path) }
    } else {
      detachAll(below: link)
    }
    if Int(link.pointee.step) > path.aggregateStep { members.contributionChanged(at: link) }
  }

  /// Moves the links below a link to the object that is there now.
  private func follow(_ link: LinkRef, on node: NodeRef, _ path: Path) {
    let step = Int(link.pointee.step)
    let child = child(of: link, on: node, step, path)
    if let error = takeForeign(step, of: path) {
      complain(error, about: link.pointee.wire, below: nil)
    }
    // Code of the program may have removed the link.
    if link.pointee.isDead { return }
    if let existing = link.onward {
      if case .node(let child) = child, existing.pointee.slot?.pointee.node == child { return }
      detach(existing, from: link)
    }
    if case .node(let child) = child, !child.isDead {
      attachLeniently(link.pointee.wire, step: step + 1, to: child, below: link)
    }
  }

  /// Brings all links up to date, for a caller that asks which keys are observed (W1).
  package func settleAll() {
    nodes.buryDead()
    if watchers.arePaused {
      watchers.forEach { settle($0) }
    } else {
      for name in delivery.pending { if let watcher = watchers[name] { settle(watcher) } }
    }
  }

  private func settle(_ watcher: WatcherRef) {
    if watcher.pointee.isPending, !watcher.pointee.traits.contains(.lazy) { rewire(watcher) }
  }
}

extension LinkRef {
  /// Whether the value at the link may be another one than was delivered, and may change back
  /// before it is.
  fileprivate var leadsToUndelivered: Bool {
    if isBelowOperator { return false }
    if let lazy = pointee.slot?.pointee.lazy, !pointee.isTerminal {
      return pointee.version != lazy.version
    }
    return state?.role == .end
  }
}
