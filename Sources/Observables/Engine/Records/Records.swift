/// Makes the raw records of an engine's graph, and gives their memory back.
///
/// Records are reached by pointers that count no references, so an operation that calls code of the
/// program may find any of them ended when that code returns. Therefore the operation *holds* the
/// records while it is under way: what ends meanwhile leaves the graph at once and says so
/// (`isDead`, `isActive`, `Wire.Phase`), but its memory stays readable until the last hold is over.
/// A record that is still in a queue or list when the operation is over is kept by that list: see
/// `WatcherRef.isInUse`, `Slot.isQuiet`, `Nodes.freeIfUnlisted`.
package struct Records: Room {
  package let rooms: Rooms

  /// It has two fields for each kind of record.
  struct State {
    fileprivate var slots = Pool<Slot>()
    fileprivate var links = Pool<Link>()
    fileprivate var wires = Pool<Wire>()
    fileprivate var nodes = Pool<Node>()
    fileprivate var watchers = Pool<WatcherRecord>()
    fileprivate var lazies = Pool<LazyRecord>()
    /// How many operations hold the records.
    fileprivate var holds = 0
    // These records have ended since the first hold began.
    fileprivate var endedSlots = RawList<SlotRef>()
    fileprivate var endedLinks = RawList<LinkRef>()
    fileprivate var endedWires = RawList<WireRef>()
    fileprivate var endedNodes = RawList<NodeRef>()
    fileprivate var endedWatchers = RawList<WatcherRef>()
    /// True where no record has ended since the first hold began.
    fileprivate var isClean = true
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.records) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.records)
    }
  }

  /// Frees all memory: the engine goes.
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

  /// True while an operation may still look at records that have ended.
  var areHeld: Bool { state.holds > 0 }

  /// Runs an operation that may call code of the program.
  @inline(__always)
  func hold<Result, Failure: Error>(
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
    // What is released here may run code of the program, which may end more.
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

  /// Ends a slot that is in no list any more.
  func end(_ slot: SlotRef) {
    if !areHeld { return state.slots.free(slot) }
    state.endedSlots.append(slot)
    state.isClean = false
  }

  /// Ends a link that is in no list any more.
  func end(_ link: LinkRef) {
    if !areHeld { return state.links.free(link) }
    state.endedLinks.append(link)
    state.isClean = false
  }

  /// Ends a path whose links have ended, and that its watcher has removed.
  func end(_ wire: WireRef) {
    if !areHeld { return free(wire) }
    state.endedWires.append(wire)
    state.isClean = false
  }

  /// Ends a node that is in no list any more.
  func end(_ node: NodeRef) {
    if !areHeld { return state.nodes.free(node) }
    state.endedNodes.append(node)
    state.isClean = false
  }

  /// Ends a watcher without paths, which is not used any more.
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
