extension ObservationCore {
  /// The record of one observed object.
  ///
  /// The object owns it and says when it dies (`Nodes.end`). Everything about an object is in this
  /// one record, so that a write finds it without following further pointers.
  @_documentation(visibility: internal)
  public struct Node {
    /// The kind of the object, which the engine asks about it; `GoneKind` once the object is gone.
    ///
    /// Kinds are kept alive by the code that makes nodes of them.
    package private(set) var kind: Unmanaged<NodeKind>
    package let engine: Unmanaged<Engine>
    /// The object itself, in the kind's terms; not retained.
    package let object: UnsafeMutableRawPointer
    /// The slots of its keys, in no order.
    var slots = RecordStack<Slot>()
    /// The slot of `*`.
    package var every: SlotRef?
    /// The watchers rooted here, earliest registered first.
    var watchers = RecordList<WatcherRecord>()
    /// A value that only the kind uses.
    package var context = 0
    /// How many pending watchers keep the object alive (L2).
    var anchors: Int32 = 0
    /// How many links read the journal of its members.
    var journalReaders: Int32 = 0
    /// Whether a hook is called when a key begins or ceases to be observed (`on_observed`).
    package var isHooked = false
    /// Whether what keeps the object is notified likewise; the node goes all the same.
    var isKept = false
    /// Whether the node is queued to be examined when the turn ends: something stopped being
    /// observed.
    var isIdle = false
    /// Whether its kind keeps a journal of its members.
    var isJournaled = false
    /// Whether it is among the nodes whose journal may be trimmed when the turn ends.
    var isNoted = false
    /// Whether the object is gone.
    private(set) var isDead = false
    /// Whether the object is gone, and its watchers have ended.
    var isBuried = false
    /// Neighbours among the engine's nodes.
    var next = Neighbour<Node>()
    var previous = Neighbour<Node>()

    /// The object is gone: its kind is not asked any more.
    mutating func die() {
      isDead = true
      kind = .passUnretained(GoneKind.shared)
    }
  }
}

extension ObservationCore {
  /// A node, wherever the engine keeps it.
  @_documentation(visibility: internal)
  public typealias NodeRef = UnsafeMutablePointer<Node>
}

extension NodeRef {
  package var kind: NodeKind { pointee.kind._withUnsafeGuaranteedRef { $0 } }
  package var isDead: Bool { pointee.isDead }
  func die() { pointee.die() }
  package var engine: Engine { pointee.engine._withUnsafeGuaranteedRef { $0 } }

  /// Whether somebody is notified when a key begins or ceases to be observed.
  @inline(__always)
  var reportsObservation: Bool { pointee.isHooked || pointee.isKept }

  /// Every slot of the node, that of `*` first.
  func forEachSlot(_ body: (SlotRef) -> Void) {
    if let every = pointee.every { body(every) }
    engine.records.forEach(from: pointee.slots.first, body)
  }
}

extension ObservationCore {
  /// What lies at one component of a path.
  @_documentation(visibility: internal)
  public enum Child {
    /// An observable object.
    case node(NodeRef)
    /// A value that cannot be observed (P7), or nothing.
    case none
  }
}

extension ObservationCore {
  /// What digits stand for in one object (C4).
  @_documentation(visibility: internal)
  public enum Element {
    /// An ordinary key.
    case key(SlotRef)
    /// The object that is there now, wherever it moves. `anchor`, above 0, is the number by which
    /// its kind finds it; every change of the list is a write of the slot.
    case object(SlotRef, anchor: Int)
  }
}

extension ObservationCore {
  /// How one kind of object is observed: Swift models, Lua tables and each kind of collection
  /// answer these questions, and report their writes.
  ///
  /// `Receiver` is the other class that code outside of the engine subclasses.
  ///
  /// Called on the loop's thread only.
  @_documentation(visibility: internal)
  open class NodeKind {
    /// Makes the base part of a kind; only subclasses call it.
    public init() {}

