extension ObservationCore {
  /// The engine's side of a watcher or of a lazy property.
  ///
  /// A lazy property has links to its dependencies, as a watcher has to the values it watches. The
  /// record is raw memory. It has everything about a watcher, as each write reaches it through
  /// links.
  @_documentation(visibility: internal)
  public struct WatcherRecord {
    /// The number of the registration, which determines the order of calls (T3) and distinguishes a
    /// watcher from a later one at the same address.
    package let id: UInt64
    package let traits: Traits
    var flags: Flags = []
    /// Whether the watcher has to be called, or the lazy property computed.
    package internal(set) var status = Status.clean
    var holdsReceiver = true
    /// The flush in which it last ran (T4).
    var lastFlush: UInt64 = 0
    /// The observed object; nil when the watcher has ended.
    package var root: NodeRef?
    /// Its paths, in the order in which they were added.
    var wires = RecordList<Wire>()
    /// The first of its paths that have stale or dirty links.
    var wiresWithWork: WireRef?
    /// Neighbours among the watchers of the same root.
    var next = Neighbour<WatcherRecord>()
    var previous = Neighbour<WatcherRecord>()
    /// The receiver that is called; retained until the watcher has ended and its own call is over.
    package let receiver: Unmanaged<Receiver>
    /// A value that only the receiver uses.
    package var context: Int
    /// Its place in the engine's table of watchers.
    package let index: Int
    /// The payer for its links, as its receiver returned it at registration.
    package let payer: UnsafeMutableRawPointer?

    /// The options with which a record was registered.
    @frozen package struct Traits: OptionSet, Sendable {
      package let rawValue: UInt16
      @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }

      // The methods of `OptionSet` are generic in other modules, which slows computations down.
      @inlinable package func contains(_ traits: Traits) -> Bool {
        rawValue & traits.rawValue == traits.rawValue
      }
      @inlinable package func isDisjoint(with traits: Traits) -> Bool {
        rawValue & traits.rawValue == 0
      }
      @inlinable package func union(_ traits: Traits) -> Traits {
        Traits(rawValue: rawValue | traits.rawValue)
      }

      /// It is called in each write, not once per turn (T9).
      @inlinable package static var immediate: Traits { Traits(rawValue: 1) }
      @inlinable package static var once: Traits { Traits(rawValue: 2) }
      /// The receiver compares old and new itself (`equals`).
      @inlinable package static var comparing: Traits { Traits(rawValue: 4) }
      /// It has an observer: the receiver is asked whether the observer is still alive (L3).
      @inlinable package static var observing: Traits { Traits(rawValue: 8) }
      /// It belongs to the debugger, and is not counted among the observers.
      @inlinable package static var probing: Traits { Traits(rawValue: 16) }
      /// Its links mark the objects that a transaction covers; it is never called.
      ///
      /// For each object, the first write after its slot was armed is reported, and each later
      /// write that may move objects.
      package static let covering = Traits(rawValue: 32)
      /// An immediate watcher that is always called in the write, even in a batch, and before
      /// others: their writes come later.
      @inlinable package static var atOnce: Traits { Traits(rawValue: 128) }
      /// Its receiver pays for its links: see `Receiver.chargesLinks`.
      static let charged = Traits(rawValue: 256)

      /// The record belongs to a lazy property, not to a watcher.
      @inlinable package static var lazy: Traits { Traits(rawValue: 512) }
      /// The property depends on what its getter reads.
      @inlinable package static var tracking: Traits { Traits(rawValue: 1024) }
      /// The property stores no value, and only reports changes of its dependencies.
      @inlinable package static var uncached: Traits { Traits(rawValue: 2048) }
      /// The receiver is notified when the property becomes invalid.
      @inlinable package static var mirrored: Traits { Traits(rawValue: 4096) }

      /// It collects changes: it is called after other watchers, so it receives their writes, too.
      package static let collecting = Traits(rawValue: 1 << 13)
      /// It keeps a history: it is called after watchers that collect changes.
      package static let recording = Traits(rawValue: 1 << 14)
    }

    /// The current condition of a record.
    struct Flags: OptionSet {
      let rawValue: UInt16

