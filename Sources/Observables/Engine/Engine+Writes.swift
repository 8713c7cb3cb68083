/// What a write does: it stores nothing and computes nothing; it marks watchers.
extension Engine {
  /// A key was written whose slot wants to be notified.
  ///
  /// - Complexity: O(watchers of the key) the first time in a turn; the slot is quiet afterwards.
  package func written(_ change: Change) {
    if waitingNodes.hasDead { buryDead() }
    // Changes that follow from the write have later times.
    let time = immediates.nextTime()
    records.hold { note(change) }
    if isEager(change) || !comparisons.isEmpty { callEagerly([change], at: time) }
  }

  /// One operation changed several keys of one object: a list got or lost an element.
  ///
  /// Immediate watchers are called once for all of it; `every` is given by one of the changes at
  /// most.
  package func written(_ changes: [Change]) {
    if waitingNodes.hasDead { buryDead() }
    let time = immediates.nextTime()
    records.hold { for change in changes { note(change) } }
    if changes.contains(where: isEager) || !comparisons.isEmpty { callEagerly(changes, at: time) }
  }

  @inline(__always)
  private func note(_ change: Change) {
    if isRecording { recorder?.wrote(change) }
    if change.isSame {
      if change.node.pointee.journalReaders > 0 { noteMembers(change) }
      return
    }
    if change.node.pointee.journalReaders > 0 { noteJournal(of: change.node) }
    if let slot = change.slot { mark(slot, change) }
    if let every = change.every { mark(every, change) }
    spread(change)
  }

  /// A key has the value that it had already by inheriting it: no watcher is called for that (T5),
  /// but it is a member of the object from now on, or no more.
  ///
  /// Paths follow the value at once: no watcher is called, so no flush would follow it.
  private func noteMembers(_ change: Change) {
    noteJournal(of: change.node)
    var following: [WatcherID] = []
    records.forEach(from: change.every?.pointee.links.first) { link in
      let watcher = link.pointee.wire.pointee.watcher
      guard watcher.pointee.flags.isDisjoint(with: [.immediate, .comparing]), markMembers(at: link)
      else { return }
      following.append(watcher.identity)
      if watcher.pointee.flags.contains(.lazy) {
        invalidate(watcher, .check, by: change)
      } else {
        mark(watcher, .check, by: change)
      }
    }
    spread(change)
    for name in following {
      if let watcher = watcher(name), settleDependencies(of: watcher) { rewire(watcher) }
    }
  }

  /// Marks a link that depends on which members there are; false where it does not depend on them.
  func markMembers(at link: LinkRef) -> Bool {
    let effect = link.pointee.effect
    guard link.state != nil || effect.contains(.dirty) else { return false }
    if effect.contains(.stale) || link.state?.role == .wildcard { markStale(link) }
    if effect.contains(.dirty) { markDirty(link) }
    return true
  }

  @inline(__always)
  private func isEager(_ change: Change) -> Bool {
    (change.slot?.pointee.eager ?? 0) + (change.every?.pointee.eager ?? 0) > 0
  }

  @inline(__always)
  func mark(_ slot: SlotRef, _ change: Change) {
    // Whether the next write has to be reported as well, or the next one that may move objects.
    var isNeeded = false
    var needsObjects = false
    records.forEach(from: slot.pointee.links.first) { link in
      let watcher = link.pointee.wire.pointee.watcher
      let flags = watcher.pointee.flags
      if !flags.isDisjoint(with: [.immediate, .comparing]) {
        if flags.contains(.arriving) {
          needsObjects = true
        } else if !flags.contains(.noticing) {
          isNeeded = true
        }
        return
      }
      let effect = link.pointee.effect
      if effect.contains(.objects), !change.node.kind.movesObjects(change) {
        // The next write of the slot may.
        needsObjects = true
        return
      }
      if effect.contains(.stale) { markStale(link) }
      if effect.contains(.dirty) { markDirty(link) }
      if flags.contains(.lazy) {
        invalidate(watcher, effect.status, by: change)
        // A property without a value does not remember which watchers were notified: immediate
        // watchers of it have to be called for each change.
        if flags.contains(.uncached) { isNeeded = true }
      } else {
        mark(watcher, effect.status, by: change)
      }
    }
    if !isNeeded { makeQuiet(slot, wants: needsObjects ? Slot.Wants.objects : 0) }
  }

