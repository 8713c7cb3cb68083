extension ObservationCore {
  /// The record of one observed object.
  ///
  /// The object owns its node and reports its own death (`Nodes.end`). This one record has
  /// everything about an object, so a write needs no further pointers.
  @_documentation(visibility: internal)
  public struct Node {
    /// The kind of the object, which the engine asks about it; `GoneKind` once the object is gone.
    ///
    /// The code that makes nodes of a kind keeps the kind alive.
    package private(set) var kind: Unmanaged<NodeKind>
    package let engine: Unmanaged<Engine>
    /// The object itself, as its kind represents it; not retained.
    package let object: UnsafeMutableRawPointer
    /// The number of the object in tools; no other object of the loop ever gets it.
    package let number: UInt64
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
    /// Whether the keeper of the object is notified likewise; this does not keep the node.
    var isKept = false
    /// Whether the node is queued for the end of the turn, because something stopped being
    /// observed.
    var isIdle = false
    /// Whether its kind keeps a journal of its members.
    var isJournaled = false
    /// Whether it is among the nodes whose journals may be trimmed at the end of the turn.
    var isNoted = false
    /// Whether a recording has a line about the object.
    var isRecorded = false
    /// Whether the object is gone.
    private(set) var isDead = false
    /// Whether the node was removed: its object is gone or no longer observed.
    var isBuried = false
    /// Neighbours among the engine's nodes.
    var next = Neighbour<Node>()
    var previous = Neighbour<Node>()

    /// Marks the object as gone: its kind is no longer asked.
    mutating func die() {
      isDead = true
      kind = .passUnretained(GoneKind.shared)
    }
  }
}

extension ObservationCore {
  /// A pointer to a node.
  @_documentation(visibility: internal)
  public typealias NodeRef = UnsafeMutablePointer<Node>
}

extension NodeRef {
  package var kind: NodeKind { pointee.kind._withUnsafeGuaranteedRef { $0 } }
  package var isDead: Bool { pointee.isDead }
  func die() { pointee.die() }
  package var engine: Engine { pointee.engine._withUnsafeGuaranteedRef { $0 } }

  /// The name of the object for tools: its type and its number (W5).
  package func numbered(_ type: String) -> String { "\(type) #\(pointee.number)" }

  /// Whether observers are notified when a key begins or ceases to be observed.
  @inline(__always)
  var reportsObservation: Bool { pointee.isHooked || pointee.isKept }

  /// Calls `body` for every slot of the node, starting with `*`.
  func forEachSlot(_ body: (SlotRef) -> Void) {
    if let every = pointee.every { body(every) }
    engine.records.forEach(from: pointee.slots.first, body)
  }
}

extension ObservationCore {
  /// The value at one component of a path, as the next component needs it.
  @_documentation(visibility: internal)
  public enum Child {
    /// An observable object.
    case node(NodeRef)
    /// A value that cannot be observed (P7), or nothing.
    case none
  }
}

extension ObservationCore {
  /// The meaning of digits on one object (C4).
  @_documentation(visibility: internal)
  public enum Element {
    /// An ordinary key.
    case key(SlotRef)
    /// The element at this position now, wherever it moves. Its kind finds it by `anchor`, a number
    /// above 0. Every change of the list is a write of the slot.
    case object(SlotRef, anchor: Int)
  }
}

extension ObservationCore {
  /// How one kind of object is observed: Swift models, Lua tables and each kind of collection
  /// answer these questions, and report their writes.
  ///
  /// `Receiver` is the other class with subclasses outside of the engine.
  ///
  /// Called on the loop's thread only.
  @_documentation(visibility: internal)
  open class NodeKind {
    /// Makes the base part of a kind; only subclasses call it.
    public init() {}

    /// The slot of `component` on `node`, made if it does not exist (`Slots.make`).
    ///
    /// - Throws: ``PathError`` for a component that this kind of object cannot have.
    open func slot(
      _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
    ) throws -> SlotRef {
      fatalError("A kind says which slot a component means (this is a bug in Observables)")
    }

