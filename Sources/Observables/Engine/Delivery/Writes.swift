/// Receives reports of writes: marks the dependents of the key, then calls immediate watchers.
package struct Writes: Room {
  package let rooms: Rooms

  /// Reports a write of a key whose slot requested reports.
  ///
  /// - Complexity: O(watchers of the key) the first time in a turn; the slot is quiet afterwards.
  package func report(_ change: Change) {
    nodes.buryDead()
    // Changes that follow from the write have later times.
    let time = immediates.nextTime()
    records.hold { note(change) }
    if isEager(change) || !comparisons.isEmpty { immediates.call([change], at: time) }
  }

  /// Reports one operation that changed several keys of one object: a list got or lost an element.
  ///
  /// Immediate watchers are called once for the whole operation; at most one of the changes has
  /// `every`.
  package func report(_ changes: [Change]) {
    nodes.buryDead()
    let time = immediates.nextTime()
    records.hold { for change in changes { note(change) } }
    if changes.contains(where: isEager) || !comparisons.isEmpty {
      immediates.call(changes, at: time)
    }
  }

  @inline(__always)
  private func note(_ change: Change) {
    transactions.note(change)
    if recording.isOn { recording.recorder?.wrote(change) }
    if change.isSame {
      if change.node.pointee.journalReaders > 0 { noteMembers(change) }
      if let every = change.every, every.pointee.isSelective, change.node.kind.changesKeys(change) {
        wiring.noteFollowed(change, every)
      }
      return
    }
    if change.node.pointee.journalReaders > 0 { nodes.noteJournal(of: change.node) }
    if let slot = change.slot { mark(slot, change) }
    if let every = change.every { mark(every, change) }
    invalidation.spread(change)
  }

  /// Notes that a key was given, or lost, its own value equal to the inherited one.
  ///
  /// No watcher is called for that (T5), but the members of the object have changed. Paths follow
  /// the value at once: no watcher is called, so no flush would follow it.
  private func noteMembers(_ change: Change) {
    nodes.noteJournal(of: change.node)
    var following: [WatcherID] = []
    records.forEach(from: change.every?.pointee.links.first) { link in
      let watcher = link.pointee.wire.pointee.watcher
      guard watcher.pointee.traits.isDisjoint(with: [.immediate, .comparing]), markMembers(at: link)
      else { return }
      following.append(watcher.identity)
      if watcher.pointee.traits.contains(.lazy) {
        invalidation.invalidate(watcher, .check, by: change)
      } else {
        delivery.mark(watcher, .check, by: change)
      }
    }
    invalidation.spread(change)
    for name in following {
      if let watcher = watchers[name] { _ = dependents.follow(watcher) }
    }
  }

  /// Marks a link that depends on the members of its object; false if it does not depend on them.
  func markMembers(at link: LinkRef) -> Bool {
    let effect = link.pointee.effect
    guard link.state != nil || effect.contains(.dirty) else { return false }
    if effect.contains(.stale) || link.state?.role == .wildcard { wiring.markStale(link) }
    if effect.contains(.dirty) { wiring.markDirty(link) }
    return true
  }

  @inline(__always)
  private func isEager(_ change: Change) -> Bool {
    (change.slot?.pointee.eager ?? 0) + (change.every?.pointee.eager ?? 0) > 0
  }

  @inline(__always)
  private func mark(_ slot: SlotRef, _ change: Change) {
    // Whether the next write has to be reported as well, or only the next one that may move
    // objects.
    var isNeeded = false
    var needsObjects = false
    records.forEach(from: slot.pointee.links.first) { link in
      let watcher = link.pointee.wire.pointee.watcher
      let traits = watcher.pointee.traits
      if !traits.isDisjoint(with: [.immediate, .comparing, .covering]) {
        if traits.contains(.covering) { needsObjects = true } else { isNeeded = true }
        return
      }
      if link.pointee.wire.pointee.use == .objects {
        // The watcher has to know whether objects move.
        needsObjects = true
        return wiring.noteWritten(change, link)
      }
      let effect = link.pointee.effect
      if effect.contains(.objects) {
        // The next write to the slot may move objects, and must then be reported again; a
        // transaction needs each report.
        let moves = change.node.kind.movesObjects(change)
        if !moves || transactions.holds(link.pointee.wire) { needsObjects = true }
        if !moves { return }
      }
      if effect.contains(.stale) { wiring.markStale(link) }
      if effect.contains(.dirty) { wiring.markDirty(link) }
      if traits.contains(.lazy) {
        invalidation.invalidate(watcher, effect.status, by: change)
        // A property without a value does not remember which watchers were notified: its immediate
        // watchers have to be called for each change.
        if traits.contains(.uncached) { isNeeded = true }
      } else {
        // The object that digits follow may have left the list (C4).
        if effect.isEmpty { watcher.pointee.flags.insert(.checkingDepartures) }
        delivery.mark(watcher, effect.status, by: change)
      }
    }
    if !isNeeded { slots.makeQuiet(slot, wants: needsObjects ? Slot.Wants.objects : 0) }
  }
}
