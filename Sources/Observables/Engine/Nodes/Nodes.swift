/// Makes nodes, ends them when their objects die, and removes unobserved nodes at the end of a
/// turn.
package struct Nodes: Room {
  package let rooms: Rooms

  struct State {
    fileprivate var all = RecordList<Node>()
    fileprivate var waiting = WaitingNodes()
    fileprivate var lastNumber: UInt64 = 0
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.nodes) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.nodes)
    }
  }

  package func make(kind: NodeKind, object: UnsafeMutableRawPointer) -> NodeRef {
    state.lastNumber += 1
    let node = records.make(
      Node(
        kind: .passUnretained(kind), engine: .passUnretained(engine), object: object,
        number: state.lastNumber))
    state.all.append(node)
    reports.statistics.nodes += 1
    if recording.isOn { recording.recorder?.made(node) }
    return node
  }

  package func forEach(_ body: (NodeRef) -> Void) {
    records.forEach(from: state.all.first, body)
  }

  /// The node of the living object with a number.
  ///
  /// - Complexity: O(nodes).
  package func numbered(_ number: UInt64) -> NodeRef? {
    var found: NodeRef?
    forEach { if $0.pointee.number == number, !$0.isDead { found = $0 } }
    return found
  }

  /// Removes a node whose object is gone or no longer observed, after its watchers have ended and
  /// its dependents were notified.
  private func bury(_ node: NodeRef) {
    if recording.isOn { recording.recorder?.removed(node) }
    state.all.remove(node)
    reports.statistics.nodes -= 1
    node.pointee.isBuried = true
    members.forgetOpaque(node)
    if node.pointee.isIdle {
      state.waiting.noteBuried { freeIfUnlisted($0) }
    } else {
      freeIfUnlisted(node)
    }
  }

  /// Frees a node unless a list still has it; that list then frees it.
  private func freeIfUnlisted(_ node: NodeRef) {
    if !node.pointee.isIdle, !node.pointee.isNoted { records.end(node) }
  }

  /// Examines the node when the turn ends: something of it may no longer be observed.
  package func unobserveWhenIdle(_ node: NodeRef) { state.waiting.noteIdle(node) }

  // MARK: Objects that died

  /// Marks the object of `node` as gone: its kind is no longer asked.
  ///
  /// May be called at any moment, even during another operation of this engine.
  package func end(_ node: NodeRef) {
    node.die()
    state.waiting.noteDead(node)
    if !delivery.isFlushing, immediates.depth == 0 { buryDead() }
  }

  /// Ends the records of dead objects: watchers rooted there end, and paths through them now lead
  /// to nil (L4).
  @inline(__always)
  func buryDead() {
    if state.waiting.hasDead { buryAll() }
  }

  private func buryAll() {
    if operations.isBusy { return }
    operations.removing { records.hold { buryEach() } }
  }

  private func buryEach() {
    while let node = state.waiting.takeDead() {
      while let watcher = node.pointee.watchers.first { watchers.stop(watcher, observedDied: true) }
      node.forEachSlot { slot in
        while let link = slot.pointee.links.first { bury(link) }
        slots.free(slot)
      }
      hooks.forget(node)
      invalidation.spread(nil)
      bury(node)
    }
  }

  /// Runs an operation that removes records from the graph.
  ///
  /// Objects that die because `body` releases them wait until it is over.
  func whileRemoving(_ body: () -> Void) {
    operations.removing { records.hold(body) }
    if !delivery.isFlushing, immediates.depth == 0 { buryDead() }
  }

  /// Notifies the watcher of a link to an object that died: the path now leads to nil.
  private func bury(_ link: LinkRef) {
    let watcher = link.pointee.wire.pointee.watcher
    link.forEachParent { parent in
      wiring.markStale(parent)
      let status = parent.pointee.effect.status
      if watcher.pointee.traits.contains(.lazy) {
        invalidation.invalidate(watcher, status)
      } else {
        delivery.schedule(watcher, status)
      }
    }
    wiring.detach(link)
  }

  // MARK: The end of a turn

  /// Forgets slots without watchers, and nodes without slots.
  ///
  /// This waits for the end of a turn because programs often stop observing something and observe
  /// it again at once. Nodes of kinds that unobserve later wait for one more turn, unless `isLast`.
  func unobserveIdle(isLast: Bool = false) {
    if !state.waiting.hasIdle || operations.isBusy || hooks.isRunning { return }
    whileRemoving {
      let mayWait = !isLast && !state.waiting.hasWaited
      state.waiting.hasWaited = false
      for node in state.waiting.takeIdle() {
        node.pointee.isIdle = false
        if !node.isDead {
          if mayWait, node.kind.unobservesLater {
            unobserveWhenIdle(node)
            state.waiting.hasWaited = true
          } else {
            unobserve(node)
          }
        } else if node.pointee.isBuried {
          freeIfUnlisted(node)
        }
      }
    }
  }

  private func unobserve(_ node: NodeRef) {
    var hasForgotten = false
    if let every = node.pointee.every, every.pointee.links.isEmpty {
      hasForgotten = true
      node.kind.forget(every)
      node.pointee.every = nil
      slots.free(every)
    }
    node.pointee.slots.removeAll {
      $0.pointee.links.isEmpty && $0.pointee.lazy == nil
    } _: { slot in
      hasForgotten = true
      node.kind.forget(slot)
      slots.free(slot)
    }
    if node.pointee.slots.isEmpty, node.pointee.every == nil, node.pointee.watchers.isEmpty,
      !node.pointee.isHooked, !node.isDead, node.kind.unobserve(node)
    {
      node.die()
      bury(node)
    } else if hasForgotten, !node.isDead {
      node.kind.tidy(node)
    }
  }

  /// Notes that the journal of a node has become longer, or that a reader has passed entries.
  func noteJournal(of node: NodeRef) { state.waiting.noteJournal(of: node) }

  /// Removes journal entries that all readers have passed (end of turn).
  @inline(__always)
  func trimJournals() {
    if state.waiting.hasNoted { trimAllJournals() }
  }

  private func trimAllJournals() {
    for node in state.waiting.takeNoted() {
      node.pointee.isNoted = false
      if node.pointee.isBuried {
        freeIfUnlisted(node)
        continue
      }
      guard node.isJournaledNow, let every = node.pointee.every else { continue }
      let end = node.kind.journalEnd(of: node)
      var readers: [Int] = []
      records.forEach(from: every.pointee.links.first) { link in
        guard let state = link.state, state.readsJournal else { return }
        // Writes that moved no objects left a link of `**` as it was, so it has nothing to read.
        if state.role == .deep, !link.pointee.isStale { state.cursor = end }
        readers.append(state.cursor)
      }
      let known = readers.min() ?? end
      node.kind.trimJournal(of: node, before: known)
      if known < end { node.kind.compactJournal(of: node, for: readers) }
    }
  }

  /// Frees the nodes, when the engine is deinitialized.
  func free() {
    let idle = state.waiting.takeIdle()
    for node in state.waiting.takeNoted() where node.pointee.isBuried && !node.pointee.isIdle {
      records.end(node)
    }
    for node in idle where node.pointee.isBuried { records.end(node) }
    forEach { node in
      node.forEachSlot { records.end($0) }
      records.end(node)
    }
  }
}