    /// The result of `slot(_:at:of:on:)` if it can be found without looking up names; nil requests
    /// a call of `slot(_:at:of:on:)`.
    open func knownSlot(at step: Int, of path: Path, on node: NodeRef) -> SlotRef? { nil }

    /// The object at the component `step`, for the next step of a path.
    open func child(_ node: NodeRef, at step: Int, of path: Path) -> Child { .none }

    /// Resolves the digits at `step`; an object is remembered until `releaseElement`.
    ///
    /// - Throws: ``PathError`` if there is no such element.
    open func element(
      _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
    ) throws -> Element {
      .key(try slot(component, at: step, of: path, on: node))
    }

    /// Whether the object is still in the list of `node`.
    open func holds(_ anchor: Int, in node: NodeRef) -> Bool { true }
    /// The object that `anchor` identifies, for the next step of a path.
    open func child(of anchor: Int, in node: NodeRef) -> Child { .none }
    /// The change delivered to an immediate watcher when the object leaves its list, as the kind
    /// saves it.
    open func departure(
      _ anchor: Int, at step: Int, of path: Path, from node: NodeRef
    ) -> AnyObject? { nil }
    /// Forgets `anchor`: no path follows the object any longer.
    open func releaseElement(_ anchor: Int, of node: NodeRef) {}

    /// Calls `visit` for each observable object below `node`, for a wildcard in a path.
    open func forEachChild(_ node: NodeRef, _ visit: (NodeRef) -> Void) {}

    /// The value of a terminal that is derived from the whole node (`@count`, `count`); nil if the
    /// component is an ordinary key.
    open func derivedValue(_ component: Path.Component, of node: NodeRef) -> Int? { nil }

    // MARK: Collections

    /// Whether `component` is looked up on each element instead of on the collection itself (C8).
    ///
    /// If so, `slot` returns the slot of `*`.
    open func spreads(_ component: Path.Component, over node: NodeRef) -> Bool { false }

    /// The index of the first element of a list: 1 in Lua.
    open var firstIndex: Int { 0 }

    /// Calls `visit` for each member as often as it occurs, for a list in order, until `visit`
    /// returns false.
    open func forEachMember(
      _ node: NodeRef, in scope: MemberScope, _ visit: (Member) -> Bool
    ) {
      var goesOn = true
      forEachChild(node) { child in
        guard goesOn else { return }
        goesOn = visit(Member(value: .object(UnsafeRawPointer(child)), node: child))
      }
    }

    /// Whether an object may have come or left by a write.
    open func movesObjects(_ change: Change) -> Bool { true }

    /// Whether a write that leaves a value the same adds or removes the key, because the value was
    /// inherited.
    open func changesKeys(_ change: Change) -> Bool { false }

    /// Calls `visit` for each object that a write has added, and possibly for others.
    open func forEachArrival(_ change: Change, _ visit: (NodeRef) -> Void) {
      forEachMember(change.node, in: .covered) { member in
        if let node = member.node { visit(node) }
        return true
      }
    }

    /// Whether each write reports the value it replaced, so contents need not be read in advance.
    open var knowsFormerContents: Bool { false }

    /// Whether the property of a slot may hold an object.
    open func mayHoldObject(_ slot: Int) -> Bool { true }

    /// Whether the object is a leaf for `**`.
    open func isOpaque(_ node: NodeRef) -> Bool { false }

    /// The first or the last element of a list, or any element of an unordered collection; nil if
    /// it is empty.
    open func element(atEnd isLast: Bool, of node: NodeRef) -> Member? { nil }

    /// The value of the key that `slot(_:at:of:on:)` resolves, as operators see it.
    open func operand(_ node: NodeRef, at step: Int, of path: Path) -> Operand { .none }

    /// Starts a journal of changes to the members of `node`.
    ///
    /// Called once, for the first of its readers. The positions of a journal only ever grow. False
    /// if the kind keeps no journal: readers then look at all members again after each change.
    open func beginJournal(of node: NodeRef) -> Bool { false }
    /// Ends the journal after its last reader.
    open func endJournal(of node: NodeRef) {}
    /// The position after the last entry.
    open func journalEnd(of node: NodeRef) -> Int { 0 }
    /// Removes the entries before `position`, which all readers have passed.
    open func trimJournal(of node: NodeRef, before position: Int) {}
    /// Shortens the journal for readers that lag behind because they are paused; `readers` are the
    /// positions of all readers.
    ///
    /// A kind may combine long runs of entries between those positions.
    open func compactJournal(of node: NodeRef, for readers: [Int]) {}

