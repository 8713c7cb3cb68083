extension ObservationCore {
  /// The engine's side of a watcher, or of a lazy property, which has links to what it depends on
  /// as a watcher has to what it watches.
  ///
  /// Raw memory: it is reached from links on the way of a write.
  @_documentation(visibility: internal)
  public struct WatcherRecord {
    /// Registration order (T3), and what tells a watcher from a later one at the same address.
    package let id: UInt64
    package var flags: Flags
    /// Whether it has to be called, or computed.
    package internal(set) var status = Status.clean
    var holdsReceiver = true
    /// The flush in which it last ran (T4).
    var lastFlush: UInt64 = 0
    /// The observed object; nil when the watcher has ended.
    package var root: NodeRef?
    /// Its paths, in the order in which they were added.
    var wires: WireRef?
    var lastWire: WireRef?
    /// Those that have stale or dirty links.
    var wiresWithWork: WireRef?
    /// Neighbours among the watchers of the same root.
    package var next: WatcherRef?
    var previous: WatcherRef?
    /// Who is called; retained until the watcher ended, and until its own call is over.
    package let receiver: Unmanaged<Receiver>
    /// The receiver's to use.
    package var context: Int
    /// Its place in the engine's table of watchers.
    package let index: Int

    @frozen package struct Flags: OptionSet, Sendable {
      package let rawValue: UInt32
      @inlinable package init(rawValue: UInt32) { self.rawValue = rawValue }

      // Those of the protocol are generic in other modules, which shows in computations.
      @inlinable package func contains(_ flags: Flags) -> Bool {
        rawValue & flags.rawValue == flags.rawValue
      }
      @inlinable package func isDisjoint(with flags: Flags) -> Bool {
        rawValue & flags.rawValue == 0
      }

      /// Some queue holds the record.
      static let queued = Flags(rawValue: 4)
      @inlinable package static var paused: Flags { Flags(rawValue: 8) }
      @inlinable package static var immediate: Flags { Flags(rawValue: 16) }
      @inlinable package static var once: Flags { Flags(rawValue: 32) }
      /// The receiver compares old and new itself (`equals`).
      @inlinable package static var comparing: Flags { Flags(rawValue: 64) }
      @inlinable package static var running: Flags { Flags(rawValue: 128) }
      /// Its root is anchored (L2).
      static let anchored = Flags(rawValue: 256)
      /// It belongs to the debugger: not counted among the observers.
      @inlinable package static var probing: Flags { Flags(rawValue: 512) }
      /// The receiver wants to be asked whether its observer is still there (L3).
      @inlinable package static var observing: Flags { Flags(rawValue: 1024) }
      /// Its links are being made, which may run code of the program.
      static let wiring = Flags(rawValue: 2048)
      /// Some path of it follows an object in a list (C4).
      static let anchoring = Flags(rawValue: 8192)
      /// The flush looks whether such an object has left; immediate watchers are asked only then.
      static let checkingDepartures = Flags(rawValue: 16384)
      /// Its own comparison is being called.
      static let comparingNow = Flags(rawValue: 32768)

      /// It is a lazy property, no watcher.
      @inlinable package static var lazy: Flags { Flags(rawValue: 1 << 16) }
      /// It finds what it depends on by what it reads.
      @inlinable package static var tracking: Flags { Flags(rawValue: 1 << 17) }
      /// It has no value of its own, and only announces changes of what it depends on.
      @inlinable package static var uncached: Flags { Flags(rawValue: 1 << 18) }
      /// Its receiver has to hear when it becomes invalid.
      @inlinable package static var mirrored: Flags { Flags(rawValue: 1 << 19) }
      /// Its links to what it depends on are made.
      static let wired = Flags(rawValue: 1 << 23)
      /// It had a value once, which a new one is compared with.
      @inlinable package static var known: Flags { Flags(rawValue: 1 << 24) }
      /// It is invalid, and something that depends on it does not know.
      static let unnotified = Flags(rawValue: 1 << 20)
      /// A program has just assigned its value, and what depends on it is being notified.
      static let notifying = Flags(rawValue: 1 << 21)
    }

    /// Has to hear of each write.
    var isEager: Bool { !flags.isDisjoint(with: [.immediate, .comparing]) }
    package var isActive: Bool { root != nil }
    /// Not counted among the observers (W1).
    var isUncounted: Bool { !flags.isDisjoint(with: [.probing, .lazy]) }
  }
}

