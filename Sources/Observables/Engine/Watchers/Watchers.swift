/// Makes watchers, finds them by identity, pauses them and ends them.
package struct Watchers: Room {
  package let rooms: Rooms

  struct State {
    fileprivate var table = WatcherTable()
    /// Observers may have died unnoticed; their watchers are looked for when the turn ends.
    fileprivate var hasOrphans = false
    /// The watchers with an observer.
    fileprivate var observing = WatcherList()
    fileprivate var pausedCount = 0
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.watchers) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.watchers)
    }
  }

  /// The index that the next watcher will have; in memory that a bridge without Swift can read.
  package var nextIndex: UnsafeMutablePointer<Int> { state.table.nextIndex }

  /// Makes a watcher without paths for the object of `root`.
  package func make(
    root: NodeRef, receiver: Receiver, traits: WatcherRecord.Traits, context: Int = 0
  ) -> WatcherRef {
    let name = state.table.nextName
    let traits = receiver.chargesLinks ? traits.union(.charged) : traits
    let watcher = records.make(
      WatcherRecord(
        id: name.number, traits: traits, root: root, receiver: .passRetained(receiver),
        context: context, index: name.index,
        payer: receiver.payer))
    state.table.add(watcher)
    root.pointee.watchers.append(watcher)
    if !traits.contains(.lazy) { reports.statistics.watchers += 1 }
    if traits.isDisjoint(with: [.lazy, .probing]) { transactions.note(name) }
    if traits.contains(.observing) { state.observing.add(name, in: self) }
    return watcher
  }

  /// The watcher with this identity, if it has not ended.
  package subscript(name: WatcherID) -> WatcherRef? {
    @inline(__always) get { state.table[name] }
  }

  /// Calls `body` for every watcher and lazy property that has not ended, in no order.
  package func forEach(_ body: (WatcherRef) -> Void) {
    // `body` may end some of them.
    records.hold {
      for index in 0..<state.table.endIndex {
        if let watcher = state.table.watcher(at: index) { body(watcher) }
      }
    }
  }

  /// Calls `body` for the watchers and lazy properties rooted at a node, in order of registration;
  /// `body` may end any of them.
  package func forEach(of root: NodeRef, _ body: (WatcherRef) -> Void) {
    records.forEach(from: root.pointee.watchers.first, body)
  }

  func title(_ watcher: WatcherRef) -> String {
    watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.title(watcher) }
  }

  // MARK: Pausing

  /// Whether any watcher is paused.
  var arePaused: Bool { state.pausedCount > 0 }

  package func pause(_ watcher: WatcherRef) {
    guard let root = watcher.pointee.root else { return }
    if !watcher.pointee.isPaused { state.pausedCount += 1 }
    watcher.pointee.flags.insert(.paused)
    immediates.pause(watcher)
    if !watcher.pointee.flags.contains(.running) { delivery.releaseAnchor(of: watcher, on: root) }
  }

  /// Ends the pause of a watcher.
  ///
  /// Changes during the pause were remembered as one, which is delivered now: to an immediate
  /// watcher at once, to others in the flush.
  package func resume(_ watcher: WatcherRef) {
    guard watcher.pointee.isActive, watcher.pointee.isPaused else { return }
    watcher.pointee.flags.remove(.paused)
    state.pausedCount -= 1
    if watcher.pointee.wantsFlush {
      delivery.makeReady(watcher)
    }
    immediates.resume(watcher)
  }

  // MARK: Ending

  /// Ends a watcher: no call is made after this returns, not even a pending one (T7).
  ///
  /// - Returns: how many paths it had.
  @discardableResult
  package func stop(_ watcher: WatcherRef) -> Int {
    stop(watcher, observedDied: false)
  }

  @discardableResult
  func stop(_ watcher: WatcherRef, observedDied: Bool) -> Int {
    guard let root = watcher.pointee.root else { return 0 }
    if watcher.pointee.traits.contains(.lazy) { lazies.forget(watcher) }
    if watcher.pointee.isPaused { state.pausedCount -= 1 }
    immediates.forget(watcher)
    comparisons.forget(watcher)
    deliveredValues.noteEnd()
    if recording.isOn { recording.recorder?.ended(watcher) }
    var count = 0
    nodes.whileRemoving {
      let wire = watcher.pointee.wires.first
      let path = observedDied ? wire?.pointee.path.takeUnretainedValue() : nil
      while let wire = watcher.pointee.wires.first {
        wiring.end(wire, of: watcher)
        count += 1
      }
      root.pointee.watchers.remove(watcher)
      watcher.pointee.root = nil
      watcher.pointee.status = .clean
      state.table.remove(watcher)
      if !watcher.pointee.traits.contains(.lazy) { reports.statistics.watchers -= 1 }
      let receiver = watcher.pointee.receiver
      receiver._withUnsafeGuaranteedRef { $0.ended(watcher, observedDied: path) }
      // The record is still needed during the watcher's own call.
      if !watcher.isInOwnCall {
        watcher.pointee.holdsReceiver = false
        receiver.release()
      }
      if !root.isDead { nodes.unobserveWhenIdle(root) }
      delivery.releaseAnchor(of: watcher, on: root)
      freeIfUnused(watcher)
    }
    return count
  }

  /// Ends the watchers for whose receiver `isOurs` is true, without calling hooks, when a state
  /// closes (L3).
  package func stopAll(where isOurs: (Receiver) -> Bool) {
    forEach { if isOurs($0.pointee.receiver.takeUnretainedValue()) { stop($0) } }
    hooks.removeAll()
  }

  /// The number of the watcher that was registered last.
  package var latestNumber: UInt64 { state.table.lastNumber }

  /// Frees the record unless a queue or a call on the stack holds it.
  func freeIfUnused(_ watcher: WatcherRef) {
    if !watcher.pointee.isActive, !watcher.isInUse { records.end(watcher) }
  }

  /// Notes that observers may have died; their watchers are looked for when the turn ends.
  package func noteOrphans() { state.hasOrphans = true }

  /// Ends the watchers whose observers have died, if `noteOrphans` was called.
  func stopOrphansIfNoted() { if state.hasOrphans { stopOrphans() } }

  /// Ends the watchers whose observer is gone (L3), for callers that ask before the next flush.
  package func stopOrphans() {
    state.hasOrphans = false
    records.hold {
      state.observing.forEach(in: self) { if $0.hasLostObserver { stop($0) } }
    }
    state.observing.removeEnded(in: self)
  }

  func free() { state.table.free() }
}
