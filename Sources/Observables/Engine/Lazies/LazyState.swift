/// What the engine remembers of a lazy property, besides what it has in common with watchers: a
/// `WatcherRecord`, behind which this lies.
struct LazyState {
  /// The slot of its own key; nil where it is lazy no more.
  var slot: SlotRef?
  /// Which of its values it has; grows with each that differs from the last.
  var version = 0
  /// The version that it had when it was computed for the first time; 0 where it was not, or was
  /// assigned before.
  var firstVersion = 0
  /// The version of the value that was delivered last, while that is kept.
  var baseVersion = 0
  /// The operation in which it has failed.
  var operation: UInt64 = 0
  /// How often it is on the list of those that are being brought up to date.
  var listings: Int32 = 0
  var phase = Phase.idle
  var flaw = Flaw.none
  var base = Base.none

  /// What is being done to bring it up to date.
  enum Phase: UInt8 {
    case idle
    /// It waits for what it depends on, which is above it on the list.
    case awaiting
    /// Its getter is running.
    case running
    /// Its getter waits for another property, which it reads.
    case suspended
  }

  /// Why what its getter gives is no value.
  enum Flaw: UInt8 {
    case none
    /// It met an error that it could not throw on.
    case error
    /// Something that it depends on was written by it, or while it ran.
    case disturbance
  }

  /// Whether its receiver keeps the value that was delivered last.
  enum Base: UInt8 {
    case none
    case kept
    /// That is from before the last flush: some watcher has not heard of a newer one.
    case lagging
  }
}

/// The record of a lazy property.
struct LazyRecord {
  var watcher: ObservationCore.WatcherRecord
  var state: LazyState
}

extension WatcherRef {
  /// Of a lazy property: what watchers don't have.
  @inline(__always)
  var lazyState: UnsafeMutablePointer<LazyState> {
    assert(pointee.flags.contains(.lazy), "a watcher has no value (this is a bug in Observables)")
    return UnsafeMutableRawPointer(self).advanced(by: MemoryLayout<LazyRecord>.offset(of: \.state)!)
      .assumingMemoryBound(to: LazyState.self)
  }

  /// The slot of its key; nil where it is lazy no more.
  @inline(__always)
  package internal(set) var slot: SlotRef? {
    get { lazyState.pointee.slot }
    nonmutating set { lazyState.pointee.slot = newValue }
  }

  /// Which of its values it has.
  @inline(__always)
  var version: Int {
    get { lazyState.pointee.version }
    nonmutating set { lazyState.pointee.version = newValue }
  }

  @inline(__always)
  var phase: LazyState.Phase {
    get { lazyState.pointee.phase }
    nonmutating set { lazyState.pointee.phase = newValue }
  }

  /// Its getter is running, or waits for what it reads.
  @inline(__always)
  var isComputing: Bool { phase == .running || phase == .suspended }

  /// It is being computed, or waits for what it depends on.
  @inline(__always)
  var isUnderWay: Bool { phase != .idle }

  /// It is to be computed when all that it declares is up to date.
  var isWaiting: Bool {
    phase == .awaiting && pointee.isStale && !pointee.flags.contains(.tracking)
  }

  /// Its value has to be looked at before it is used.
  ///
  /// Of an object that is gone nothing is computed.
  @inline(__always)
  var isOutdated: Bool {
    guard pointee.isPending, let root = pointee.root else { return false }
    return !root.isDead
  }

  /// What its getter has given so far is no value.
  package var isFlawed: Bool { lazyState.pointee.flaw != .none }

  /// Its receiver keeps the value that was delivered last.
  package var hasBase: Bool { lazyState.pointee.base != .none }
}