extension ObservationCore {
  /// A watcher's record, wherever the engine keeps it.
  @_documentation(visibility: internal)
  public typealias WatcherRef = UnsafeMutablePointer<WatcherRecord>
}

extension WatcherRef {
  /// Its own call, or computation, is under way.
  var isInOwnCall: Bool {
    pointee.flags.contains(.running) || pointee.flags.contains(.lazy) && isComputing
  }

  /// A queue or a call that is under way holds the record.
  var isInUse: Bool {
    pointee.flags.contains(.queued) || isInOwnCall
      || pointee.flags.contains(.lazy) && lazyState.pointee.listings > 0
  }
}

extension ObservationCore {
  /// A write of one key, while it is under way.
  ///
  /// Old and new value are the writer's; what they are is known to its kind.
  @_documentation(visibility: internal)
  public struct Change {
    package let node: NodeRef
    /// The slot of the key that was written; nil where only `*` is observed.
    package let slot: SlotRef?
    package let every: SlotRef?
    /// T5: nothing changed.
    package let isSame: Bool
    /// Where the values are; nil for a change without values.
    package let values: UnsafeRawPointer?
    package init(
      node: NodeRef, slot: SlotRef?, every: SlotRef?, isSame: Bool, values: UnsafeRawPointer?
    ) {
      (self.node, self.slot, self.every) = (node, slot, every)
      (self.isSame, self.values) = (isSame, values)
    }

    /// A change that has no values.
    init(at slot: SlotRef, isSame: Bool) {
      let node = slot.pointee.node
      self.init(
        node: node, slot: slot, every: node.pointee.every, isSame: isSame, values: nil)
    }
  }
}

extension ObservationCore {
  /// Who a watcher calls: a Swift closure, or a function of a Lua state.
  ///
  /// Public only as the base class of `Watcher`. Called on the loop's thread, never re-entered for
  /// one watcher.
  @_documentation(visibility: internal)
  open class Receiver {
    /// For subclasses.
    public init() {}

    /// Calls the callback of a coalesced watcher.
    ///
    /// Errors are the receiver's to report (T10).
    open func deliver(_ watcher: WatcherRef) {}
    /// Calls the callback of an immediate watcher; `path` is the one that the change lies on.
    open func deliver(_ watcher: WatcherRef, _ change: ImmediateChange, path: Path) {}
    /// The receiver's own comparison: the change that the watcher is given, nil when it is none to
    /// it.
    open func accept(_ change: ImmediateChange, for watcher: WatcherRef) -> ImmediateChange? {
      change.isSame ? nil : change
    }
    /// The receiver's own comparison of values that are computed of collections: plain ones.
    open func isEqual(_ old: Operand, _ new: Operand, for watcher: WatcherRef) -> Bool { false }
    /// What `change` holds, in a form that outlives the write and all that it concerns.
    open func save(_ change: Change) -> AnyObject? { nil }
    /// The place in the program that is writing now becomes the cause of the watcher's next call.
    open func noteCause(of watcher: WatcherRef) {}
    /// False when the observer of the watcher is gone (L3).
    open func isObserverAlive(_ watcher: WatcherRef) -> Bool { true }
    /// The watcher ended.
    ///
    /// `path` is given when the observed object died.
    open func ended(_ watcher: WatcherRef, observedDied path: Path?) {}
    /// How reports name it, with the place of its registration.
    open func title(_ watcher: WatcherRef) -> String { "a watcher" }
    /// How tools name it: by its name alone, and "file:line" of its registration, or of the getter
    /// of a lazy property, where that is known.
    open func label(_ watcher: WatcherRef) -> (name: String, site: String?) {
      (title(watcher), nil)
    }