    /// The slot of `component` on `node`, made when it isn't there (`Slots.make`).
    ///
    /// - Throws: ``PathError`` for a component that this kind of object cannot have.
    open func slot(
      _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
    ) throws -> SlotRef {
      fatalError("A kind says which slot a component means (this is a bug in Observables)")
    }

    /// The slot that `slot(_:at:of:on:)` would answer with, where that is known without looking up
    /// names; nil to be asked again.
    open func knownSlot(at step: Int, of path: Path, on node: NodeRef) -> SlotRef? { nil }

    /// What lies at `component` now, for the next step of a path.
    open func child(_ node: NodeRef, at step: Int, of path: Path) -> Child { .none }

    /// What the digits at `step` stand for; an object is remembered until `releaseElement`.
    ///
    /// - Throws: ``PathError`` where nothing is there.
    open func element(
      _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
    ) throws -> Element {
      .key(try slot(component, at: step, of: path, on: node))
    }

    /// Whether the object is still in the list of `node`.
    open func holds(_ anchor: Int, in node: NodeRef) -> Bool { true }
    /// The object that `anchor` stands for, for the next step of a path.
    open func child(of anchor: Int, in node: NodeRef) -> Child { .none }
    /// The change that is delivered to an immediate watcher for an object that left, as the kind
    /// saves it.
    open func departure(
      _ anchor: Int, at step: Int, of path: Path, from node: NodeRef
    ) -> AnyObject? { nil }
    /// No path follows the object any longer.
    open func releaseElement(_ anchor: Int, of node: NodeRef) {}

    /// Calls `visit` for each observable object below `node`, for a wildcard in a path.
    open func forEachChild(_ node: NodeRef, _ visit: (NodeRef) -> Void) {}

    /// The value of a terminal that is derived from the whole node (`@count`, `count`), or nil
    /// where the component is an ordinary key.
    open func derivedValue(_ component: Path.Component, of node: NodeRef) -> Int? { nil }

    // MARK: Collections

    /// Whether `component` is asked of each element instead of the collection itself (C8).
    ///
    /// `slot` answers with the slot of `*` then.
    open func spreads(_ component: Path.Component, over node: NodeRef) -> Bool { false }

    /// What the first element of a list is called: Lua counts from 1.
    open var firstIndex: Int { 0 }

    /// Calls `visit` for each member, as often as it is there; for a list in order.
    open func forEachMember(
      _ node: NodeRef, in scope: MemberScope, _ visit: (Member) -> Void
    ) {
      forEachChild(node) { visit(Member(value: .object(UnsafeRawPointer($0)), node: $0)) }
    }

    /// Whether an object may have come or left by a write.
    open func movesObjects(_ change: Change) -> Bool { true }

    /// Whether a write that leaves a value the same adds or removes the key: the value was
    /// inherited.
    open func changesKeys(_ change: Change) -> Bool { false }

    /// Calls `visit` for each object that a write has put in, and maybe for others.
    open func forEachArrival(_ change: Change, _ visit: (NodeRef) -> Void) {
      forEachMember(change.node, in: .covered) { if let node = $0.node { visit(node) } }
    }

    /// Whether a write reports what it replaced, so that contents need not be read before it.
    open var knowsFormerContents: Bool { false }

    /// Whether the property of a slot may hold an object.
    open func mayHoldObject(_ slot: Int) -> Bool { true }

    /// Whether the object is a leaf for `**`.
    open func isOpaque(_ node: NodeRef) -> Bool { false }

    /// The first or the last element of a list, or any of an unordered collection; nil where there
    /// is none.
    open func element(atEnd isLast: Bool, of node: NodeRef) -> Member? { nil }

    /// The value of the key that `slot(_:at:of:on:)` stands for, as operators see it.
    open func operand(_ node: NodeRef, at step: Int, of path: Path) -> Operand { .none }