      /// Some queue holds the record.
      static let queued = Flags(rawValue: 1)
      static let paused = Flags(rawValue: 2)
      static let running = Flags(rawValue: 4)
      /// Its own comparison is being called.
      static let comparingNow = Flags(rawValue: 8)
      /// It keeps its observed object alive (L2).
      static let anchored = Flags(rawValue: 16)
      /// Its links are being made, which may run code of the program.
      static let wiring = Flags(rawValue: 32)
      /// Some path of it follows an object in a list (C4).
      static let anchoring = Flags(rawValue: 64)
      /// The flush has to find out whether an object has left its list, even for an immediate
      /// watcher.
      static let checkingDepartures = Flags(rawValue: 128)
      /// Objects came below `**` of one of its paths, or left: see `Members.takeMoves`.
      static let moved = Flags(rawValue: 256)
      /// It is stale only for writes that an open transaction may take back.
      static let tentative = Flags(rawValue: 512)
      /// The writes that made it pending were taken back: the next write that makes it pending is
      /// the cause.
      static let undone = Flags(rawValue: 1024)
      /// Its links could not be brought up to date in this turn, and are made anew in the next one.
      static let startingOver = Flags(rawValue: 2048)
    }

    /// Its place in a flush: by registration, but collecting and recording watchers are last (T3).
    @inline(__always) var order: UInt64 {
      UInt64(traits.rawValue & (Traits.collecting.rawValue | Traits.recording.rawValue)) << 49 | id
    }
    /// Whether the watcher is notified in a write, not in the flush.
    var isEager: Bool { !traits.isDisjoint(with: [.immediate, .comparing]) }
    package var isActive: Bool { root != nil }
    package var isPaused: Bool { flags.contains(.paused) }
    /// Whether the record is not counted among the observers (W1).
    var isUncounted: Bool { !traits.isDisjoint(with: [.probing, .lazy]) }
  }
}

extension ObservationCore {
  /// A pointer to the record of a watcher.
  @_documentation(visibility: internal)
  public typealias WatcherRef = UnsafeMutablePointer<WatcherRecord>
}

extension WatcherRef {
  /// Whether its own call, or computation, is under way.
  var isInOwnCall: Bool {
    pointee.flags.contains(.running) || pointee.traits.contains(.lazy) && isComputing
  }

  /// Whether it has an observer that is gone (L3).
  @inline(__always)
  var hasLostObserver: Bool {
    pointee.traits.contains(.observing)
      && !pointee.receiver._withUnsafeGuaranteedRef { $0.isObserverAlive(self) }
  }

  /// Whether a queue, or a call that is under way, holds the record.
  var isInUse: Bool {
    pointee.flags.contains(.queued) || isInOwnCall
      || pointee.traits.contains(.lazy) && lazyState.pointee.listings > 0
  }
}

extension ObservationCore {
  /// A write of one key, while it is under way.
  ///
  /// The writer owns the old and the new value; only the kind of the node can read them.
  @_documentation(visibility: internal)
  public struct Change {
    package let node: NodeRef
    /// The slot of the key that was written; nil if only `*` is observed.
    package let slot: SlotRef?
    package let every: SlotRef?
    /// Whether the write changed nothing (T5).
    package let isSame: Bool
    /// The address of the values; nil for a change without values.
    package let values: UnsafeRawPointer?
    package init(
      node: NodeRef, slot: SlotRef?, every: SlotRef?, isSame: Bool, values: UnsafeRawPointer?
    ) {
      (self.node, self.slot, self.every) = (node, slot, every)
      (self.isSame, self.values) = (isSame, values)
    }

    /// Makes a change that has no values.
    init(at slot: SlotRef, isSame: Bool) {
      let node = slot.pointee.node
      self.init(
        node: node, slot: slot, every: node.pointee.every, isSame: isSame, values: nil)
    }
  }
}

extension ObservationCore {
  /// The receiver of a watcher's calls: a Swift closure, or a function of a Lua state.
  ///
  /// Public only as the base class of `Watcher`. Called on the loop's thread, never re-entered for
  /// one watcher.
  @_documentation(visibility: internal)
  open class Receiver {
    /// Makes the base part of a receiver; only subclasses call it.
    public init() {}

    // MARK: Limits