  /// Makes a watcher pending, unless it is called whatever happens; without a change no transaction
  /// takes that back.
  @inline(__always)
  func mark(_ watcher: WatcherRef, _ status: WatcherRecord.Status, by change: Change?) {
    if !watcher.pointee.isCertain {
      markUncertain(watcher, status, by: change)
    } else if transactions.hasTurns, let change {
      _ = transactions.add(watcher.identity, transactions.covering(change.node))
    }
  }

  private func markUncertain(
    _ watcher: WatcherRef, _ status: WatcherRecord.Status, by change: Change?
  ) {
    // The watcher ended while links are being made: its own links are taken out later.
    if watcher.pointee.root == nil { return }
    if isRecording, let change { recorder?.marked(watcher, by: change) }
    if status == .stale {
      noteTentative(watcher, change)
    } else if transactions.isOpen, let change {
      transactions.noteCheck(watcher.identity, transactions.covering(change.node))
    }
    let hasCause = watcher.pointee.isPending && !watcher.pointee.flags.contains(.undone)
    raise(watcher, to: status)
    if !hasCause, change != nil {
      watcher.pointee.flags.remove(.undone)
      watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.noteCause(of: watcher) }
    }
  }

  /// Makes a watcher pending: it is called in the flush of this turn.
  package func schedule(_ watcher: WatcherRef, _ status: WatcherRecord.Status = .stale) {
    if status == .stale { settleTentative(watcher) }
    raise(watcher, to: status)
  }

  private func raise(_ watcher: WatcherRef, to status: WatcherRecord.Status) {
    if !watcher.pointee.isActive { return }
    watcher.pointee.raise(to: status)
    makeReady(watcher)
  }

  /// Queues a watcher that the flush has something to do with.
  ///
  /// A paused one waits for `resume`, one whose object the collector has given up waits until the
  /// object comes back (`revive`): neither keeps anything alive.
  @inline(__always)
  func makeReady(_ watcher: WatcherRef) {
    guard let root = watcher.pointee.root, !watcher.pointee.flags.contains(.paused),
      anchor(watcher, on: root)
    else { return }
    enqueue(watcher)
  }

  /// An object that the collector had given up is back (L8): queues its watchers that became
  /// pending meanwhile.
  package func revive(_ node: NodeRef) {
    loseObjects(below: node)
    forEachWatcher(of: node) { watcher in
      if !watcher.pointee.flags.contains(.lazy), watcher.pointee.wantsFlush {
        makeReady(watcher)
      }
    }
  }

  /// Ends the nodes on the paths of an object that were given up with it.
  ///
  /// Where their objects are back, too, the paths find them again.
  private func loseObjects(below node: NodeRef) {
    var lost: Set<NodeRef> = []
    forEachWatcher(of: node) { watcher in
      forEachWire(of: watcher) { wire in
        for link in wire.links {
          guard let below = link.pointee.slot?.pointee.node else { continue }
          if below != node, !below.isDead, !below.kind.isThere(below) { lost.insert(below) }
        }
      }
    }
    records.hold {
      for below in lost where !below.isDead { below.kind.lose(below) }
    }
  }

  /// L2: the observed object lives until the watcher was called; false where it is gone.
  @inline(__always)
  func anchor(_ watcher: WatcherRef, on root: NodeRef) -> Bool {
    if watcher.pointee.flags.contains(.anchored) { return true }
    if root.pointee.anchors == 0 {
      if root.isDead || !root.pointee.kind._withUnsafeGuaranteedRef({ $0.anchor(root) }) {
        return false
      }
    }
    watcher.pointee.flags.insert(.anchored)
    root.pointee.anchors += 1
    return true
  }

  func releaseAnchor(of watcher: WatcherRef, on root: NodeRef) {
    guard watcher.pointee.flags.contains(.anchored) else { return }
    watcher.pointee.flags.remove(.anchored)
    root.pointee.anchors -= 1
    if root.pointee.anchors == 0, !root.isDead {
      root.pointee.kind._withUnsafeGuaranteedRef { $0.release(root) }
    }
  }

  /// Releases the object of a watcher for which no call is due any more.
  func releaseAnchorIfIdle(of watcher: WatcherRef) {
    guard let root = watcher.pointee.root, !watcher.pointee.flags.contains(.queued),
      !immediates.isWaiting(watcher)
    else { return }
    releaseAnchor(of: watcher, on: root)
  }

  private func enqueue(_ watcher: WatcherRef) {
    if watcher.pointee.flags.contains(.queued) { return }
    watcher.pointee.flags.insert(.queued)
    if delivery.isEmpty, !isFlushing, let onPending { onPending() }
    delivery.add(watcher)
  }
}
