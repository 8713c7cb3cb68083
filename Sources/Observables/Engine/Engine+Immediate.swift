/// An immediate call that has to wait: for the end of a batch, or of a call under way.
struct DeferredCall {
  let index: Int
  let id: UInt64
  let change: Change
  let path: Path
}

/// Watchers that hear of each write: immediate ones (T9), and those with their own comparison.
extension Engine {
  func callEagerly(_ changes: [Change]) {
    var calls: [DeferredCall] = []
    var stale: [DeferredCall] = []
    for change in changes {
      for slot in [change.slot, change.every] {
        var next = slot?.pointee.first
        while let link = next {
          next = link.pointee.next
          let watcher = link.pointee.wire.pointee.watcher
          guard watcher.pointee.isEager else { continue }
          if change.isSame, !watcher.pointee.flags.contains(.comparing) { continue }
          let call = DeferredCall(
            index: watcher.pointee.index, id: watcher.pointee.id, change: change,
            path: link.pointee.wire.pointee.path.takeUnretainedValue())
          let effect = link.pointee.effect
          if !change.isSame {
            if effect.contains(.stale) { markStale(link) }
            if effect.contains(.dirty) { markDirty(link) }
            if !effect.isDisjoint(with: [.stale, .dirty]) { stale.append(call) }
          }
          if effect.contains(.certain) {
            calls.append(call)
          } else if link.isAnchored {
            if !change.isSame, link.pointee.derived > 0 { judge(watcher) }
          } else if !change.isSame, !watcher.pointee.flags.contains(.immediate) {
            // With a comparison of its own: a derived value has no old one to compare.
            mark(watcher, isCertain: false, by: change)
          }
        }
      }
    }
    // Their paths follow replaced objects at once: what is written next may lie on the new branch.
    for call in stale {
      guard let watcher = watcher(at: call.index, id: call.id), settleDependencies(of: watcher),
        rewire(watcher)
      else { continue }
      if watcher.pointee.flags.contains(.immediate), refresh(watcher) == true { calls.append(call) }
    }
    if !doubting.isEmpty, batchDepth == 0 { calls += takeDoubting() }
    callImmediately(calls)
  }

  /// In order of registration, and once per change, by however many of its paths a watcher hears of it.
  func callImmediately(_ calls: [DeferredCall]) {
    var calls = calls
    if calls.count > 1 { calls.sort { $0.id < $1.id } }
    var last: UInt64 = 0
    for call in calls where call.id != last {
      guard let watcher = watcher(at: call.index, id: call.id) else { continue }
      if watcher.pointee.flags.contains(.comparing) {
        // What a comparison writes itself is not compared again: it would never end.
        if !watcher.pointee.flags.contains(.comparingNow) {
          let receiver = watcher.pointee.receiver.takeUnretainedValue()
          watcher.pointee.flags.insert(.comparingNow)
          let isEqual = receiver.isEqual(watcher, call.change)
          guard self.watcher(at: call.index, id: call.id) != nil else { continue }
          watcher.pointee.flags.remove(.comparingNow)
          if isEqual { continue }
        } else if call.change.isSame {
          continue
        }
      }
      last = call.id
      if watcher.pointee.flags.contains(.immediate) {
        callImmediately(watcher, call)
      } else if !watcher.pointee.flags.contains(.certain) {
        mark(watcher, isCertain: true, by: call.change)
      }
    }
  }

  /// Has an immediate watcher, or one that compares, looked at in the flush.
  private func judge(_ watcher: WatcherRef) {
    guard watcher.pointee.flags.isDisjoint(with: .judging), let root = watcher.pointee.root else {
      return
    }
    watcher.pointee.flags.insert(.judging)
    root.kind.noteCause(of: watcher)
    if watcher.pointee.flags.contains(.paused) { return }
    anchor(watcher, on: root)
    enqueue(watcher)
  }

  private func callImmediately(_ watcher: WatcherRef, _ call: DeferredCall) {
    if isRecording { recorder?.marked(watcher, by: call.change) }
    if watcher.pointee.flags.contains(.paused) || batchDepth > 0 {
      // Told the first change, once (T9); a paused one waits for `resume`.
      if !watcher.pointee.flags.contains(.pending) {
        watcher.pointee.flags.insert(.pending)
        if !watcher.pointee.flags.contains(.paused), let root = watcher.pointee.root {
          anchor(watcher, on: root)
        }
        batched.append(saving(call, for: watcher))
      }
      return
    }
    if watcher.pointee.flags.contains(.running) {
      guard countNested(watcher) else { return }
      reruns.append(saving(call, for: watcher))
      return
    }
    // Of what was reported as endless nothing more is called: several that set each other off
    // would multiply their limits.
    if immediateDepth > 0, watcher.pointee.nested > immediateLimit { return }
    if immediateDepth >= nestingLimit {
      guard countNested(watcher) else { return }
      deferred.append(saving(call, for: watcher))
      return
    }
    run(watcher, call)
    guard immediateDepth == 0 else { return }
    while !deferred.isEmpty {
      let waiting = deferred
      deferred = []
      for call in waiting {
        guard let watcher = self.watcher(at: call.index, id: call.id) else { continue }
        if watcher.pointee.flags.contains(.paused) {
          callImmediately(watcher, call)
        } else {
          run(watcher, call)
        }
      }
    }
    nestedWatchers.forEach { self.watcher(at: $0.index, id: $0.id)?.pointee.nested = 0 }
    nestedWatchers = []
  }

