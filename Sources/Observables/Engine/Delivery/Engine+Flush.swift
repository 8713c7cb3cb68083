/// The end of a turn: pending watchers are called, at most once per flush, earliest registered
/// first.
extension Engine {
  /// True where a watcher waits for a flush.
  package var hasPending: Bool { !delivery.isEmpty }
  package var pendingCount: Int { delivery.count }
  package var isFlushing: Bool { delivery.isFlushing }
  /// Which flush of its turn is under way, counted from 1; nil outside of flushes.
  ///
  /// A turn has several where a program flushes in it.
  package var flushUnderWay: Int? { isFlushing ? delivery.flushesOfTurn : nil }

  /// Calls pending watchers, and those that become pending by that and have not run in this flush
  /// (T3, T4).
  ///
  /// A watcher that has run already and is triggered again stays pending for the next flush.
  /// Once `stop` is not 0 the rest waits for the next flush: a script that has asked for this one
  /// is being stopped, which is not to cost others their calls.
  ///
  /// Returns the number of calls.
  @discardableResult
  package func flush(unless stop: UnsafePointer<CInt>? = nil) -> Int {
    precondition(!isFlushing, "A flush cannot be nested: ask isFlushing first")
    if waitingNodes.hasDead { buryDead() }
    if !opaqueNodes.isEmpty { leaveOpaqueNodes() }
    if hasWaitingWrites { reportWaiting() }
    if delivery.isEmpty { return 0 }
    delivery.beginFlush()
    var calls = 0
    while true {
      // Objects may have died in the last call; changes of the paths that passed through them
      // belong to this flush (L4).
      if waitingNodes.hasDead { buryDead() }
      if let stop, stop.pointee != 0 { break }
      guard let watcher = delivery.next() ?? nextAfterWaitingWrites() else { break }
      if call(watcher) { calls += 1 }
    }
    delivery.endFlush()
    deliveredValues.forgetBases()
    // A turn may flush any number of times.
    if waitingNodes.hasNoted, immediates.depth == 0 { trimJournals() }
    statistics.calls += calls
    return calls
  }

  /// The next watcher where none was left before the writes were reported that wait; once, as their
  /// watchers may write again.
  @inline(__always)
  private func nextAfterWaitingWrites() -> WatcherRef? {
    guard hasWaitingWrites else { return nil }
    reportWaiting()
    return delivery.next()
  }

  @inline(__always)
  var hasWaitingWrites: Bool { waitingWrites != nil && waitingWrites!.pointee != 0 }

  /// Reports the writes that wait, and compares values that these have changed and restored.
  func reportWaiting() {
    reportWaitingWrites?()
    comparisons.call()
  }

  /// Calls one watcher that came out of a queue; false where there was nothing to deliver.
  @inline(__always)
  private func call(_ watcher: WatcherRef) -> Bool {
    watcher.pointee.flags.remove(.queued)
    guard let root = watcher.pointee.root else {
      freeIfUnused(watcher)
      return false
    }
    let flags = watcher.pointee.flags
    guard watcher.pointee.wantsFlush, flags.isDisjoint(with: [.paused, .running]) else {
      return false
    }
    let receiver = watcher.pointee.receiver
    if flags.contains(.charged), receiver._withUnsafeGuaranteedRef({ $0.waitsForNextTurn(watcher) })
    {
      watcher.pointee.flags.insert(.queued)
      delivery.hold(watcher)
      return false
    }
    if flags.contains(.observing),
      !receiver._withUnsafeGuaranteedRef({ $0.isObserverAlive(watcher) })
    {
      stop(watcher)
      return false
    }
    rearmQuietSlots()
    guard isPrepared(watcher) else { return false }
    let isStale = watcher.pointee.isStale
    watcher.pointee.flags.remove(.undone)
    if transactions.hasTurns { noteTentativeCall(of: watcher) }
    if !watcher.pointee.flags.isDisjoint(with: [.anchoring, .checkingDepartures]) {
      return callAnchoring(watcher, on: root, isStale: isStale)
    }
    guard let refreshed = refreshInFlush(watcher) else { return false }
    watcher.pointee.status = .clean
    guard refreshed.path != nil || isStale else {
      if isRecording { recorder?.unchanged(watcher) }
      releaseAnchor(of: watcher, on: root)
      return false
    }
    return takeTurn(of: watcher, on: root)
  }

