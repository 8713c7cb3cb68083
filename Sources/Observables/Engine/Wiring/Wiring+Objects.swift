/// Links to single objects, whatever path leads there: transactions cover objects by them, and
/// shadows follow objects.
extension Wiring {
  /// Adds a wire without links to a watcher; `link` adds one link for each object.
  func beginObjects(of watcher: WatcherRef) -> WireRef {
    let wire = records.make(
      Wire(
        watcher: watcher, path: .passRetained(.everything), use: .objects, isShort: true, index: 0)
    )
    watcher.pointee.wires.append(wire)
    wire.pointee.phase = .attached
    return wire
  }

  /// Makes a link to an object, so that its writes are reported; `effect` is `notify` if the
  /// watcher is to be called for them.
  ///
  /// - Throws: the error of the object's kind if memory is short, or of the receiver for its
  ///   limits.
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
    wire.routes?.add(link)
  }

  /// Adds a wire to a watcher, besides its paths, for the objects that `follow` adds.
  package func beginFollowing(by watcher: WatcherRef) { _ = beginObjects(of: watcher) }

  /// Calls a watcher for writes to an object, too.
  ///
  /// - Throws: as `link`.
  /// - Complexity: O(1) on average.
  package func follow(_ node: NodeRef, by watcher: WatcherRef) throws {
    guard let wire = followingWire(of: watcher), link(of: wire, on: node) == nil else { return }
    wire.pointee.hasOthers = true
    let failure = try records.hold {
      try operations.collectingFailure {
        try operations.wiring { try link(node, by: wire, .notify) }
      }
    }
    if let failure { throw failure }
  }

  /// Removes the link of a watcher to an object; false, without effect, while a transaction uses
  /// it.
  package func unfollow(_ node: NodeRef, by watcher: WatcherRef) -> Bool {
    guard let wire = followingWire(of: watcher) else { return true }
    if transactions.holds(wire) { return false }
    records.hold { if let link = link(of: wire, on: node) { detach(link) } }
    return true
  }

  /// Notes that a watcher follows exactly the objects at and below its root, and that none of them
  /// has to be read when it is covered, so a transaction may use the links.
  package func noteWholeTree(of watcher: WatcherRef) {
    guard let wire = followingWire(of: watcher), wire.pointee.written == nil else { return }
    wire.pointee.hasOthers = false
  }

  /// Notes a write to objects that watchers follow; `slot` is the slot of the whole object.
  func noteFollowed(_ change: Change, _ slot: SlotRef) {
    records.forEach(from: slot.pointee.links.first) { link in
      if link.pointee.wire.isFollowing { noteWritten(change, link) }
    }
  }

  /// Notes a write to an object that a watcher follows.
  func noteWritten(_ change: Change, _ link: LinkRef) {
    let wire = link.pointee.wire
    if change.node.kind.movesObjects(change) { wire.pointee.hasOthers = true }
    let watcher = wire.pointee.watcher
    if wire.addWritten(link), watcher.pointee.traits.contains(.recording) {
      watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.wasWritten(change.node) }
    }
    delivery.mark(watcher, .stale, by: change)
  }

  /// An upper bound for the number of objects that `takeWritten` returns.
  ///
  /// - Complexity: O(these objects).
  package func writtenCount(of watcher: WatcherRef) -> Int {
    var (count, link) = (0, followingWire(of: watcher)?.pointee.written)
    while let current = link {
      count += 1
      link = current.nextWritten
    }
    return count
  }

  /// The followed objects that were written since the last call, in the order of their first
  /// writes.
  package func takeWritten(of watcher: WatcherRef) -> [NodeRef] {
    guard let wire = followingWire(of: watcher) else { return [] }
    var nodes: [NodeRef] = []
    while let link = wire.popWritten() {
      if link.pointee.isDead {
        records.end(link)
      } else if let slot = link.pointee.slot {
        // Further writes have to be reported again.
        if slot.pointee.isQuiet { slots.arm(slot) }
        if !slot.pointee.node.isDead { nodes.append(slot.pointee.node) }
      }
    }
    nodes.reverse()
    return nodes
  }

  private func followingWire(of watcher: WatcherRef) -> WireRef? {
    var found: WireRef?
    forEachWire(of: watcher) { if $0.isFollowing { found = $0 } }
    return found
  }

  /// Above this number of links to an object, a wire finds its own link by its routes.
  private static let fewLinks = 8

  private func link(of wire: WireRef, on node: NodeRef) -> LinkRef? {
    if let routes = wire.routes { return routes.link(at: 0, of: node) }
    var count = 0
    let found = records.first(from: node.pointee.every?.pointee.links.first) { link in
      count += 1
      return link.pointee.wire == wire || count > Self.fewLinks
    }
    if found == nil || found?.pointee.wire == wire { return found }
    let routes = Routes()
    for link in wire.links { routes.add(link) }
    wire.pointee.routes = .passRetained(routes)
    return routes.link(at: 0, of: node)
  }
}
