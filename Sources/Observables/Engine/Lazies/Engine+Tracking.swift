public import Synchronization

/// How many tracked computations are running in the process: where none is, reads need not be told.
@usableFromInline let trackedComputations = Atomic<Int>(0)

/// Some loop of the process runs a tracked computation.
@inlinable @inline(__always)
var isAnythingTracked: Bool { trackedComputations.load(ordering: .relaxed) != 0 }

/// What a tracked computation reads is what it depends on (Z10): one link for each key, in the
/// order in which they were read. A run that reads the same again makes none.
extension Engine {
  /// A tracked computation is running.
  package var isTracking: Bool { trackingWire != nil }

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
    guard let wire = trackingWire else { return }
    if reading == .value {
      if slot.pointee.stamp == trackingStamp.pointee { return }
      slot.pointee.stamp = trackingStamp.pointee
    }
    let next = wire.pointee.cursor == nil ? wire.pointee.top : wire.pointee.cursor!.pointee.sibling
    let isCount = reading == .count
    if let next, next.pointee.slot == slot, next.isOfCount == isCount {
      wire.pointee.cursor = next
      if isCount { _ = refreshDerived(next) }
      return
    }
    let link = records.make(
      Link(
        wire: wire, step: 0, isTerminal: true, isFanned: false,
        effect: isCount ? .dirty : .certain))
    link.pointee.sibling = next
    next?.pointee.previousSibling = link
    if let cursor = wire.pointee.cursor {
      cursor.pointee.sibling = link
      link.pointee.previousSibling = cursor
    } else {
      wire.pointee.top = link
    }
    wire.pointee.cursor = link
    append(link, to: slot)
    if isCount {
      link.pointee.derived = slot.pointee.node.kind.derivedValue(
        link.component, of: slot.pointee.node)!
    } else if slot.pointee.lazy != nil {
      adapt(link, to: slot)
    }
  }

  private static let counting = Path(stringLiteral: "@count")

  /// `lazy` begins to run.
  @inline(__always)
  func beginTracking(_ lazy: WatcherRef) {
    if lazy.pointee.flags.contains(.tracking) { beginRun(of: lazy) } else { suspendTracking() }
  }

  private func beginRun(of lazy: WatcherRef) {
    if lazy.pointee.flags.contains(.mirrored),
      trackers.last?.toOpaque() != lazy.pointee.receiver.toOpaque()
    {
      trackers.append(lazy.pointee.receiver)
    }
    if lazy.pointee.wires == nil {
      lazy.append(
        records.make(
          Wire(
            watcher: lazy, path: .passRetained(Engine.counting), use: .tracking, isShort: true,
            phase: .attached, index: 0)))
    }
    let wire = lazy.pointee.wires!
    lastStamp &+= 1
    if lastStamp == 0 { lastStamp = 1 }
    wire.pointee.stamp = lastStamp
    wire.pointee.cursor = nil
    track(lazy)
  }

  /// `lazy` is running, again.
  func track(_ lazy: WatcherRef) {
    guard lazy.pointee.flags.contains(.tracking), let wire = lazy.pointee.wires else {
      suspendTracking()
      return
    }
    if trackingWire == nil { trackedComputations.add(1, ordering: .relaxed) }
    trackingWire = wire
    trackingStamp.pointee = wire.pointee.stamp
  }

  /// What runs from now on is no computation that is tracked.
  @inline(__always)
  package func suspendTracking() {
    if trackingWire != nil { endRun() }
  }

  private func endRun() {
    trackedComputations.subtract(1, ordering: .relaxed)
    trackingWire = nil
    trackingStamp.pointee = 0
  }

  /// The computation goes on that called what has run since `suspendTracking`.
  @inline(__always)
  package func resumeTracking() {
    if !computations.isEmpty { resumeRun() }
  }

  private func resumeRun() {
    guard let lazy = computations.current else {
      suspendTracking()
      return
    }
    track(lazy)
  }

  /// `lazy` is done: what it did not read again it does not depend on any longer.
  @inline(__always)
  func endTracking(_ lazy: WatcherRef, hasFailed: Bool = false) {
    if lazy.pointee.flags.contains(.tracking) { endRun(of: lazy, hasFailed: hasFailed) }
  }

  private func endRun(of lazy: WatcherRef, hasFailed: Bool) {
    // A run that an error has cut short may recover with what the one before has read.
    if let wire = lazy.pointee.wires, wire.pointee.use == .tracking, !hasFailed {
      var rest =
        wire.pointee.cursor == nil ? wire.pointee.top : wire.pointee.cursor!.pointee.sibling
      while let link = rest {
        rest = link.pointee.sibling
        detach(link)
      }
      wire.pointee.cursor = nil
    }
    suspendTracking()
  }
}

extension LinkRef {
  /// Of a tracked computation: it follows the number of members, not a key.
  var isOfCount: Bool { pointee.effect == .dirty && pointee.slot?.pointee.lazy == nil }
}
