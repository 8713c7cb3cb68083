/// Watchers that are notified in each write: immediate watchers (T9), and watchers with their own
/// comparison.
extension ImmediateCalls {
  /// Calls the eager watchers for some changes, which belong to one operation that began at `time`.
  func call(_ changes: [Change], at time: Int) {
    records.hold {
      let calls = comparisons.collecting { eagerCalls(for: changes, at: time) }
      make(calls)
    }
  }

  private func eagerCalls(for changes: [Change], at time: Int) -> [Call] {
    var calls: [Call] = []
    // The calls of watchers whose paths now lead to other objects, or whose derived values may
    // differ.
    var changed: [Call] = []
    for change in changes {
      for slot in [change.slot, change.every] {
        records.forEach(from: slot?.pointee.links.first) { link in
          note(change, at: link, time, &calls, &changed)
        }
      }
    }
    // The paths of these watchers follow replaced objects at once: the next write may lie on the
    // new branch.
    for call in changed {
      guard let watcher = watchers[call.watcher], dependents.follow(watcher),
        watcher.pointee.traits.contains(.immediate)
      else { continue }
      if let path = members.takeMoves(of: watcher) {
        calls.append(call.on(path, isCompared: false))
        continue
      }
      if batchDepth > 0 || watcher.pointee.isPaused {
        // Whether the derived value differs is determined when the batch ends, or when the watcher
        // is resumed.
        noteDerived(call, watcher)
      } else if let refreshed = dependents.refresh(watcher), let path = refreshed.path {
        let ofLazy = refreshed.lazy.flatMap { comparisons.take(of: watcher, about: $0, on: path) }
        calls.append(ofLazy ?? call.on(path, isCompared: refreshed.lazy == nil))
      }
    }
    if batchDepth == 0 { calls += comparisons.take() }
    return calls
  }

  private func call(for change: Change, at link: LinkRef, _ time: Int) -> Call {
    Call(
      watcher: link.pointee.wire.pointee.watcher.identity, change: .written(change),
      path: link.pointee.wire.pointee.path.takeUnretainedValue(), time: time)
  }

  /// Notes a write to a single object that a watcher follows.
  private func note(
    _ change: Change, ofObject link: LinkRef, _ time: Int, _ calls: inout [Call]
  ) {
    if change.isSame, !change.node.kind.changesKeys(change) { return }
    calls.append(call(for: change, at: link, time))
  }

  private func note(
    _ change: Change, at link: LinkRef, _ time: Int, _ calls: inout [Call],
    _ changed: inout [Call]
  ) {
    let watcher = link.pointee.wire.pointee.watcher
    guard watcher.pointee.isEager else { return }
    if link.pointee.wire.pointee.use == .objects {
      return note(change, ofObject: link, time, &calls)
    }
    let isOfMembers =
      change.isSame && change.node.pointee.journalReaders > 0 && writes.markMembers(at: link)
    if change.isSame, !isOfMembers, !watcher.pointee.traits.contains(.comparing) { return }
    let call = call(for: change, at: link, time)
    let effect = link.pointee.effect
    if effect.contains(.objects), !change.node.kind.movesObjects(change) { return }
    if !change.isSame {
      if effect.contains(.stale) { wiring.markStale(link) }
      if effect.contains(.dirty) { wiring.markDirty(link) }
      if !effect.isDisjoint(with: [.stale, .dirty]) { changed.append(call) }
    }
    if isOfMembers { changed.append(call) }
    if change.isSame, !watcher.pointee.traits.contains(.comparing) {
      // No watcher is called for it.
    } else if effect.contains(.notify) {
      calls.append(call)
    } else if link.isAnchored {
      if !change.isSame, link.pointee.anchor != nil {
        delivery.checkInFlush(watcher, isCause: true)
      }
    } else if !change.isSame, !watcher.pointee.traits.contains(.immediate) {
      // The watcher compares in the flush: a derived value has no old value in a write.
      delivery.mark(watcher, .check, by: change)
    }
  }
}