  /// Brings the links of a watcher up to date, and what they lead to, for which its receiver pays;
  /// false when it ended.
  @inline(__always)
  private func isPrepared(_ watcher: WatcherRef) -> Bool {
    let isCharged = watcher.pointee.flags.contains(.charged) && watcher.hasLinkWork
    return isCharged ? prepareCharged(watcher) : prepare(watcher)
  }

  @inline(__always)
  private func prepare(_ watcher: WatcherRef) -> Bool {
    // Properties below a link whose object may have been replaced are settled when it is followed.
    settleDependencies(of: watcher) && rewireInFlush(watcher) && settleDependencies(of: watcher)
  }

  @inline(never)
  private func prepareCharged(_ watcher: WatcherRef) -> Bool {
    var isReady = false
    watcher.pointee.receiver.takeUnretainedValue().prepare(watcher) { isReady = prepare(watcher) }
    return isReady
  }

  /// Compares what a watcher watches with what was delivered to it; its receiver pays for that.
  @inline(__always)
  private func refreshInFlush(_ watcher: WatcherRef) -> Refreshed? {
    let isCharged = watcher.pointee.flags.contains(.charged) && watcher.hasWork
    return isCharged ? refreshCharged(watcher) : refresh(watcher)
  }

  @inline(never)
  private func refreshCharged(_ watcher: WatcherRef) -> Refreshed? {
    var refreshed: Refreshed?
    watcher.pointee.receiver.takeUnretainedValue().prepare(watcher) {
      refreshed = refresh(watcher)
    }
    return refreshed
  }

  /// Calls a watcher as `call` does, where paths of it may go because their objects left (C4).
  private func callAnchoring(
    _ watcher: WatcherRef, on root: NodeRef, isStale: Bool
  ) -> Bool {
    let departure = takeDepartures(of: watcher)
    guard let refreshed = refreshInFlush(watcher) else { return false }
    let isImmediate = watcher.pointee.flags.contains(.immediate)
    watcher.pointee.status = .clean
    watcher.pointee.flags.remove(.checkingDepartures)
    let waiting = isImmediate ? immediates.takeWaiting(of: watcher) : nil
    guard departure != nil || waiting != nil || isStale || refreshed.path != nil && !isImmediate
    else {
      if isRecording, !isImmediate { recorder?.unchanged(watcher) }
      releaseAnchorIfIdle(of: watcher)
      return false
    }
    let change = waiting.map { ($0.change, $0.path) }
    return takeTurn(
      of: watcher, on: root, change ?? departure.map { (.saved($0.change), $0.path) })
  }

  /// Calls a watcher that was not called in this flush; false where its receiver had nothing to
  /// call it for.
  @inline(__always)
  private func takeTurn(
    of watcher: WatcherRef, on root: NodeRef,
    _ immediate: (change: ImmediateChange, path: Path)? = nil
  ) -> Bool {
    let name = watcher.identity
    let wasIdle = delivery.noteCall(of: watcher)
    if invoke(watcher, on: root, immediate) { return true }
    if !wasIdle, let watcher = self.watcher(name) { delivery.allowCall(of: watcher) }
    return false
  }

  /// The receiver says of the call that it makes that nothing was there to call the watcher for.
  package func noteIdleCall() { delivery.noteIdleCall() }

