public import Synchronization

/// How many tracked computations are running in the process: while there are none, reads need not
/// be noted.
@usableFromInline let trackedComputations = Atomic<Int>(0)

/// Whether any loop of the process runs a tracked computation.
@inlinable @inline(__always)
var isAnythingTracked: Bool { trackedComputations.load(ordering: .relaxed) != 0 }

/// Tracks dependencies: a tracked computation depends on the keys that it reads (Z10).
///
/// There is one link for each key, in the order of the reads. A run that reads the same keys again
/// makes no links.
package struct Tracking: Room {
  package let rooms: Rooms

  struct State {
    /// The number of the tracked run under way, or 0; in memory that C can read.
    fileprivate let stamp: UnsafeMutablePointer<UInt32>
    /// The wire with the reads of the running computation.
    fileprivate var wire: WireRef?
    /// The receivers of tracked computations that have run since the outermost one began.
    fileprivate var trackers: [Unmanaged<Receiver>] = []
    fileprivate var lastStamp: UInt32 = 0

    init() {
      stamp = .allocate(capacity: 1)
      stamp.initialize(to: 0)
    }
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.tracking) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.tracking)
    }
  }

  /// The part of an object that was read.
  package enum Reading {
    /// One key, or all of them.
    case value
    /// The number of members.
    case count
  }

  /// True while a tracked computation is running.
  @inline(__always) package var isOn: Bool { state.wire != nil }

  /// Notes that the running computation has read the key of `slot`.
  ///
  /// - Complexity: O(1)
  package func noteRead(_ slot: SlotRef, _ reading: Reading = .value) {
    guard let wire = state.wire else { return }
    if reading == .value {
      if slot.pointee.stamp == state.stamp.pointee { return }
      slot.pointee.stamp = state.stamp.pointee
    }
    let next = wire.linkAfterCursor
    let isCount = reading == .count
    if let next, next.pointee.slot == slot, next.isOfCount == isCount {
      wire.pointee.cursor = next
      if isCount { _ = members.refreshDerived(next) }
      return
    }
    let link = records.make(
      Link(
        wire: wire, step: 0, isTerminal: true, isFanned: false,
        effect: isCount ? .dirty : .notify))
    wire.insertAfterCursor(link)
    wiring.append(link, to: slot)
    if isCount {
      link.pointee.size = slot.pointee.node.kind.derivedValue(
        link.component, of: slot.pointee.node)!
    } else if slot.pointee.lazy != nil {
      lazies.adapt(link, to: slot)
    }
  }

  private static let counting = Path(stringLiteral: "@count")

  /// Notes that `lazy` begins to run.
  @inline(__always)
  func begin(_ lazy: WatcherRef) {
    if lazy.pointee.traits.contains(.tracking) { beginRun(of: lazy) } else { suspend() }
  }

  private func beginRun(of lazy: WatcherRef) {
    if lazy.pointee.traits.contains(.mirrored),
      state.trackers.last?.toOpaque() != lazy.pointee.receiver.toOpaque()
    {
      state.trackers.append(lazy.pointee.receiver)
    }
    if lazy.pointee.wires.isEmpty {
      lazy.pointee.wires.append(
        records.make(
          Wire(
            watcher: lazy, path: .passRetained(Tracking.counting), use: .tracking, isShort: true,
            phase: .attached, index: 0)))
    }
    let wire = lazy.pointee.wires.first!
    state.lastStamp &+= 1
    if state.lastStamp == 0 { state.lastStamp = 1 }
    wire.pointee.stamp = state.lastStamp
    wire.pointee.cursor = nil
    goOn(lazy)
  }

  /// Notes that `lazy` begins to run, or continues.
  func goOn(_ lazy: WatcherRef) {
    guard lazy.pointee.traits.contains(.tracking), let wire = lazy.pointee.wires.first else {
      suspend()
      return
    }
    if state.wire == nil { trackedComputations.add(1, ordering: .relaxed) }
    state.wire = wire
    state.stamp.pointee = wire.pointee.stamp
  }

  /// Suspends tracking, until `resume`.
  @inline(__always)
  package func suspend() {
    if state.wire != nil { endRun() }
  }

  /// Ends the tracking of `wire`, which is about to end, if it belongs to the running computation.
  func suspend(_ wire: WireRef) {
    if wire == state.wire { endRun() }
  }

  private func endRun() {
    trackedComputations.subtract(1, ordering: .relaxed)
    state.wire = nil
    state.stamp.pointee = 0
  }

  /// Resumes tracking for the computation that was running before `suspend`.
  @inline(__always)
  package func resume() {
    if computing.isUnderWay { goOnWithCurrent() }
  }

  private func goOnWithCurrent() {
    if let lazy = computing.current { goOn(lazy) } else { suspend() }
  }

  /// Ends a run of `lazy`; keys that it did not read again are no longer dependencies.
  @inline(__always)
  func end(_ lazy: WatcherRef, hasFailed: Bool = false) {
    if lazy.pointee.traits.contains(.tracking) { endRun(of: lazy, hasFailed: hasFailed) }
  }

  private func endRun(of lazy: WatcherRef, hasFailed: Bool) {
    // A failed run keeps the links of the former run: a change of those keys may make the next run
    // succeed.
    if let wire = lazy.pointee.wires.first, wire.pointee.use == .tracking, !hasFailed {
      while let link = wire.linkAfterCursor { wiring.detach(link) }
      wire.pointee.cursor = nil
    }
    suspend()
  }

  /// Notifies the receivers of tracked computations that have run, when none is running any more.
  func notifyTrackers() {
    if state.trackers.isEmpty { return }
    for tracker in state.trackers { tracker._withUnsafeGuaranteedRef { $0.settled() } }
    state.trackers.removeAll(keepingCapacity: true)
  }

  // MARK: For the bridge

  /// The number of the tracked run under way, or 0; in memory that C can read.
  package var stamp: UnsafeMutablePointer<UInt32> { state.stamp }

  func free() { state.stamp.deallocate() }
}

extension LinkRef {
  /// Whether a link of a tracked computation depends on the number of members, not on a key.
  var isOfCount: Bool { pointee.effect == .dirty && pointee.slot?.pointee.lazy == nil }
}