    /// An object came to lie on a path of the watcher that declares its names, and the one that the
    /// path asks for is none of them, but like one (P9).
    open func reportUnknown(_ error: PathError, of watcher: WatcherRef, in engine: Engine) {
      engine.report(.unknownName(watcher: title(watcher), message: error.description))
    }

    // MARK: Lazy properties

    /// How errors name a lazy property among those of other objects; `title` is what its object is
    /// called.
    open func fullName(of lazy: WatcherRef, _ name: String, title: String) -> String {
      "\(title).\(name)"
    }
    /// Computes a lazy property and keeps its value; `isNested`: another computation is under way.
    ///
    /// Where none is, it may go on with what `Engine.next(after:_:)` gives.
    open func compute(_ lazy: WatcherRef, isNested: Bool) -> Computation { .failed }
    /// The property that `lazy` waits for was brought up to date, or failed; `error` is why it
    /// cannot be computed at all.
    open func resume(
      _ lazy: WatcherRef, after other: WatcherRef, _ error: (any Error)?
    ) -> Computation { .failed }
    /// Makes the links of a lazy property to what it depends on (`Engine.add`).
    open func wire(_ lazy: WatcherRef, in engine: Engine) throws {}
    /// What a lazy property declares that it depends on.
    open func dependencies(of lazy: WatcherRef) -> [DeclaredDependency] { [] }
    /// A computation of `lazy` cannot begin, or what it gave is not kept: for this reason.
    open func fail(_ lazy: WatcherRef, _ error: any Error) {}
    /// Its computation failed, and no code has read it: reports why (Z8).
    open func reportFailure(of lazy: WatcherRef) {}
    /// A property that is mirrored is invalid from now on; its value may turn out to be right.
    open func invalidated(_ lazy: WatcherRef) {}
    /// The value that was delivered before the last one is of no use any more.
    open func forgetBase(of lazy: WatcherRef) {}
    /// No computation is running any more; some of those that were are tracked and this one's.
    open func settled() {}
    /// The value that a lazy property has, or had last; `isBase`: the one that was delivered last,
    /// which it keeps.
    open func value(of lazy: WatcherRef, isBase: Bool) -> AnyObject? { nil }
    /// Whether such a value is the one that the lazy property has now (T5).
    open func has(_ value: AnyObject, as lazy: WatcherRef) -> Bool { false }
    /// The change of a lazy property from such a value, as an immediate watcher is given it.
    open func change(of lazy: WatcherRef, from old: AnyObject?) -> AnyObject? { nil }
  }
}

extension ObservationCore {
  /// A path that a lazy property declares.
  @_documentation(visibility: internal)
  public struct DeclaredDependency {
    package let path: Path
    /// Where it is rooted, if that is another object, and one that is observed.
    package let root: NodeRef?
    /// It is rooted at another object.
    package let isForeign: Bool

    package init(path: Path, root: NodeRef? = nil, isForeign: Bool = false) {
      (self.path, self.root, self.isForeign) = (path, root, isForeign)
    }
  }
}

extension ObservationCore {
  /// What came of computing a lazy property.
  @_documentation(visibility: internal)
  public enum Computation {
    /// The value that it had.
    case same
    /// Another value.
    case changed
    /// The value that was delivered last, after others in between.
    case restored
    /// An error, which the receiver keeps for who reads it.
    case failed
    /// The computation is interrupted until the lazy property of this slot is up to date.
    case waiting(SlotRef)
    /// The engine has the result already (`Engine.next(after:_:)`), and those of other properties.
    case finished
  }
}