  /// Calls a watcher; false where its receiver had nothing to call it for.
  @discardableResult
  private func invoke(
    _ watcher: WatcherRef, on root: NodeRef,
    _ immediate: (change: ImmediateChange, path: Path)? = nil
  ) -> Bool {
    if isRecording { recorder?.called(watcher) }
    watcher.pointee.flags.insert(.running)
    let outer = callee
    callee = watcher.pointee.receiver.toOpaque()
    if let immediate, watcher.pointee.flags.contains(.immediate) {
      watcher.pointee.receiver._withUnsafeGuaranteedRef {
        $0.deliverInFlush(watcher, immediate.change, path: immediate.path)
      }
    } else {
      watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.deliver(watcher) }
    }
    callee = outer
    let wasCalled = !delivery.takeIdleCall()
    if isRecording { recorder?.returned(watcher) }
    watcher.pointee.flags.remove(.running)
    guard watcher.pointee.isActive else {
      freeIfUnused(watcher)
      return wasCalled
    }
    if watcher.pointee.flags.contains(.once) && wasCalled || watcher.pointee.wires.isEmpty {
      stop(watcher)
      return wasCalled
    }
    if watcher.pointee.flags.contains(.immediate) {
      let name = watcher.identity
      immediates.makeReruns(of: watcher)
      guard self.watcher(name) != nil else { return wasCalled }
    }
    releaseAnchorIfIdle(of: watcher)
    return wasCalled
  }

  /// Calls a watcher now, whatever has changed (`Watcher.run`).
  ///
  /// Does nothing where observed or observer are gone. False when the watcher's own callback asks
  /// for it.
  @discardableResult
  package func runNow(_ watcher: WatcherRef) -> Bool {
    if watcher.pointee.flags.contains(.running) { return false }
    records.hold {
      guard let root = watcher.pointee.root else { return }
      if watcher.pointee.flags.contains(.observing),
        !watcher.pointee.receiver._withUnsafeGuaranteedRef({ $0.isObserverAlive(watcher) })
      {
        stop(watcher)
        return
      }
      guard anchor(watcher, on: root), settleDependencies(of: watcher), rewire(watcher) else {
        return
      }
      statistics.calls += 1
      operations.running {
        suspendTracking()
        invoke(watcher, on: root)
      }
      resumeTracking()
    }
    return true
  }

  /// Ends a turn: flushes, and starts further turns for watchers that ran already and were
  /// triggered again (T4); then forgets slots and nodes that are not observed any more.
  ///
  /// Returns the number of calls.
  @discardableResult
  package func endTurn() -> Int {
    var calls = 0
    var rounds = goesOn ? heldRounds : 0
    goesOn = false
    while true {
      calls += flush()
      // The flush is a part of the turn that ends.
      statistics.turns += 1
      delivery.endTurn()
      if delivery.isEmpty || isEnding { break }
      rounds += 1
      if rounds >= limits.retriggers {
        dropPending(after: rounds)
        break
      }
    }
    rearmQuietSlots()
    if hasOrphans { stopOrphans() }
    if waitingNodes.hasNoted { trimJournals() }
    runHooks()
    unobserveIdle()
    if !heldModels.isEmpty { letGoOfModels() }
    turnNumber.pointee += 1
    (heldRounds, goesOn) = (rounds, delivery.hasHeld)
    if delivery.hasHeld {
      if delivery.isEmpty, let onPending { onPending() }
      delivery.releaseHeld()
    }
    return calls
  }

  private func dropPending(after turns: Int) {
    var names: [String] = []
    for watcher in delivery.takeAll() {
      watcher.pointee.flags.remove(.queued)
      guard let root = watcher.pointee.root else {
        freeIfUnused(watcher)
        continue
      }
      names.append(title(watcher))
      watcher.pointee.status = .clean
      watcher.pointee.flags.remove(.checkingDepartures)
      // A property that stayed invalid would not notify of its next change.
      guard isPrepared(watcher) else { continue }
      // Objects that moved below `**` have made it pending again.
      watcher.pointee.status = .clean
      releaseAnchor(of: watcher, on: root)
    }
    report(.retriggered(watchers: names, turns: turns))
  }

  func title(_ watcher: WatcherRef) -> String {
    watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.title(watcher) }
  }

  package func report(_ error: EngineError) {
    statistics.errors += 1
    onError?(error)
  }
}
