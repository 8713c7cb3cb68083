/// Watchers that are notified in each write: immediate ones (T9), and those with their own
/// comparison.
extension Engine {
  /// Calls the watchers that are notified in each write for some changes, which are one operation
  /// that began at `time`.
  func callEagerly(_ changes: [Change], at time: Int) {
    records.hold {
      let calls = comparisons.collecting { eagerCalls(for: changes, at: time) }
      immediates.make(calls)
    }
  }

  private func eagerCalls(for changes: [Change], at time: Int) -> [ImmediateCalls.Call] {
    var calls: [ImmediateCalls.Call] = []
    // The calls of watchers whose paths lead to other objects now, or whose derived values may be
    // others.
    var changed: [ImmediateCalls.Call] = []
    for change in changes {
      for slot in [change.slot, change.every] {
        records.forEach(from: slot?.pointee.links.first) { link in
          note(change, at: link, time, &calls, &changed)
        }
      }
    }
    // The paths of these watchers follow replaced objects at once: what is written next may lie on
    // the new branch.
    for call in changed {
      guard let watcher = watcher(call.watcher), settleDependencies(of: watcher),
        rewire(watcher), watcher.pointee.flags.contains(.immediate)
      else { continue }
      if let path = takeMoves(of: watcher) {
        calls.append(call.on(path, isCompared: false))
        continue
      }
      if immediates.batchDepth > 0 || watcher.pointee.flags.contains(.paused) {
        // Whether the derived value is another one is known when the batch ends, or when the
        // watcher is resumed.
        immediates.noteDerived(call, watcher)
      } else if let refreshed = refresh(watcher), let path = refreshed.path {
        let ofLazy = refreshed.lazy.flatMap { comparisons.take(of: watcher, about: $0, on: path) }
        calls.append(ofLazy ?? call.on(path, isCompared: refreshed.lazy == nil))
      }
    }
    if immediates.batchDepth == 0 { calls += comparisons.take() }
    return calls
  }

  private func note(
    _ change: Change, at link: LinkRef, _ time: Int, _ calls: inout [ImmediateCalls.Call],
    _ changed: inout [ImmediateCalls.Call]
  ) {
    let watcher = link.pointee.wire.pointee.watcher
    guard watcher.pointee.isEager else { return }
    if watcher.pointee.flags.contains(.arriving), !change.node.kind.movesObjects(change) { return }
    let isOfMembers =
      change.isSame && change.node.pointee.journalReaders > 0 && markMembers(at: link)
    if change.isSame, !isOfMembers, !watcher.pointee.flags.contains(.comparing) { return }
    let call = ImmediateCalls.Call(
      watcher: watcher.identity, change: .written(change),
      path: link.pointee.wire.pointee.path.takeUnretainedValue(), time: time)
    let effect = link.pointee.effect
    if effect.contains(.objects), !change.node.kind.movesObjects(change) { return }
    if !change.isSame {
      if effect.contains(.stale) { markStale(link) }
      if effect.contains(.dirty) { markDirty(link) }
      if !effect.isDisjoint(with: [.stale, .dirty]) { changed.append(call) }
    }
    if isOfMembers { changed.append(call) }
    if change.isSame, !watcher.pointee.flags.contains(.comparing) {
      // No watcher is called for it.
    } else if effect.contains(.notify) {
      calls.append(call)
    } else if link.isAnchored {
      if !change.isSame, link.pointee.anchor != nil { checkDeparturesInFlush(of: watcher) }
    } else if !change.isSame, !watcher.pointee.flags.contains(.immediate) {
      // The watcher compares by itself, in the flush: a derived value has no old value in a write.
      mark(watcher, .check, by: change)
    }
  }

  /// Queues an immediate watcher, or one that compares, for the flush, which finds out whether an
  /// object that digits follow has left (C4).
  func checkDeparturesInFlush(of watcher: WatcherRef) {
    guard watcher.pointee.flags.isDisjoint(with: .checkingDepartures), watcher.pointee.root != nil
    else {
      return
    }
    watcher.pointee.receiver.takeUnretainedValue().noteCause(of: watcher)
    checkInFlush(watcher)
  }

  /// Queues an immediate watcher, or one that compares, for the flush, which looks for objects that
  /// have left, and for a call that waits.
  func checkInFlush(_ watcher: WatcherRef) {
    guard watcher.pointee.flags.isDisjoint(with: .checkingDepartures), watcher.pointee.root != nil
    else {
      return
    }
    watcher.pointee.flags.insert(.checkingDepartures)
    makeReady(watcher)
  }

  /// Not 0 while getters may run to find out which immediate watchers a write calls; writes that
  /// wait are reported after that, in order.
  package var collectors: UnsafePointer<Int32> { UnsafePointer(comparisons.collectors) }

  // MARK: Batches

  /// Immediate watchers triggered until the matching `endBatch` run once each, at its end.
  package func beginBatch() { immediates.beginBatch() }
  package func endBatch() { immediates.endBatch() }
  /// How many batches are open.
  package var batchDepth: Int { immediates.batchDepth }

  // MARK: Pausing

  package func pause(_ watcher: WatcherRef) {
    guard let root = watcher.pointee.root else { return }
    watcher.pointee.flags.insert(.paused)
    if !watcher.pointee.flags.contains(.running) { releaseAnchor(of: watcher, on: root) }
  }

  /// Changes while it was paused were remembered as one, which is delivered now: by an immediate
  /// watcher at once, by others in the flush.
  package func resume(_ watcher: WatcherRef) {
    guard watcher.pointee.isActive, watcher.pointee.flags.contains(.paused) else { return }
    watcher.pointee.flags.remove(.paused)
    if watcher.pointee.wantsFlush {
      makeReady(watcher)
    }
    immediates.resume(watcher)
  }
}
