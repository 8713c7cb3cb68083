import Synchronization

/// Collects pending watchers, and calls them when the turn ends: each at most once per flush, in
/// order of registration.
package struct Delivery: Room {
  package let rooms: Rooms

  struct State {
    fileprivate var queue = DeliveryQueue()
    fileprivate var heldObjects: [AnyObject] = []
    /// How many rounds in a row had re-triggered watchers when the last turn ended (T4).
    fileprivate var heldRounds = 0
    /// Whether the current turn continues to count its rounds from `heldRounds`, because watchers
    /// were held over to it.
    fileprivate var goesOn = false
    /// The receiver of the innermost watcher call under way; nil outside of calls.
    fileprivate var callee: UnsafeMutableRawPointer?
    /// Whether the program is about to end: a turn then has only one round (T4).
    fileprivate var isEnding = false
    /// Called when the first watcher of a turn becomes pending.
    fileprivate var onPending: (() -> Void)?
    /// How many writes wait to be reported, because no code of the program could run when they were
    /// made; nil if the bridge never has such writes.
    fileprivate var waitingWrites: UnsafePointer<Atomic<CInt>>?
    /// Reports the waiting writes.
    fileprivate var reportWaitingWrites: (() -> Void)?
    /// The number of the turn under way, in memory that a bridge without Swift can read.
    ///
    /// Changes triggered while a turn ends belong to this turn.
    fileprivate let turnNumber: UnsafeMutablePointer<UInt64>

    init() {
      turnNumber = .allocate(capacity: 1)
      turnNumber.initialize(to: 1)
    }
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.delivery) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.delivery)
    }
  }

  // MARK: Pending watchers

  /// Makes a watcher pending, so the flush of this turn calls it.
  package func schedule(_ watcher: WatcherRef, _ status: WatcherRecord.Status = .stale) {
    raise(watcher, to: status, by: nil)
  }

  /// Makes a watcher pending for a change, unless its call is already certain; with a nil change,
  /// no transaction can take this back.
  @inline(__always)
  func mark(_ watcher: WatcherRef, _ status: WatcherRecord.Status, by change: Change?) {
    if watcher.pointee.isCertain {
      transactions.noteCertain(watcher, change)
      if recording.isOn, let change { recording.recorder?.marked(watcher, by: change) }
    } else {
      markUncertain(watcher, status, by: change)
    }
  }

  private func markUncertain(
    _ watcher: WatcherRef, _ status: WatcherRecord.Status, by change: Change?
  ) {
    // The watcher ended while links are being made: its own links are removed later.
    if watcher.pointee.root == nil { return }
    if recording.isOn, let change { recording.recorder?.marked(watcher, by: change) }
    let hasCause = watcher.pointee.isPending && !watcher.pointee.flags.contains(.undone)
    raise(watcher, to: status, by: change)
    if !hasCause, change != nil {
      watcher.pointee.flags.remove(.undone)
      watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.noteCause(of: watcher) }
    }
  }

  @inline(__always)
  private func raise(_ watcher: WatcherRef, to status: WatcherRecord.Status, by change: Change?) {
    transactions.note(watcher, status, change)
    if !watcher.pointee.isActive { return }
    watcher.pointee.raise(to: status)
    makeReady(watcher)
  }

  /// Queues a watcher for which the flush has work.
  ///
  /// A paused watcher waits for `resume`. If the collector has given up its object, the watcher
  /// waits until the object comes back (`revive`). Neither of them keeps anything alive.
  @inline(__always)
  func makeReady(_ watcher: WatcherRef) {
    guard let root = watcher.pointee.root, !watcher.pointee.isPaused,
      anchor(watcher, on: root)
    else { return }
    enqueue(watcher)
  }

  /// Queues the pending watchers of an object that comes back after the collector had given it up
  /// (L8).
  package func revive(_ node: NodeRef) {
    loseObjects(below: node)
    watchers.forEach(of: node) { watcher in
      if !watcher.pointee.traits.contains(.lazy), watcher.pointee.wantsFlush {
        makeReady(watcher)
      }
    }
  }

  /// Ends the nodes on the paths of `node` whose objects the collector gave up as well.
  ///
  /// If those objects come back, too, the paths find them again.
  private func loseObjects(below node: NodeRef) {
    var lost: Set<NodeRef> = []
    watchers.forEach(of: node) { watcher in
      wiring.forEachWire(of: watcher) { wire in
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

  /// Keeps the observed object alive until the watcher was called (L2); false if the object is
  /// gone.
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

  /// Releases the object of a watcher that has no call due.
  func releaseAnchorIfIdle(of watcher: WatcherRef) {
    guard let root = watcher.pointee.root, !watcher.pointee.flags.contains(.queued),
      !immediates.isWaiting(watcher)
    else { return }
    releaseAnchor(of: watcher, on: root)
  }

  private func enqueue(_ watcher: WatcherRef) {
    if watcher.pointee.flags.contains(.queued) { return }
    watcher.pointee.flags.insert(.queued)
    if state.queue.isEmpty, !isFlushing, let onPending = state.onPending { onPending() }
    state.queue.add(watcher)
  }

  /// Queues an immediate or comparing watcher for the flush, which finds objects that have left
  /// (C4), and makes a waiting call.
  ///
  /// With `isCause`, the write under way becomes the cause of the next call.
  func checkInFlush(_ watcher: WatcherRef, isCause: Bool = false) {
    guard watcher.pointee.flags.isDisjoint(with: .checkingDepartures), watcher.pointee.root != nil
    else {
      return
    }
    if isCause { watcher.pointee.receiver.takeUnretainedValue().noteCause(of: watcher) }
    watcher.pointee.flags.insert(.checkingDepartures)
    makeReady(watcher)
  }

  // MARK: Flushes

  /// True if a watcher waits for a flush.
  var hasPending: Bool { !state.queue.isEmpty }

  var pendingCount: Int { state.queue.count }

  /// The watchers that wait for a flush and have not ended, in no order.
  var pending: [WatcherID] { state.queue.all.filter { $0.pointee.isActive }.map(\.identity) }

  package var isFlushing: Bool { state.queue.isFlushing }

  /// The number of the flush under way within its turn, from 1; nil outside of flushes.
  ///
  /// A turn has several flushes if a program flushes in it.
  var flushUnderWay: Int? { isFlushing ? state.queue.flushesOfTurn : nil }

  /// Calls the pending watchers, and watchers that become pending in these calls (T3, T4).
  ///
  /// A watcher that has already run and is triggered again stays pending for the next flush. Once
  /// `stop` is not 0, the remaining watchers wait for the next flush, too: the script that asked
  /// for this flush is being stopped, and the watchers of others must not lose their calls.
  ///
  /// Returns the number of calls.
  @discardableResult
  package func flush(unless stop: UnsafePointer<CInt>? = nil) -> Int {
    precondition(!isFlushing, "A flush cannot be nested: ask isFlushing first")
    nodes.buryDead()
    members.leaveOpaqueNodes()
    if hasWaitingWrites { reportWaiting() }
    if state.queue.isEmpty {
      deliveredValues.forgetBasesOfEndedWatchers()
      return 0
    }
    state.queue.beginFlush()
    var calls = 0
    while true {
      operations.countStep()
      // Objects may have died in the last call; changes on paths through them belong to this flush
      // (L4).
      nodes.buryDead()
      if let stop, stop.pointee != 0 { break }
      guard let watcher = state.queue.next() ?? nextAfterWaitingWrites() else { break }
      if call(watcher) { calls += 1 }
    }
    state.queue.endFlush()
    deliveredValues.forgetBases()
    // A turn may flush any number of times.
    if immediates.depth == 0 { nodes.trimJournals() }
    reports.statistics.calls += calls
    return calls
  }

  /// Reports the waiting writes when the queue is empty; returns the next watcher that these writes
  /// have made pending.
  @inline(__always)
  private func nextAfterWaitingWrites() -> WatcherRef? {
    guard hasWaitingWrites else { return nil }
    reportWaiting()
    return state.queue.next()
  }

  @inline(__always)
  var hasWaitingWrites: Bool {
    state.waitingWrites != nil && state.waitingWrites!.pointee.load(ordering: .relaxed) != 0
  }

  /// Reports the waiting writes, and calls immediate watchers of lazy properties that these writes
  /// made invalid.
  func reportWaiting() {
    state.reportWaitingWrites?()
    comparisons.call()
  }

  /// Calls one watcher that came out of a queue; false if there was nothing to deliver.
  @inline(__always)
  private func call(_ watcher: WatcherRef) -> Bool {
    watcher.pointee.flags.remove(.queued)
    guard let root = watcher.pointee.root else {
      watchers.freeIfUnused(watcher)
      return false
    }
    let traits = watcher.pointee.traits
    guard watcher.pointee.wantsFlush, watcher.pointee.flags.isDisjoint(with: [.paused, .running])
    else {
      return false
    }
    let receiver = watcher.pointee.receiver
    if traits.contains(.charged),
      receiver._withUnsafeGuaranteedRef({ $0.waitsForNextTurn(watcher) })
    {
      hold(watcher)
      return false
    }
    if watcher.hasLostObserver {
      watchers.stop(watcher)
      return false
    }
    slots.rearmQuiet()
    guard isPrepared(watcher) else { return false }
    if watcher.pointee.flags.contains(.startingOver) {
      hold(watcher)
      return false
    }
    let isStale = watcher.pointee.isStale
    watcher.pointee.flags.remove(.undone)
    transactions.noteCall(of: watcher)
    if watcher.pointee.flags.contains(.checkingDepartures) {
      return callAnchoring(watcher, on: root, isStale: isStale)
    }
    guard let refreshed = refreshInFlush(watcher) else { return false }
    watcher.pointee.status = .clean
    guard refreshed.path != nil || isStale else {
      if recording.isOn { recording.recorder?.unchanged(watcher) }
      releaseAnchor(of: watcher, on: root)
      return false
    }
    return takeTurn(of: watcher, on: root)
  }

  /// Makes a watcher that came out of a queue wait for the next turn.
  private func hold(_ watcher: WatcherRef) {
    watcher.pointee.flags.insert(.queued)
    state.queue.hold(watcher)
  }

  /// Brings the links of a watcher, and the lazy properties on its paths, up to date on the account
  /// of its receiver; false if the watcher ended.
  @inline(__always)
  private func isPrepared(_ watcher: WatcherRef) -> Bool {
    let isCharged = watcher.pointee.traits.contains(.charged) && watcher.hasLinkWork
    return isCharged ? prepareCharged(watcher) : prepare(watcher)
  }

  @inline(__always)
  private func prepare(_ watcher: WatcherRef) -> Bool {
    if watcher.pointee.flags.contains(.startingOver), !wiring.startAgain(watcher) { return false }
    return dependents.follow(watcher, isItsTurn: true)
  }

  @inline(never)
  private func prepareCharged(_ watcher: WatcherRef) -> Bool {
    var isReady = false
    watcher.pointee.receiver.takeUnretainedValue().prepare(watcher) { isReady = prepare(watcher) }
    return isReady
  }

  /// Compares the watched values with the delivered ones, on the account of the watcher's receiver.
  @inline(__always)
  private func refreshInFlush(_ watcher: WatcherRef) -> Dependents.Refreshed? {
    let isCharged = watcher.pointee.traits.contains(.charged) && watcher.hasWork
    return isCharged ? refreshCharged(watcher) : dependents.refresh(watcher)
  }

  @inline(never)
  private func refreshCharged(_ watcher: WatcherRef) -> Dependents.Refreshed? {
    var refreshed: Dependents.Refreshed?
    watcher.pointee.receiver.takeUnretainedValue().prepare(watcher) {
      refreshed = dependents.refresh(watcher)
    }
    return refreshed
  }

  /// Calls a watcher whose paths may end because objects may have left their lists (C4).
  private func callAnchoring(
    _ watcher: WatcherRef, on root: NodeRef, isStale: Bool
  ) -> Bool {
    let departure = wiring.takeDepartures(of: watcher)
    guard let refreshed = refreshInFlush(watcher) else { return false }
    let isImmediate = watcher.pointee.traits.contains(.immediate)
    watcher.pointee.status = .clean
    watcher.pointee.flags.remove(.checkingDepartures)
    let waiting = isImmediate ? immediates.takeWaiting(of: watcher) : nil
    guard departure != nil || waiting != nil || isStale || refreshed.path != nil && !isImmediate
    else {
      if recording.isOn, !isImmediate { recording.recorder?.unchanged(watcher) }
      releaseAnchorIfIdle(of: watcher)
      return false
    }
    let change = waiting.map { ($0.change, $0.path) }
    return takeTurn(
      of: watcher, on: root, change ?? departure.map { (.saved($0.change), $0.path) })
  }

  /// Calls a watcher that was not called in this flush; false if its receiver had no reason to call
  /// it.
  @inline(__always)
  private func takeTurn(
    of watcher: WatcherRef, on root: NodeRef,
    _ immediate: (change: ImmediateChange, path: Path)? = nil
  ) -> Bool {
    let name = watcher.identity
    let wasIdle = state.queue.noteCall(of: watcher)
    if invoke(watcher, on: root, immediate) { return true }
    if !wasIdle, let watcher = watchers[name] { state.queue.allowCall(of: watcher) }
    return false
  }

  /// Notes, during a receiver's call, that there was no reason to call the watcher.
  package func noteIdleCall() { state.queue.noteIdleCall() }

  /// Calls a watcher; false if its receiver had no reason to call it.
  @discardableResult
  private func invoke(
    _ watcher: WatcherRef, on root: NodeRef,
    _ immediate: (change: ImmediateChange, path: Path)? = nil
  ) -> Bool {
    if recording.isOn { recording.recorder?.called(watcher) }
    watcher.pointee.flags.insert(.running)
    let outer = state.callee
    state.callee = watcher.pointee.receiver.toOpaque()
    if let immediate, watcher.pointee.traits.contains(.immediate) {
      watcher.pointee.receiver._withUnsafeGuaranteedRef {
        $0.deliverInFlush(watcher, immediate.change, path: immediate.path)
      }
    } else {
      watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.deliver(watcher) }
    }
    state.callee = outer
    let wasCalled = !state.queue.takeIdleCall()
    if recording.isOn { recording.recorder?.returned(watcher) }
    watcher.pointee.flags.remove(.running)
    guard watcher.pointee.isActive else {
      watchers.freeIfUnused(watcher)
      return wasCalled
    }
    if watcher.pointee.traits.contains(.once) && wasCalled || watcher.pointee.wires.isEmpty {
      watchers.stop(watcher)
      return wasCalled
    }
    if watcher.pointee.traits.contains(.immediate) {
      let name = watcher.identity
      immediates.makeReruns(of: watcher)
      guard watchers[name] != nil else { return wasCalled }
    }
    releaseAnchorIfIdle(of: watcher)
    return wasCalled
  }

  /// Calls a watcher now, whatever has changed (`Watcher.run`).
  ///
  /// Has no effect if the observed object or the observer is gone. False if the watcher's own
  /// callback requests the call.
  @discardableResult
  package func runNow(_ watcher: WatcherRef) -> Bool {
    if watcher.pointee.flags.contains(.running) { return false }
    records.hold {
      guard let root = watcher.pointee.root else { return }
      if watcher.hasLostObserver {
        watchers.stop(watcher)
        return
      }
      guard anchor(watcher, on: root), dependents.follow(watcher) else { return }
      reports.statistics.calls += 1
      operations.running {
        tracking.suspend()
        invoke(watcher, on: root)
      }
      tracking.resume()
    }
    return true
  }

  /// Ends a turn: flushes, and starts further turns for watchers that have already run and were
  /// triggered again (T4); then forgets unobserved slots and nodes.
  ///
  /// Returns the number of calls.
  @discardableResult
  package func endTurn() -> Int {
    var calls = 0
    var rounds = state.goesOn ? state.heldRounds : 0
    state.goesOn = false
    while true {
      calls += flush()
      // The flush is a part of the turn that ends.
      reports.statistics.turns += 1
      state.queue.endTurn()
      if state.queue.isEmpty || state.isEnding { break }
      rounds += 1
      if rounds >= limits.retriggers {
        dropPending(after: rounds)
        break
      }
    }
    slots.rearmQuiet()
    watchers.stopOrphansIfNoted()
    nodes.trimJournals()
    hooks.run()
    nodes.unobserveIdle()
    letGoOfObjects()
    state.turnNumber.pointee += 1
    (state.heldRounds, state.goesOn) = (rounds, state.queue.hasHeld)
    if state.queue.hasHeld {
      if state.queue.isEmpty, let onPending = state.onPending { onPending() }
      state.queue.releaseHeld()
    }
    return calls
  }

  private func dropPending(after turns: Int) {
    var names: [String] = []
    for watcher in state.queue.takeAll() {
      watcher.pointee.flags.remove(.queued)
      guard let root = watcher.pointee.root else {
        watchers.freeIfUnused(watcher)
        continue
      }
      names.append(watchers.title(watcher))
      watcher.pointee.status = .clean
      watcher.pointee.flags.remove(.checkingDepartures)
      // A property that stayed invalid would not notify dependents of its next change.
      guard isPrepared(watcher) else { continue }
      // Objects that moved below `**` have made it pending again.
      watcher.pointee.status = .clean
      releaseAnchor(of: watcher, on: root)
    }
    reports.report(.retriggered(watchers: names, turns: turns))
  }

  /// Keeps the object until the turn is over; requests a turn if none is due.
  package func hold(_ object: AnyObject) {
    if state.heldObjects.isEmpty, let onPending = state.onPending { onPending() }
    state.heldObjects.append(object)
  }

  /// Releases the objects when the turn is over.
  func letGoOfObjects() {
    while !state.heldObjects.isEmpty, !engine.isOccupied {
      let objects = state.heldObjects
      state.heldObjects = []
      for object in objects { (object as? GuardedModel)?.letGo() }
    }
  }

  // MARK: Settings of the loop and the bridge

  package var goesOn: Bool {
    get { state.goesOn }
    nonmutating set { state.goesOn = newValue }
  }
  package var callee: UnsafeMutableRawPointer? {
    @inline(__always) get { state.callee }
    @inline(__always) nonmutating set { state.callee = newValue }
  }
  package var isEnding: Bool {
    get { state.isEnding }
    nonmutating set { state.isEnding = newValue }
  }
  var onPending: (() -> Void)? {
    get { state.onPending }
    nonmutating set { state.onPending = newValue }
  }
  package var turnNumber: UnsafeMutablePointer<UInt64> { state.turnNumber }

  /// Makes `report` run before watchers are called or values are read, while `count` is not 0;
  /// other threads may count in it, too.
  package func setWaitingWrites(_ count: UnsafePointer<CInt>?, by report: (() -> Void)?) {
    state.waitingWrites = count.map {
      UnsafeRawPointer($0).assumingMemoryBound(to: Atomic<CInt>.self)
    }
    state.reportWaitingWrites = report
  }

  func free() {
    state.queue.free { if !$0.pointee.isActive { records.end($0) } }
    state.turnNumber.deallocate()
  }
}
