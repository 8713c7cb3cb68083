/// Makes the raw records of an engine's graph, and gives their memory back.
///
/// Records are reached by pointers that count no references, so an operation that calls code of the
/// program may find any of them ended when that code returns. Therefore the operation *holds* the
/// records while it is under way: what ends meanwhile leaves the graph at once and says so
/// (`isDead`, `isActive`, `Wire.Phase`), but its memory stays readable until the last hold is over.
/// What outlives operations is kept by the owner of the list that it is in: see
/// `WatcherRecord.isInUse`, `Slot.isQuiet`, `Node.isListed`.
final class Records {
  @exclusivity(unchecked) private var slots = Pool<Slot>()
  @exclusivity(unchecked) private var links = Pool<Link>()
  @exclusivity(unchecked) private var wires = Pool<Wire>()
  @exclusivity(unchecked) private var nodes = Pool<Node>()
  @exclusivity(unchecked) private var watchers = Pool<WatcherRecord>()
  @exclusivity(unchecked) private var lazies = Pool<LazyRecord>()

  /// How many operations hold the records.
  @exclusivity(unchecked) private(set) var holds = 0
  // These records have ended since the first hold began.
  @exclusivity(unchecked) private var endedSlots = RawList<SlotRef>()
  @exclusivity(unchecked) private var endedLinks = RawList<LinkRef>()
  @exclusivity(unchecked) private var endedWires = RawList<WireRef>()
  @exclusivity(unchecked) private var endedNodes = RawList<NodeRef>()
  @exclusivity(unchecked) private var endedWatchers = RawList<WatcherRef>()
  /// True where no record has ended since the first hold began.
  @exclusivity(unchecked) private var isClean = true

  deinit {
    endedSlots.free()
    endedLinks.free()
    endedWires.free()
    endedNodes.free()
    endedWatchers.free()
    slots.drain()
    links.drain()
    wires.drain()
    nodes.drain()
    watchers.drain()
    lazies.drain()
  }

  // MARK: Holding

  /// True while an operation may still look at records that have ended.
  var areHeld: Bool { holds > 0 }

  /// Runs an operation that may call code of the program.
  @inline(__always)
  func hold<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    holds += 1
    defer {
      holds -= 1
      if holds == 0, !isClean { freeEnded() }
    }
    return try body()
  }

  @inline(never)
  private func freeEnded() {
    isClean = true
    // What is released here may run code of the program, which may end more.
    while let link = endedLinks.popLast() { links.free(link) }
    while let wire = endedWires.popLast() { free(wire) }
    while let slot = endedSlots.popLast() { slots.free(slot) }
    while let node = endedNodes.popLast() { nodes.free(node) }
    while let watcher = endedWatchers.popLast() { free(watcher) }
  }

  // MARK: Making

  @inline(__always) func make(_ slot: Slot) -> SlotRef { slots.make(slot) }
  @inline(__always) func make(_ link: Link) -> LinkRef { links.make(link) }
  @inline(__always) func make(_ wire: Wire) -> WireRef { wires.make(wire) }
  @inline(__always) func make(_ node: Node) -> NodeRef { nodes.make(node) }
  /// The record of a watcher or, as its flags say, of a lazy property.
  func make(_ watcher: WatcherRecord) -> WatcherRef {
    if !watcher.flags.contains(.lazy) { return watchers.make(watcher) }
    let lazy = lazies.make(LazyRecord(watcher: watcher, state: LazyState()))
    return UnsafeMutableRawPointer(lazy).assumingMemoryBound(to: WatcherRecord.self)
  }

  // MARK: Ending

  /// Ends a slot that is in no list any more.
  func end(_ slot: SlotRef) {
    if !areHeld { return slots.free(slot) }
    endedSlots.append(slot)
    isClean = false
  }

  /// Ends a link that is in no list any more.
  func end(_ link: LinkRef) {
    if !areHeld { return links.free(link) }
    endedLinks.append(link)
    isClean = false
  }

  /// Ends a path whose links have ended, and that its watcher has removed.
  func end(_ wire: WireRef) {
    if !areHeld { return free(wire) }
    endedWires.append(wire)
    isClean = false
  }

  /// Ends a node that is in no list any more.
  func end(_ node: NodeRef) {
    if !areHeld { return nodes.free(node) }
    endedNodes.append(node)
    isClean = false
  }

  /// Ends a watcher without paths, which is not used any more.
  func end(_ watcher: WatcherRef) {
    if !areHeld { return free(watcher) }
    endedWatchers.append(watcher)
    isClean = false
  }

  private func free(_ wire: WireRef) {
    let (path, routes) = (wire.pointee.path, wire.pointee.routes)
    wires.free(wire)
    path.release()
    routes?.release()
  }

  private func free(_ watcher: WatcherRef) {
    let receiver = watcher.pointee.holdsReceiver ? watcher.pointee.receiver : nil
    if watcher.pointee.flags.contains(.lazy) {
      lazies.free(UnsafeMutableRawPointer(watcher).assumingMemoryBound(to: LazyRecord.self))
    } else {
      watchers.free(watcher)
    }
    receiver?.release()
  }
}