    /// From now on the kind keeps what happens to the members of `node`, in a journal.
    ///
    /// Called once for the first of its readers; the positions of a journal only ever grow. False
    /// where the kind keeps none: readers look at all members again after each change.
    open func beginJournal(of node: NodeRef) -> Bool { false }
    /// Ends the journal: its last reader is gone.
    open func endJournal(of node: NodeRef) {}
    /// The position behind the last entry.
    open func journalEnd(of node: NodeRef) -> Int { 0 }
    /// Removes the entries before `position`, which all readers have passed.
    open func trimJournal(of node: NodeRef, before position: Int) {}
    /// Makes the journal shorter for readers that lag behind, being paused; `readers` are the
    /// positions of all readers.
    ///
    /// A kind may combine long runs of entries between those positions.
    open func compactJournal(of node: NodeRef, for readers: [Int]) {}

    /// Calls `visit` with each member that came (+1) or left (-1) since `position`; a member that
    /// stayed may be visited as one that left and as one that came.
    ///
    /// False where that is not known any more: the reader looks at all members.
    open func forEachMemberChange(
      _ node: NodeRef, in scope: MemberScope, since position: Int,
      _ visit: (_ member: Member, _ count: Int) -> Void
    ) -> Bool { false }

    /// Whether the list has other elements, or in another order, than at `position` of the journal.
    open func hasEdits(_ node: NodeRef, since position: Int) -> Bool { false }

    /// The object itself, for watchers of a Swift program; nil where Swift has none.
    package func object(of node: NodeRef) -> Unmanaged<AnyObject>? { nil }
    /// Changes the hooks that `observedChanged` is to call (W1); returns whether some are left.
    func changeHooks(of node: NodeRef, _ change: (inout ObservedHooks) -> Void) -> Bool {
      false
    }

    /// Keeps the object alive until `release`: between a write and its flush (L2).
    ///
    /// False where it is gone, though that was not reported yet.
    open func anchor(_ node: NodeRef) -> Bool { true }
    /// Whether the object is there: a collector may have given it up before it says so (L8).
    open func isThere(_ node: NodeRef) -> Bool { true }
    /// Ends the node of an object that is not there.
    open func lose(_ node: NodeRef) {}
    open func release(_ node: NodeRef) {}

    /// The name of a slot's key, as `observedKeys` returns it.
    open func name(of slot: SlotRef) -> String { "" }

    // MARK: Tools

    /// What tools call the object: the name of its type.
    open func title(of node: NodeRef) -> String {
      object(of: node).map { "\(type(of: $0.takeUnretainedValue()))" } ?? "object"
    }

    /// The objects at the key of `slot` that are observed already, in no order.
    ///
    /// For the slot of a whole object each object has its own key; Swift lists count from
    /// `firstIndex`. Nothing is computed for it.
    open func observedObjects(
      at slot: SlotRef, firstIndex: Int
    ) -> [(key: String?, node: NodeRef)] { [] }

    /// The lazy properties of the object that have no record in the engine.
    open func unknownLazies(of node: NodeRef) -> [(name: String, isValid: Bool)] { [] }

    /// Forgets a slot that has lost its last link; called when the turn is over.
    ///
    /// The engine frees the record.
    open func forget(_ slot: SlotRef) {}
    /// The turn is over and slots of the node were forgotten, while others are left.
    open func tidy(_ node: NodeRef) {}
    /// Whether what is to be done at the end of a turn has to wait for that of the next one.
    open var unobservesLater: Bool { false }
    /// The turn is over and nothing of the node is observed any longer; true when the node goes.
    open func unobserve(_ node: NodeRef) -> Bool { false }

    /// The key of `slot` got its first or lost its last watcher, on a node that is hooked.
    open func observedChanged(_ slot: SlotRef, name: String, isObserved: Bool) {}
  }
}

/// The kind of nodes whose object is gone: it answers every question with nothing.
private final class GoneKind: NodeKind {
  // The kind has no state, so any thread may use it.
  nonisolated(unsafe) static let shared = GoneKind()

  override func slot(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> SlotRef {
    throw PathError(
      .unsupported, path: path.description, component: step + 1, detail: "the object is gone")
  }

  override func title(of node: NodeRef) -> String { "an object that is gone" }
}
