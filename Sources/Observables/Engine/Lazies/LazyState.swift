/// What the engine remembers of a lazy property besides its `WatcherRecord`, behind which it lies
/// in memory: one block for all of it.
struct LazyState {
  /// The slot of its own key; nil where it is not lazy any more.
  var slot: SlotRef?
  /// The version of its value; another one for each value that differs from the last.
  var version = 0
  /// The version of the value that was computed first; 0 where none was, or one was assigned
  /// before.
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
  /// Whether a program has assigned the value, and nothing has been computed since.
  var isAssigned = false
  /// Whether there was a value once, with which a new one is compared.
  var isKnown = false
  /// Whether the links to what it declares that it depends on are made.
  var isWired = false
  /// Whether it is invalid, and some of its dependents were not notified of that.
  var isUnnotified = false
  /// Whether a program has just assigned its value, and what depends on it is being notified.
  var isNotifying = false

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

  /// Why the result of its getter is no value.
  enum Flaw: UInt8 {
    case none
    /// The getter met an error that it could not throw on.
    case error
    /// Something that the property depends on was written by the getter, or while it ran.
    case disturbance
  }

  /// Whether the receiver keeps the value that was delivered last.
  enum Base: UInt8 {
    case none
    case kept
    /// The kept value was delivered before the last flush. Some watchers got a newer one then;
    /// others, such as paused ones, still compare with it.
    case lagging
  }
}

/// The record of a lazy property.
struct LazyRecord {
  var watcher: ObservationCore.WatcherRecord
  var state: LazyState
}

extension WatcherRef {
  /// The state that only lazy properties have.
  @inline(__always)
  var lazyState: UnsafeMutablePointer<LazyState> {
    assert(pointee.traits.contains(.lazy), "a watcher has no value (this is a bug in Observables)")
    return UnsafeMutableRawPointer(self).advanced(by: MemoryLayout<LazyRecord>.offset(of: \.state)!)
      .assumingMemoryBound(to: LazyState.self)
  }

  /// The slot of its key; nil where it is not lazy any more.
  @inline(__always)
  package internal(set) var slot: SlotRef? {
    get { lazyState.pointee.slot }
    nonmutating set { lazyState.pointee.slot = newValue }
  }

  /// Whether a program has assigned the value of a lazy property, and nothing has been computed
  /// since.
  package var isAssigned: Bool { lazyState.pointee.isAssigned }

  /// The version of the value of a lazy property.
  @inline(__always)
  var version: Int {
    get { lazyState.pointee.version }
    nonmutating set { lazyState.pointee.version = newValue }
  }

  /// Whether a lazy property had a value once, with which a new one is compared.
  package var isKnown: Bool {
    get { lazyState.pointee.isKnown }
    nonmutating set { lazyState.pointee.isKnown = newValue }
  }

  /// Whether it has its links to what it depends on.
  @inline(__always)
  var isWired: Bool { lazyState.pointee.isWired || pointee.traits.contains(.tracking) }

  @inline(__always)
  var phase: LazyState.Phase {
    get { lazyState.pointee.phase }
    nonmutating set { lazyState.pointee.phase = newValue }
  }

  /// True while the getter is running, or waits for what it reads.
  @inline(__always)
  package var isComputing: Bool { phase == .running || phase == .suspended }

  /// True while the property is being computed, or waits for what it depends on.
  @inline(__always)
  var isUnderWay: Bool { phase != .idle }

  /// True while the property waits until all its declared dependencies are up to date.
  var isWaiting: Bool {
    phase == .awaiting && pointee.isStale && !pointee.traits.contains(.tracking)
  }

  /// Whether the property has to be brought up to date before its value is used.
  ///
  /// False for an object that is gone: nothing of it is computed.
  @inline(__always)
  var isOutdated: Bool {
    guard pointee.isPending, let root = pointee.root else { return false }
    return !root.isDead
  }

  /// Whether the result of its running getter is no value.
  var isFlawed: Bool { lazyState.pointee.flaw != .none }

  /// Whether the receiver keeps the value that was delivered last.
  package var hasBase: Bool { lazyState.pointee.base != .none }
}
