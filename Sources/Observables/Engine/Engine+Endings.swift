/// How watchers and nodes end, and what is put away when a turn ends.
extension Engine {
  /// Ends a watcher: no call is made after this returns, not even a pending one (T7).
  ///
  /// - Returns: how many paths it had.
  @discardableResult
  package func stop(_ watcher: WatcherRef) -> Int {
    stop(watcher, observedDied: false)
  }

  @discardableResult
  private func stop(_ watcher: WatcherRef, observedDied: Bool) -> Int {
    guard let root = watcher.pointee.root else { return 0 }
    if watcher.pointee.flags.contains(.lazy) { forgetLazy(watcher) }
    immediates.forget(watcher)
    comparisons.forget(watcher)
    if isRecording { recorder?.ended(watcher) }
    var count = 0
    busy {
      let wire = watcher.pointee.wires.first
      let path = observedDied ? wire?.pointee.path.takeUnretainedValue() : nil
      while let wire = watcher.pointee.wires.first {
        end(wire, of: watcher)
        count += 1
      }
      root.pointee.watchers.remove(watcher)
      watcher.pointee.root = nil
      watcher.pointee.status = .clean
      watchers.remove(watcher)
      if !watcher.pointee.flags.contains(.lazy) { statistics.watchers -= 1 }
      let receiver = watcher.pointee.receiver
      receiver._withUnsafeGuaranteedRef { $0.ended(watcher, observedDied: path) }
      // The record is still needed in the middle of the watcher's own call.
      if !watcher.isInOwnCall {
        watcher.pointee.holdsReceiver = false
        receiver.release()
      }
      if !root.isDead { unobserveWhenIdle(root) }
      releaseAnchor(of: watcher, on: root)
      freeIfUnused(watcher)
    }
    return count
  }

  /// Runs an operation that takes records out of the graph.
  ///
  /// Objects that end because `body` releases them wait until it is over.
  private func busy<Result>(_ body: () -> Result) -> Result {
    defer { if waitingNodes.hasDead, !isFlushing, immediates.depth == 0 { buryDead() } }
    return operations.removing { records.hold(body) }
  }

  /// Ends the watchers whose receiver is one of those, without calling hooks: a state closes (L3).
  package func stopAll(where isOurs: (Receiver) -> Bool) {
    forEachWatcher { watcher in
      if isOurs(watcher.pointee.receiver.takeUnretainedValue()) { stop(watcher) }
    }
    hookCalls.removeAll()
  }

  /// The number of the watcher that was registered last.
  package var latestWatcher: UInt64 { watchers.lastNumber }

  /// Ends the watchers for which `isEnding` is true.
  package func stopWatchers(where isEnding: (WatcherRef) -> Bool) {
    forEachWatcher { watcher in
      if isEnding(watcher) { stop(watcher) }
    }
  }

  /// Frees the record unless a queue or a call on the stack holds it.
  func freeIfUnused(_ watcher: WatcherRef) {
    if !watcher.pointee.isActive, !watcher.isInUse { records.end(watcher) }
  }

  /// Ends the watchers whose observer is gone (L3), for callers that ask before the next flush.
  package func stopOrphans() {
    hasOrphans = false
    forEachWatcher { watcher in
      if watcher.pointee.flags.contains(.observing),
        !watcher.pointee.receiver._withUnsafeGuaranteedRef({ $0.isObserverAlive(watcher) })
      {
        stop(watcher)
      }
    }
  }

  // MARK: Objects that died

  /// The object of `node` is gone: its kind is not asked any more.
  ///
  /// May be called at any moment, also in the middle of another operation of this engine.
  package func end(_ node: NodeRef) {
    node.die()
    waitingNodes.noteDead(node)
    if !isFlushing && immediates.depth == 0 { buryDead() }
  }

  /// Ends what belonged to dead objects: watchers rooted there are over, and paths that passed
  /// through them changed to nil (L4).
  package func buryDead() {
    if !operations.isBusy { operations.removing { records.hold { buryAll() } } }
  }

  private func buryAll() {
    while let node = waitingNodes.takeDead() {
      while let watcher = node.pointee.watchers.first { stop(watcher, observedDied: true) }
      node.forEachSlot { slot in
        while let link = slot.pointee.links.first { bury(link) }
        free(slot)
      }
      hookCalls.forget(node)
      spread(nil)
      bury(node)
    }
  }

  /// Notifies the watcher of a link to an object that died: the path leads to nil from now on.
  private func bury(_ link: LinkRef) {
    let watcher = link.pointee.wire.pointee.watcher
    link.forEachParent { parent in
      markStale(parent)
      let status = parent.pointee.effect.status
      if watcher.pointee.flags.contains(.lazy) {
        invalidate(watcher, status)
      } else {
        schedule(watcher, status)
      }
    }
    detach(link)
  }

  // MARK: The end of a turn

  /// Forgets slots without watchers, and nodes without slots.
  ///
  /// Not earlier than at the end of a turn: what stops being observed is often observed again at
  /// once. Nodes whose kind has no time for it wait for one turn, unless it is `isLast`.
  func unobserveIdle(isLast: Bool = false) {
    if !waitingNodes.hasIdle || operations.isBusy || hookCalls.isRunning { return }
    busy {
      let mayWait = !isLast && !waitingNodes.hasWaited
      waitingNodes.hasWaited = false
      for node in waitingNodes.takeIdle() {
        node.pointee.isIdle = false
        if !node.isDead {
          if mayWait, node.kind.unobservesLater {
            unobserveWhenIdle(node)
            waitingNodes.hasWaited = true
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
      free(every)
    }
    node.pointee.slots.removeAll {
      $0.pointee.links.isEmpty && $0.pointee.lazy == nil
    } _: { slot in
      hasForgotten = true
      node.kind.forget(slot)
      free(slot)
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
}
