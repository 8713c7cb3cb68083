/// Links to single objects, whatever leads to them: those that a transaction covers, and those that
/// a shadow follows.
extension Wiring {
  /// Gives a watcher a path without links; `link` adds one for each object.
  func beginObjects(of watcher: WatcherRef) -> WireRef {
    let wire = records.make(
      Wire(
        watcher: watcher, path: .passRetained(.everything), use: .objects, isShort: true, index: 0)
    )
    watcher.pointee.wires.append(wire)
    wire.pointee.phase = .attached
    return wire
  }

  /// Makes a link to an object, so that writes to it are reported.
  ///
  /// - Throws: the error of the object's kind for no memory, or of the receiver for its limits.
  func link(_ node: NodeRef, by wire: WireRef, _ effect: Link.Effect = []) throws {
    if wire.hasEnded { return }
    try wire.chargedReceiver?.checkLimits()
    let slot = try node.kind.slot(
      Path.everything.steps[0], at: 0, of: Path.everything, on: node)
    if wire.hasEnded || node.isDead { return nodes.unobserveWhenIdle(node) }
    let link = records.make(
      Link(wire: wire, step: 0, isTerminal: true, isFanned: true, effect: effect))
    wire.hang(link)
    append(link, to: slot)
  }

  /// The watcher follows the objects for which `follow` is called.
  package func beginFollowing(by watcher: WatcherRef) { _ = beginObjects(of: watcher) }

  /// Whether a watcher follows an object.
  package func follows(_ node: NodeRef, by watcher: WatcherRef) -> Bool {
    objectLink(of: watcher, on: node) != nil
  }

  /// Has an immediate watcher called for writes to an object, too.
  ///
  /// - Throws: as `link`.
  package func follow(_ node: NodeRef, by watcher: WatcherRef) throws {
    guard let wire = watcher.pointee.wires.first, objectLink(of: watcher, on: node) == nil else {
      return
    }
    wire.pointee.hasOthers = true
    let failure = try records.hold {
      try operations.collectingFailure {
        try operations.wiring { try link(node, by: wire, .notify) }
      }
    }
    if let failure { throw failure }
  }

  /// Ends that; false while a transaction uses the links.
  package func unfollow(_ node: NodeRef, by watcher: WatcherRef) -> Bool {
    guard let wire = watcher.pointee.wires.first, !transactions.holds(wire) else { return false }
    records.hold { if let link = objectLink(of: watcher, on: node) { detach(link) } }
    return true
  }

  /// Notes that a watcher follows exactly the objects at and below its root, and that none of these
  /// has to be read when it is covered: a transaction may use the links.
  package func noteWholeTree(of watcher: WatcherRef) {
    watcher.pointee.wires.first?.pointee.hasOthers = false
  }

  private func objectLink(of watcher: WatcherRef, on node: NodeRef) -> LinkRef? {
    guard let wire = watcher.pointee.wires.first else { return nil }
    var found: LinkRef?
    records.forEach(from: node.pointee.every?.pointee.links.first) { link in
      if link.pointee.wire == wire { found = link }
    }
    return found
  }
}