    /// Calls `visit` with each member that came (+1) or left (-1) since `position`, until `visit`
    /// returns false; a member that stayed may be visited both as leaving and as coming.
    ///
    /// False if the journal no longer covers `position`: the reader looks at all members.
    open func forEachMemberChange(
      _ node: NodeRef, in scope: MemberScope, since position: Int,
      _ visit: (_ member: Member, _ count: Int) -> Bool
    ) -> Bool { false }

    /// Whether the elements of the list or their order differ from `position` of the journal.
    open func hasEdits(_ node: NodeRef, since position: Int) -> Bool { false }

    /// The object itself, for watchers of a Swift program; nil if it is not a Swift object.
    package func object(of node: NodeRef) -> Unmanaged<AnyObject>? { nil }
    /// Changes the hooks that `observedChanged` calls (W1); returns whether any are left.
    func changeHooks(of node: NodeRef, _ change: (inout ObservedHooks) -> Void) -> Bool {
      false
    }

    /// Keeps the object alive until `release`: between a write and its flush (L2).
    ///
    /// False if the object is gone, though its death was not reported yet.
    open func anchor(_ node: NodeRef) -> Bool { true }
    /// Whether the object still exists: a collector may have given it up before reporting it (L8).
    open func isThere(_ node: NodeRef) -> Bool { true }
    /// Ends the node of an object that no longer exists.
    open func lose(_ node: NodeRef) {}
    open func release(_ node: NodeRef) {}

    /// The name of a slot's key, as `observedKeys` returns it.
    open func name(of slot: SlotRef) -> String { "" }

    // MARK: Tools

    /// The name of the object for tools: by default the name of its type.
    open func title(of node: NodeRef) -> String {
      object(of: node).map { "\(type(of: $0.takeUnretainedValue()))" } ?? "object"
    }

    /// The address by which a recording names the object where it is a value.
    open func address(of node: NodeRef) -> UInt {
      object(of: node).map { UInt(bitPattern: $0.toOpaque()) }
        ?? UInt(bitPattern: node.pointee.object)
    }
    /// Adds the key of a write.
    open func recordKey(_ change: Change, in lines: inout RunLines) { lines.addKey(of: change) }
    /// Adds the key, the old and the new value of a write.
    open func recordWrite(_ change: Change, in lines: inout RunLines) { lines.add(change) }
    /// Adds the contents of the object, as pairs of a key and a value.
    open func recordContents(of node: NodeRef, in lines: inout RunLines) {
      lines.addContents(of: node)
    }

    /// The already observed objects at the key of `slot`, in no order.
    ///
    /// For the slot of a whole object each object has its own key; Swift lists count from
    /// `firstIndex`. This computes nothing.
    open func observedObjects(
      at slot: SlotRef, firstIndex: Int
    ) -> [(key: String?, node: NodeRef)] { [] }

    /// The lazy properties of the object that have no record in the engine.
    open func unknownLazies(of node: NodeRef) -> [(name: String, isValid: Bool)] { [] }

    /// Forgets a slot that has lost its last link; called when the turn is over.
    ///
    /// The engine frees the record.
    open func forget(_ slot: SlotRef) {}
    /// Called when the turn is over and some, but not all, slots of the node were forgotten.
    open func tidy(_ node: NodeRef) {}
    /// Whether the work at the end of a turn has to wait for the end of the next turn.
    open var unobservesLater: Bool { false }
    /// Called when the turn is over and nothing of the node is observed any longer; true if the
    /// node is to be removed.
    open func unobserve(_ node: NodeRef) -> Bool { false }

    /// Called when the key of `slot` got its first or lost its last watcher, on a node that is
    /// hooked.
    open func observedChanged(_ slot: SlotRef, name: String, isObserved: Bool) {}
  }
}

/// The kind of nodes whose object is gone: every question has an empty answer.
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
