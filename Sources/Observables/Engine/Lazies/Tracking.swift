public import Synchronization

/// How many tracked computations are running in the process: where none is, reads need not be
/// noted.
@usableFromInline let trackedComputations = Atomic<Int>(0)

/// Whether some loop of the process runs a tracked computation.
@inlinable @inline(__always)
var isAnythingTracked: Bool { trackedComputations.load(ordering: .relaxed) != 0 }

/// What a tracked computation reads is what it depends on (Z10).
///
/// There is one link for each key, in the order in which they were read. A run that reads the same
/// again makes none.
final class Tracking {
  /// The engine, which owns this object.
  @exclusivity(unchecked) unowned(unsafe) var engine: Engine!
  /// The number of the tracked run that is at work, 0 while there is none; in memory that a bridge
  /// without Swift can read.
  let stamp: UnsafeMutablePointer<UInt32>
  /// The wire with what the running computation has read.
  @exclusivity(unchecked) private var wire: WireRef?
  /// The receivers of tracked computations that have run since the outermost one began.
  @exclusivity(unchecked) private var trackers: [Unmanaged<Receiver>] = []
  @exclusivity(unchecked) private var lastStamp: UInt32 = 0

  init() {
    stamp = .allocate(capacity: 1)
    stamp.initialize(to: 0)
  }

  deinit { stamp.deallocate() }

  /// True while a tracked computation is running.
  @inline(__always) var isOn: Bool { wire != nil }

  /// The computation that is running has read the key of `slot`.
  ///
  /// - Complexity: O(1)
  func noteRead(_ slot: SlotRef, _ reading: Engine.Reading) {
    guard let wire else { return }
    if reading == .value {
      if slot.pointee.stamp == stamp.pointee { return }
      slot.pointee.stamp = stamp.pointee
    }
    let next = wire.linkAfterCursor
    let isCount = reading == .count
    if let next, next.pointee.slot == slot, next.isOfCount == isCount {
      wire.pointee.cursor = next
      if isCount { _ = engine.refreshDerived(next) }
      return
    }
    let link = engine.records.make(
      Link(
        wire: wire, step: 0, isTerminal: true, isFanned: false,
        effect: isCount ? .dirty : .notify))
    wire.insertAfterCursor(link)
    engine.append(link, to: slot)
    if isCount {
      link.pointee.size = slot.pointee.node.kind.derivedValue(
        link.component, of: slot.pointee.node)!
    } else if slot.pointee.lazy != nil {
      engine.adapt(link, to: slot)
    }
  }

  private static let counting = Path(stringLiteral: "@count")

  /// `lazy` begins to run.
  @inline(__always)
  func begin(_ lazy: WatcherRef) {
    if lazy.pointee.flags.contains(.tracking) { beginRun(of: lazy) } else { suspend() }
  }

  private func beginRun(of lazy: WatcherRef) {
    if lazy.pointee.flags.contains(.mirrored),
      trackers.last?.toOpaque() != lazy.pointee.receiver.toOpaque()
    {
      trackers.append(lazy.pointee.receiver)
    }
    if lazy.pointee.wires.isEmpty {
      lazy.pointee.wires.append(
        engine.records.make(
          Wire(
            watcher: lazy, path: .passRetained(Tracking.counting), use: .tracking, isShort: true,
            phase: .attached, index: 0)))
    }
    let wire = lazy.pointee.wires.first!
    lastStamp &+= 1
    if lastStamp == 0 { lastStamp = 1 }
    wire.pointee.stamp = lastStamp
    wire.pointee.cursor = nil
    goOn(lazy)
  }

  /// `lazy` begins to run, or goes on.
  func goOn(_ lazy: WatcherRef) {
    guard lazy.pointee.flags.contains(.tracking), let wire = lazy.pointee.wires.first else {
      suspend()
      return
    }
    if self.wire == nil { trackedComputations.add(1, ordering: .relaxed) }
    self.wire = wire
    stamp.pointee = wire.pointee.stamp
  }

  /// No tracked computation runs from now on.
  @inline(__always)
  func suspend() {
    if wire != nil { endRun() }
  }

  /// Ends the tracking of `wire`, which ends now, if that is the running computation's.
  func suspend(_ wire: WireRef) {
    if wire == self.wire { endRun() }
  }

  private func endRun() {
    trackedComputations.subtract(1, ordering: .relaxed)
    wire = nil
    stamp.pointee = 0
  }

  /// Goes on with the computation that was suspended; nil where none runs.
  func resume(_ lazy: WatcherRef?) {
    if let lazy { goOn(lazy) } else { suspend() }
  }

  /// `lazy` is done: what it did not read again it does not depend on any longer.
  @inline(__always)
  func end(_ lazy: WatcherRef, hasFailed: Bool = false) {
    if lazy.pointee.flags.contains(.tracking) { endRun(of: lazy, hasFailed: hasFailed) }
  }

  private func endRun(of lazy: WatcherRef, hasFailed: Bool) {
    // A run that failed keeps the links of the run before: a change there may make the next run
    // succeed.
    if let wire = lazy.pointee.wires.first, wire.pointee.use == .tracking, !hasFailed {
      while let link = wire.linkAfterCursor { engine.detach(link) }
      wire.pointee.cursor = nil
    }
    suspend()
  }

  /// No computation is running any more: notifies the receivers of tracked ones that have run.
  func notifyTrackers() {
    if trackers.isEmpty { return }
    for tracker in trackers { tracker._withUnsafeGuaranteedRef { $0.settled() } }
    trackers.removeAll(keepingCapacity: true)
  }
}

extension Engine {
  /// The number of the tracked run that is at work, 0 while there is none; in memory that a bridge
  /// without Swift can read.
  package var trackingStamp: UnsafeMutablePointer<UInt32> { tracking.stamp }

  /// True while a tracked computation is running.
  package var isTracking: Bool { tracking.isOn }

  /// What of an object was read.
  package enum Reading {
    /// One key, or all of them.
    case value
    /// How many members there are.
    case count
  }

  /// The computation that is running has read the key of `slot`.
  ///
  /// - Complexity: O(1)
  package func noteRead(_ slot: SlotRef, _ reading: Reading = .value) {
    tracking.noteRead(slot, reading)
  }

  /// No tracked computation runs from now on.
  @inline(__always)
  package func suspendTracking() { tracking.suspend() }

  /// Goes on with the computation that was running before `suspendTracking`.
  @inline(__always)
  package func resumeTracking() {
    if !computations.isEmpty { tracking.resume(computations.current) }
  }
}

extension LinkRef {
  /// Whether a link of a tracked computation depends on the number of members, not on a key.
  var isOfCount: Bool { pointee.effect == .dirty && pointee.slot?.pointee.lazy == nil }
}
