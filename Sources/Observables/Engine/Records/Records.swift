/// Makes the raw records of an engine's graph, and frees their memory.
///
/// Records are reached by pointers without reference counts, so an operation that calls code of the
/// program may find any record ended when that code returns. Such an operation therefore *holds*
/// the records. A record that ends during a hold leaves the graph at once and is marked (`isDead`,
/// `isActive`, `Wire.Phase`), but its memory stays readable until the last hold is over. If a queue
/// or list still has the record after the hold, that list keeps the memory: see
/// `WatcherRef.isInUse`, `Slot.isQuiet`, `Nodes.freeIfUnlisted`.
package struct Records: Room {
  package let rooms: Rooms

  /// The pools, and the records that ended during a hold.
  struct State {
    fileprivate var slots = Pool<Slot>()
    fileprivate var links = Pool<Link>()
    fileprivate var wires = Pool<Wire>()
    fileprivate var nodes = Pool<Node>()
    fileprivate var watchers = Pool<WatcherRecord>()
    fileprivate var lazies = Pool<LazyRecord>()
    /// How many operations hold the records.
    fileprivate var holds = 0
    // Records that have ended since the first hold began.
    fileprivate var endedSlots = RawList<SlotRef>()
    fileprivate var endedLinks = RawList<LinkRef>()
    fileprivate var endedWires = RawList<WireRef>()
    fileprivate var endedNodes = RawList<NodeRef>()
    fileprivate var endedWatchers = RawList<WatcherRef>()
    /// True if no record has ended since the first hold began.
    fileprivate var isClean = true
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.records) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.records)
    }
  }

  /// Frees all memory, when the engine is deinitialized.
  func free() {
    state.endedSlots.free()
    state.endedLinks.free()
    state.endedWires.free()
    state.endedNodes.free()
    state.endedWatchers.free()
    state.slots.drain()
    state.links.drain()
    state.wires.drain()
    state.nodes.drain()
    state.watchers.drain()
    state.lazies.drain()
  }

  // MARK: Holding

  /// True while an operation may still read records that have ended.
  var areHeld: Bool { state.holds > 0 }

  /// Runs an operation that may call code of the program.
  @inline(__always)
  package func hold<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    state.holds += 1
    defer {
      state.holds -= 1
      if state.holds == 0, !state.isClean { freeEnded() }
    }
    return try body()
  }

  @inline(never)
  private func freeEnded() {
    state.isClean = true
    // Releasing objects may run code of the program, which may end further records.
    while let link = state.endedLinks.popLast() { state.links.free(link) }
    while let wire = state.endedWires.popLast() { free(wire) }
    while let slot = state.endedSlots.popLast() { state.slots.free(slot) }
    while let node = state.endedNodes.popLast() { state.nodes.free(node) }
    while let watcher = state.endedWatchers.popLast() { free(watcher) }
  }

  // MARK: Making

  @inline(__always) func make(_ slot: Slot) -> SlotRef { state.slots.make(slot) }
  @inline(__always) func make(_ link: Link) -> LinkRef { state.links.make(link) }
  @inline(__always) func make(_ wire: Wire) -> WireRef { state.wires.make(wire) }
  @inline(__always) func make(_ node: Node) -> NodeRef { state.nodes.make(node) }
  /// The record of a watcher or, as its flags say, of a lazy property.
  func make(_ watcher: WatcherRecord) -> WatcherRef {
    if !watcher.traits.contains(.lazy) { return state.watchers.make(watcher) }
    let lazy = state.lazies.make(LazyRecord(watcher: watcher, state: LazyState()))
    return UnsafeMutableRawPointer(lazy).assumingMemoryBound(to: WatcherRecord.self)
  }

  // MARK: Ending

  /// Ends a slot that is no longer in any list.
  func end(_ slot: SlotRef) {
    if !areHeld { return state.slots.free(slot) }
    state.endedSlots.append(slot)
    state.isClean = false
  }

  /// Ends a link that is no longer in any list.
  func end(_ link: LinkRef) {
    if !areHeld { return state.links.free(link) }
    state.endedLinks.append(link)
    state.isClean = false
  }

  /// Ends a path that its watcher has removed and whose links have ended.
  func end(_ wire: WireRef) {
    if !areHeld { return free(wire) }
    state.endedWires.append(wire)
    state.isClean = false
  }

  /// Ends a node that is no longer in any list.
  func end(_ node: NodeRef) {
    if !areHeld { return state.nodes.free(node) }
    state.endedNodes.append(node)
    state.isClean = false
  }

  /// Ends a watcher that has no paths and is no longer used.
  func end(_ watcher: WatcherRef) {
    if !areHeld { return free(watcher) }
    state.endedWatchers.append(watcher)
    state.isClean = false
  }

  private func free(_ wire: WireRef) {
    let (path, routes) = (wire.pointee.path, wire.pointee.routes)
    state.wires.free(wire)
    path.release()
    routes?.release()
  }

  private func free(_ watcher: WatcherRef) {
    let receiver = watcher.pointee.holdsReceiver ? watcher.pointee.receiver : nil
    if watcher.pointee.traits.contains(.lazy) {
      state.lazies.free(UnsafeMutableRawPointer(watcher).assumingMemoryBound(to: LazyRecord.self))
    } else {
      state.watchers.free(watcher)
    }
    receiver?.release()
  }
}
