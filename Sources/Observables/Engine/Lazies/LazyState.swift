/// The additional state of a lazy property, which follows its `WatcherRecord` in the same memory
/// block.
struct LazyState {
  /// The slot of its key; nil if the key is no longer lazy.
  var slot: SlotRef?
  /// The version of its value; it changes with each value that differs from the last.
  var version = 0
  /// The version of the first computed value; 0 if there was none, or if a value was assigned
  /// before.
  var firstVersion = 0
  /// The version of the last delivered value, while that value is kept.
  var baseVersion = 0
  /// The number of what dependent properties get: a new one for each different value, for a failure
  /// and for the value after it.
  var seen = 0
  /// The number of the operation in which its last computation failed; 0 if it has a value since.
  var operation: UInt64 = 0
  /// How often it is on the list of properties that are being brought up to date.
  var listings: Int32 = 0
  var phase = Phase.idle
  var flaw = Flaw.none
  var base = Base.none
  /// Whether a program has assigned the value, and nothing has been computed since.
  var isAssigned = false
  /// Whether there ever was a value, with which a new one is compared.
  var isKnown = false
  /// Whether the links to its declared dependencies are made.
  var isWired = false
  /// Whether it is invalid, and some of its dependents were not notified of that.
  var isUnnotified = false
  /// Whether its dependents are being notified of a value: one that a program has just assigned, or
  /// one after a failure.
  var isNotifying = false

  /// The current step in bringing it up to date.
  enum Phase: UInt8 {
    case idle
    /// It waits for its dependencies, which are above it on the list.
    case awaiting
    /// Its getter is running.
    case running
    /// Its getter waits for another property, which it reads.
    case suspended
  }

  /// Why the result of its getter is not a valid value.
  enum Flaw: UInt8 {
    case none
    /// The getter met an error that it could not rethrow.
    case error
    /// A dependency of the property was written by the getter, or while the getter ran.
    case disturbance
  }

  /// Whether the receiver keeps the last delivered value.
  enum Base: UInt8 {
    case none
    case kept
    /// The kept value was delivered before the last flush. Some watchers received a newer one then;
    /// others, such as paused ones, still compare with the kept one.
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

  /// The slot of its key; nil if the key is no longer lazy.
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

  /// The number that stands for its state at a link of `watcher`.
  ///
  /// Watchers compare with the value that was delivered last, and a failure is not delivered (Z8).
  /// A dependent property may have used the failure: to it, a failure is a value of its own.
  @inline(__always)
  func version(for watcher: WatcherRef) -> Int {
    watcher.pointee.traits.contains(.lazy) ? lazyState.pointee.seen : version
  }

  /// Whether a lazy property ever had a value, with which a new one is compared.
  package var isKnown: Bool {
    get { lazyState.pointee.isKnown }
    nonmutating set { lazyState.pointee.isKnown = newValue }
  }

  /// Whether it has the links to its dependencies.
  @inline(__always)
  var isWired: Bool { lazyState.pointee.isWired || pointee.traits.contains(.tracking) }

  @inline(__always)
  var phase: LazyState.Phase {
    get { lazyState.pointee.phase }
    nonmutating set { lazyState.pointee.phase = newValue }
  }

  /// True while the getter is running, or waiting for a property that it reads.
  @inline(__always)
  package var isComputing: Bool { phase == .running || phase == .suspended }

  /// True while the property is being computed, or waits for its dependencies.
  @inline(__always)
  var isUnderWay: Bool { phase != .idle }

  /// True while the property waits until all its declared dependencies are up to date.
  var isWaiting: Bool {
    phase == .awaiting && pointee.isStale && !pointee.traits.contains(.tracking)
  }

  /// Whether the property has to be brought up to date before its value is used.
  ///
  /// False if the object is gone: its properties are not computed.
  @inline(__always)
  var isOutdated: Bool {
    guard pointee.isPending, let root = pointee.root else { return false }
    return !root.isDead
  }

  /// Whether the result of its running getter is not a valid value.
  var isFlawed: Bool { lazyState.pointee.flaw != .none }

  /// Whether the receiver keeps the last delivered value.
  package var hasBase: Bool { lazyState.pointee.base != .none }
}