    /// Whether new records of watchers and lazy properties are charged to the receiver, which may
    /// refuse more.
    @exclusivity(unchecked) package final var chargesLinks = false
    /// The payer for a watcher that is registered now; nil if there is only one payer.
    open var payer: UnsafeMutableRawPointer? { nil }
    /// Charges additional bytes for the links of a watcher and their knowledge of collections.
    open func charge(_ bytes: Int, to payer: UnsafeMutableRawPointer?) {}
    /// Checks whether further links are allowed.
    ///
    /// - Throws: the receiver's error if they are not.
    open func checkLimits() throws {}
    /// Checks whether time is left for work on existing links.
    ///
    /// - Throws: the receiver's error if there is none.
    open func checkTime() throws {}
    /// Runs the work on a watcher's links in a flush, on the account of its program.
    open func prepare(_ watcher: WatcherRef, _ body: () -> Void) { body() }
    /// Whether the links of a watcher may be made anew in the next turn, because `error` kept them
    /// from being brought up to date in this one.
    open func mayStartOver(after error: any Error) -> Bool { false }
    /// Reports that some links of a watcher could not be made; the watcher ends.
    open func reportExhausted(_ error: any Error, _ watcher: WatcherRef) {}

    // MARK: Calls

    /// Calls the callback of a coalesced watcher.
    ///
    /// The receiver reports the errors of the callback (T10).
    open func deliver(_ watcher: WatcherRef) {}
    /// Calls the callback of an immediate watcher; `path` is the changed path.
    open func deliver(_ watcher: WatcherRef, _ change: ImmediateChange, path: Path) {}
    /// Calls the callback of an immediate watcher whose call has waited for the flush.
    open func deliverInFlush(_ watcher: WatcherRef, _ change: ImmediateChange, path: Path) {
      deliver(watcher, change, path: path)
    }
    /// Whether an immediate watcher, or one with its own comparison, is called in the flush instead
    /// of in the write under way; asked of charged watchers.
    open func waitsForFlush(_ watcher: WatcherRef) -> Bool { false }
    /// Whether a watcher is called in the next turn instead of in the flush under way; asked of
    /// charged watchers.
    open func waitsForNextTurn(_ watcher: WatcherRef) -> Bool { false }
    /// Applies the receiver's own comparison: returns the change to deliver, or nil if the watcher
    /// regards it as no change.
    open func accept(_ change: ImmediateChange, for watcher: WatcherRef) -> ImmediateChange? {
      change.isSame ? nil : change
    }
    /// Applies the receiver's own comparison to plain values that are computed from collections.
    open func isEqual(_ old: Operand, _ new: Operand, for watcher: WatcherRef) -> Bool { false }
    /// The values of `change`, in a form that outlives the write and its objects.
    open func save(_ change: Change) -> AnyObject? { nil }
    /// Moves the values of a saved change to the observed object of a paused watcher: values that
    /// refer to the object must not keep it alive during the pause (L6).
    ///
    /// Returns a token for `takeKept`. A watcher has at most two, one of them with `isDerived`.
    open func keep(_ saved: AnyObject, whilePaused watcher: WatcherRef, isDerived: Bool)
      -> AnyObject
    { saved }
    /// The saved change that `keep` has moved, when the watcher is resumed or has ended.
    open func takeKept(_ saved: AnyObject, of watcher: WatcherRef) -> AnyObject? { saved }
    /// Makes the place in the program that is writing now the cause of the watcher's next call.
    open func noteCause(of watcher: WatcherRef) {}
    /// Called for the first write since `takeWritten` to an object that a history follows; the
    /// replaced value is still alive.
    func wasWritten(_ node: NodeRef) {}
    /// Whether the observer of the watcher is still there (L3).
    open func isObserverAlive(_ watcher: WatcherRef) -> Bool { true }
    /// Called when the watcher ended.
    ///
    /// `path` is given if the observed object died.
    open func ended(_ watcher: WatcherRef, observedDied path: Path?) {}
    /// The name of the watcher in reports, with the place of its registration.
    open func title(_ watcher: WatcherRef) -> String { "a watcher" }
    /// The name of the watcher in tools: its plain name and, if known, "file:line" of its
    /// registration or of the getter of a lazy property.
    open func label(_ watcher: WatcherRef) -> (name: String, site: String?) {
      (title(watcher), nil)
    }