  /// Calls the watcher now, and again for each change that it made itself meanwhile.
  private func run(_ watcher: WatcherRef, _ call: DeferredCall) {
    var call = call
    while true {
      // Its object may have died in the callback: the watcher ends when that is done.
      guard rewire(watcher), let root = watcher.pointee.root, !root.isDead else {
        reruns.removeAll { $0.id == call.id }
        return
      }
      let receiver = watcher.pointee.receiver.takeUnretainedValue()
      if watcher.pointee.flags.contains(.observing), !receiver.isObserverAlive(watcher) {
        stop(watcher)
        return
      }
      watcher.pointee.flags.insert(.running)
      immediateDepth += 1
      suspendTracking()
      if !watcher.pointee.flags.contains(.probing) { statistics.calls += 1 }
      if isRecording { recorder?.called(watcher) }
      receiver.deliver(watcher, call.change, path: call.path)
      immediateDepth -= 1
      resumeTracking()
      watcher.pointee.flags.remove(.running)
      guard watcher.pointee.isActive else {
        reruns.removeAll { $0.id == call.id }
        freeIfUnused(watcher)
        return
      }
      if watcher.pointee.flags.contains(.once) {
        reruns.removeAll { $0.id == call.id }
        stop(watcher)
        return
      }
      guard let again = reruns.firstIndex(where: { $0.id == call.id }) else { return }
      call = reruns.remove(at: again)
    }
  }

  /// An immediate watcher was called for another reason than a write; what it changed itself
  /// meanwhile calls it again.
  func runAgain(_ watcher: WatcherRef) {
    let (index, id) = (watcher.pointee.index, watcher.pointee.id)
    let calls = reruns.filter { $0.id == id }
    reruns.removeAll { $0.id == id }
    if watcher.pointee.flags.contains(.once) {
      stop(watcher)
      return
    }
    for call in calls {
      guard let watcher = self.watcher(at: index, id: id) else { return }
      callImmediately(watcher, call)
    }
    if let watcher = self.watcher(at: index, id: id), let root = watcher.pointee.root,
      !watcher.pointee.flags.contains(.pending)
    {
      releaseAnchor(of: watcher, on: root)
    }
  }

  /// False, and an error, when a watcher set itself off too often.
  private func countNested(_ watcher: WatcherRef) -> Bool {
    if watcher.pointee.nested == 0 {
      nestedWatchers.append((watcher.pointee.index, watcher.pointee.id))
    }
    watcher.pointee.nested += 1
    if watcher.pointee.nested <= immediateLimit { return true }
    if watcher.pointee.nested == immediateLimit + 1 {
      report(.immediateLoop(watcher: title(watcher), times: immediateLimit))
    }
    return false
  }

  private func saving(_ call: DeferredCall, for watcher: WatcherRef) -> DeferredCall {
    var change = call.change
    if change.saved == nil {
      change.saved = watcher.pointee.receiver.takeUnretainedValue().save(change)
    }
    return DeferredCall(index: call.index, id: call.id, change: change, path: call.path)
  }

  // MARK: Batches

  /// Immediate watchers triggered until the matching `endBatch` run once each, at its end.
  package func beginBatch() { batchDepth += 1 }

  package func endBatch() {
    batchDepth -= 1
    if batchDepth == 0 { callBatched() }
  }

  private func callBatched() {
    if batched.isEmpty, doubting.isEmpty { return }
    var calls = batched
    batched = []
    // Told the first change, where one of its other paths has changed too.
    calls += takeDoubting().filter { call in !calls.contains { $0.id == call.id } }
    calls.sort { $0.id < $1.id }
    for call in calls {
      guard let watcher = watcher(at: call.index, id: call.id) else { continue }
      if watcher.pointee.flags.contains(.paused) {
        batched.append(call)
      } else {
        if !watcher.pointee.flags.contains(.certain) {
          watcher.pointee.flags.remove(.pending)
        }
        callImmediately(watcher, call)
        if let watcher = self.watcher(at: call.index, id: call.id),
          !watcher.pointee.flags.contains(.pending), let root = watcher.pointee.root
        {
          releaseAnchor(of: watcher, on: root)
        }
      }
    }
  }

  package func pause(_ watcher: WatcherRef) {
    guard let root = watcher.pointee.root else { return }
    watcher.pointee.flags.insert(.paused)
    if !watcher.pointee.flags.contains(.running) { releaseAnchor(of: watcher, on: root) }
  }

  /// Changes while it was paused were remembered as one, which is delivered now: by an immediate
  /// watcher at once, by others in the flush.
  package func resume(_ watcher: WatcherRef) {
    guard let root = watcher.pointee.root, watcher.pointee.flags.contains(.paused) else { return }
    watcher.pointee.flags.remove(.paused)
    if watcher.pointee.flags.contains(.judging) {
      anchor(watcher, on: root)
      enqueue(watcher)
    }
    guard watcher.pointee.flags.contains(.pending) else { return }
    anchor(watcher, on: root)
    if watcher.pointee.flags.contains([.pending, .certain])
      || !watcher.pointee.flags.contains(.immediate)
    {
      enqueue(watcher)
    }
    if watcher.pointee.flags.contains(.immediate), batchDepth == 0 { callBatched() }
  }
}
