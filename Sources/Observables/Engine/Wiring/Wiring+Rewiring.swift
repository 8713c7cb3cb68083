/// Bringing the links of a watcher up to date with the objects (P6): by identity, never by
/// equality.
///
/// A write marks the links behind which something was replaced as *stale*, and those whose derived
/// value may be another one as *dirty*. Both stay in lists of their path until the watcher runs.
///
/// A slot may be quiet only while its links are marked: further writes are not reported. Code that
/// takes a mark off therefore arms the slot again.
extension Wiring {
  // MARK: Marks

  func markStale(_ link: LinkRef) {
    guard !link.pointee.isStale, !link.pointee.isDead else { return }
    link.pointee.wire.addStale(link)
    noteWork(of: link.pointee.wire)
  }

  func markDirty(_ link: LinkRef) {
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

  /// The next link that has to look again, if it is still there.
  func takeStale(_ wire: WireRef) -> LinkRef? {
    while let link = wire.popStale() {
      if !link.pointee.isDead {
        wake(link)
        return link
      }
      if !link.pointee.isDirty { records.end(link) }
    }
    return nil
  }

  /// The next link whose derived value may have changed, if it is still there.
  @inline(__always)
  func takeDirty(_ wire: WireRef) -> LinkRef? {
    while let link = wire.popDirty() {
      if !link.pointee.isDead {
        wake(link)
        return link
      }
      if !link.pointee.isStale { records.end(link) }
    }
    return nil
  }

  /// Arms the slot of a link that was marked, so that writes are reported again.
  @inline(__always)
  private func wake(_ link: LinkRef) {
    if let slot = link.pointee.slot, slot.pointee.isQuiet { slots.arm(slot) }
  }

  /// Calls `body` with the paths of a watcher that have stale or dirty links, in the order in which
  /// they were added; then takes those that have none any more off the list.
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
    for wire in wires where !wire.hasEnded { body(wire) }
  }

  /// Takes paths that have no stale or dirty links any more off the list of those that have.
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

  /// Makes the links of a watcher follow the objects that lie on its paths now.
  ///
  /// The first and the last element of a list are derived values: another one calls only if it is
  /// still another one in the watcher's turn (Z4). Until then what lies below stays wired to the
  /// element that was delivered, since what is written to that one counts if it comes back. All
  /// links of a watcher stay that is stale only for what a transaction may take back (S8), unless
  /// it compares in each write, as the links of those follow at once.
  ///
  /// False when the watcher ended meanwhile.
  @discardableResult
  func rewire(_ watcher: WatcherRef, isItsTurn: Bool = false) -> Bool {
    if !isItsTurn, watcher.pointee.flags.contains(.tentative), !watcher.pointee.isEager {
      return true
    }
    var wire = watcher.pointee.wiresWithWork
    while let current = wire {
      if current.pointee.stale != nil { return rewireStale(watcher, isItsTurn: isItsTurn) }
      wire = current.pointee.nextWithWork
    }
    return true
  }

  private func rewireStale(_ watcher: WatcherRef, isItsTurn: Bool) -> Bool {
    let traits = watcher.pointee.traits
    let keepsEnds =
      !isItsTurn && watcher.pointee.status == .check
      && traits.isDisjoint(with: [.immediate, .lazy])
    var kept: [LinkRef] = []
    func follow(_ link: LinkRef) {
      if keepsEnds, link.state?.role == .end { kept.append(link) } else { rewire(link) }
    }
    return whileWiring(watcher) {
      forEachWireWithWork(of: watcher) { wire in
        if transactions.holds(wire) { return }
        while let first = takeStale(wire) {
          if wire.pointee.stale == nil {
            follow(first)
          } else {
            rewire(first, andOthersOf: wire, follow)
          }
        }
      }
      for link in kept where !link.pointee.isDead { markStale(link) }
      if !watcher.pointee.traits.contains(.immediate), members.takeMoves(of: watcher) != nil {
        // A property that has a value by now was assigned after the moves.
        let isValid = traits.contains(.lazy) && watcher.slot?.pointee.isValid == true
        if !isValid { watcher.pointee.raise(to: .stale) }
      }
    }
  }

  /// Makes stale links follow, the nearest to the root first: what is below a replaced object is
  /// taken out, and need not be looked up.
  private func rewire(_ first: LinkRef, andOthersOf wire: WireRef, _ follow: (LinkRef) -> Void) {
    var links = [first]
    while let link = takeStale(wire) { links.append(link) }
    // Links of one step are taken in the order of their marks.
    links.reverse()
    links.sort { $0.pointee.step < $1.pointee.step }
    for link in links where !link.pointee.isDead { follow(link) }
  }

  /// Makes a path follow what was written; false if it could not, or has ended.
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
      // An anchored link follows its object, not what lies at the position now.
      if link.isAnchored { return }
      if !link.pointee.isTerminal { follow(link, on: node, path) }
    } else {
      detachAll(below: link)
    }
    if Int(link.pointee.step) > path.aggregateStep { members.contributionChanged(at: link) }
  }

  /// Moves what is below a link to the object that lies there now.
  private func follow(_ link: LinkRef, on node: NodeRef, _ path: Path) {
    let step = Int(link.pointee.step)
    let child = child(of: link, on: node, step, path)
    if let error = takeForeign(step, of: path) {
      complain(error, about: link.pointee.wire, below: nil)
    }
    // Code of the program may have taken the link out.
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
    watchers.forEach { watcher in
      if watcher.pointee.isPending, !watcher.pointee.traits.contains(.lazy) { rewire(watcher) }
    }
  }
}