    /// Whether the program registered the watcher; false for watchers of tools and of the prelude.
    open func isPartOfProgram(_ watcher: WatcherRef) -> Bool { true }
    /// Adds the value of a lazy property to a recording.
    open func recordValue(of lazy: WatcherRef, in lines: inout RunLines) { lines.addUnknown() }

    /// Reports that an object that declares its names has appeared on a path of the watcher, and
    /// that the name in the path is none of them, but similar to one (P9).
    open func reportUnknown(_ error: PathError, of watcher: WatcherRef, in engine: Engine) {
      engine.report(.unknownName(watcher: title(watcher), message: error.description))
    }

    // MARK: Lazy properties

    /// The full name of a lazy property in errors; `title` is the name of its object.
    open func fullName(of lazy: WatcherRef, _ name: String, title: String) -> String {
      "\(title).\(name)"
    }
    /// Computes a lazy property and keeps its value.
    open func compute(_ lazy: WatcherRef) -> Computation { .failed }
    /// Computes `first`, outside of any other computation.
    ///
    /// A receiver may continue with the properties that `Settling.next` returns, one after another,
    /// in one call into its language.
    open func computeAll(_ first: WatcherRef, in engine: Engine) {
      engine.settling.take(compute(first), of: first)
    }
    /// Continues the computation of `lazy` after the property that it waits for.
    ///
    /// That property is up to date, or has failed. `error` is given if it cannot be computed at
    /// all.
    open func resume(
      _ lazy: WatcherRef, after other: WatcherRef, _ error: (any Error)?
    ) -> Computation { .failed }
    /// Makes the links of a lazy property to its dependencies (`Wiring.add`).
    open func wire(_ lazy: WatcherRef, in engine: Engine) throws {}
    /// The declared dependencies of a lazy property.
    open func dependencies(of lazy: WatcherRef) -> [DeclaredDependency] { [] }
    /// Receives the error that prevented a computation of `lazy`, or made its result invalid.
    open func fail(_ lazy: WatcherRef, _ error: any Error) {}
    /// Reports the failed computation of a property that no code has read (Z8).
    open func reportFailure(of lazy: WatcherRef) {}
    /// Called when a mirrored property becomes invalid; its value may still turn out to hold.
    open func invalidated(_ lazy: WatcherRef) {}
    /// Releases the value that was delivered before the last one: it is no longer needed.
    open func forgetBase(of lazy: WatcherRef) {}
    /// Called when no computation is running any more, if this receiver had tracked ones.
    open func settled() {}
    /// The current value of a lazy property, or its last one; with `isBase`, the last delivered
    /// value, which the receiver keeps.
    open func value(of lazy: WatcherRef, isBase: Bool) -> AnyObject? { nil }
    /// Whether `value`, from `value(of:isBase:)`, equals the current value of the lazy property
    /// (T5).
    open func has(_ value: AnyObject, as lazy: WatcherRef) -> Bool { false }
    /// Assigns `value`, from `value(of:isBase:)`, to a lazy property.
    open func assign(_ value: AnyObject, to lazy: WatcherRef) {}
    /// The change of a lazy property from `old`, from `value(of:isBase:)`, for an immediate
    /// watcher.
    open func change(of lazy: WatcherRef, from old: AnyObject?) -> AnyObject? { nil }
  }
}

extension ObservationCore {
  /// A path that a lazy property declares.
  @_documentation(visibility: internal)
  public struct DeclaredDependency {
    package let path: Path
    /// The node where the path begins, if the path begins at another object and that one is
    /// observed.
    package let root: NodeRef?
    /// Whether the path begins at another object.
    package let isForeign: Bool

    package init(path: Path, root: NodeRef? = nil, isForeign: Bool = false) {
      (self.path, self.root, self.isForeign) = (path, root, isForeign)
    }
  }
}

extension ObservationCore {
  /// The result of computing a lazy property.
  @_documentation(visibility: internal)
  public enum Computation {
    /// The value is the same as before.
    case same
    /// The value is different.
    case changed
    /// The value is the last delivered one again, after others in between.
    case restored
    /// The getter failed; the receiver keeps the error for code that reads the property.
    case failed
    /// The computation is interrupted until the lazy property of this slot is up to date.
    case waiting(SlotRef)
  }
}
