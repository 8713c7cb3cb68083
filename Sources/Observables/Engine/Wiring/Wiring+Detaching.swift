/// Removing links: of a path that ends, of an object that left it, and of an object that died.
extension Wiring {
  /// Removes a path; the watcher ends with its last one (L5).
  ///
  /// If the watcher has other paths, it is still called for pending changes on this path. Returns
  /// true if the watcher had the path.
  package func remove(_ path: Path, from watcher: WatcherRef) -> Bool {
    records.hold {
      let found = records.first(from: watcher.pointee.wires.first) {
        $0.pointee.path._withUnsafeGuaranteedRef { $0 == path }
      }
      guard let wire = found else { return false }
      if wire.pointee.hasWork { keepCall(of: watcher, for: wire) }
      if wire.hasEnded { return true }
      end(wire, of: watcher)
      if watcher.pointee.wires.isEmpty { watchers.stop(watcher) }
      return true
    }
  }

  /// Keeps the call for a path that is about to be removed, if derived values on it differ from the
  /// last delivered ones; this cannot be determined later.
  ///
  /// May run code of the program.
  private func keepCall(of watcher: WatcherRef, for wire: WireRef) {
    let traits = watcher.pointee.traits
    guard watcher.pointee.wires.hasSeveral,
      traits.contains(.immediate)
        ? immediates.batchDepth > 0 || watcher.pointee.isPaused
        : watcher.pointee.status == .check,
      dependents.follow(watcher)
    else { return }
    var changed: LinkRef?
    whileWiring(watcher) {
      while let link = takeDirty(wire) {
        if members.refreshDerived(link), changed == nil { changed = link }
      }
    }
    guard let changed, watcher.pointee.isActive, !wire.hasEnded else { return }
    if traits.contains(.immediate) {
      let path = wire.pointee.path.takeUnretainedValue()
      immediates.keep(comparisons.take(of: watcher, at: changed, on: path), of: watcher, on: path)
    } else {
      delivery.schedule(watcher)
    }
  }

  /// Removes a path from its watcher, and all links of the path.
  func end(_ wire: WireRef, of watcher: WatcherRef) {
    if transactions.holds(wire) { transactions.willEnd(wire) }
    tracking.suspend(wire)
    watcher.remove(wire)
    wire.pointee.phase = .ended
    // The links of a tracked computation are siblings without a parent.
    while let top = wire.pointee.top { takeOutTree(top) }
    charge(-1, for: wire)
    // All stale links are dead: this frees them.
    _ = takeStale(wire)
    _ = takeDirty(wire)
    while let link = wire.popWritten() { records.end(link) }
    records.end(wire)
  }

  /// Removes the route from `parent` to the object of `link`, one step further.
  ///
  /// - Complexity: O(links that no other route leads to).
  func detach(_ link: LinkRef, from parent: LinkRef) {
    members.withdraw(link, from: parent)
    guard let routes = link.routes else { return takeOutTree(link) }
    if routes.leave(parent, from: link) { return }
    takeOut(below: link, routes)
  }

  /// Removes a link on all its routes, and all links to which no other route leads.
  func detach(_ link: LinkRef) {
    if let routes = link.routes {
      var parents: [LinkRef] = []
      link.forEachParent { parents.append($0) }
      for parent in parents where parent != link {
        members.withdraw(link, from: parent)
        _ = routes.leave(parent, from: link)
      }
      takeOut(below: link, routes)
    } else {
      if let parent = link.pointee.parent { members.withdraw(link, from: parent) }
      takeOutTree(link)
    }
  }

  /// Removes all routes from a link to objects one step further.
  func detachAll(below link: LinkRef) {
    while let child = link.pointee.child { detach(child, from: link) }
    if let joined = link.onward { detach(joined, from: link) }
  }

  /// Removes the links below a cut that have no other route.
  private func takeOut(below top: LinkRef, _ routes: Routes) {
    var links = [top]
    var position = 0
    while position < links.count {
      links[position].appendChildren(to: &links)
      position += 1
    }
    // All of them hang below the cut; if the topmost one stays, all do.
    let leaving = routes.rescue(links)
    if leaving.isEmpty { return }
    for link in leaving {
      if let node = link.pointee.slot?.pointee.node { routes.forget(link, of: node) }
    }
    takeOutTree(top)
  }

  /// Removes a link and its subtree.
  func takeOutTree(_ top: LinkRef) {
    top.unhang()
    var work: [LinkRef] = []
    var link = top
    while true {
      let child = link.pointee.child
      child?.appendSiblings(to: &work)
      takeOut(link)
      guard let next = child ?? work.popLast() else { return }
      link = next
    }
  }

  private func takeOut(_ link: LinkRef) {
    if let slot = link.pointee.slot {
      if link.isAnchored { release(link) }
      slot.remove(link)
      if link.pointee.wire.pointee.watcher.pointee.isUncounted || link.isOfTree {
        slot.pointee.count += 1
      }
      let node = slot.pointee.node
      if link.isDeep { members.noteMove(of: node, at: link, -1) }
      if link.pointee.isDirty, link.isBelowDeep { members.noteLostValue(at: link) }
      if node.reportsObservation, !node.isDead, let name = hookName(of: link, in: slot) {
        hooks.note(slot, name, isObserved: false)
      }
      if slot.pointee.links.isEmpty {
        slot.pointee.wants = 0
        nodes.unobserveWhenIdle(node)
      } else {
        slots.arm(slot)
      }
      if let state = link.state { members.endReading(state, of: node) }
    }
    let watcher = link.pointee.wire.pointee.watcher
    if watcher.pointee.traits.contains(.charged) {
      charge(-Charge.link - (link.state?.charge ?? 0), to: watcher)
    }
    if let state = link.pointee.state {
      link.pointee.state = nil
      state.release()
    }
    link.pointee.isDead = true
    if !link.pointee.isStale, !link.pointee.isDirty { records.end(link) }
  }
}
