/// The state of a link to many objects, or to a value derived from them.
final class LinkState {
  enum Role {
    /// `*` before the end of a path.
    case wildcard
    /// `**`: the objects below are at the same step.
    case deep
    /// A name that is looked up on each element (C8).
    case spread
    /// An operator that aggregates the values of all members.
    case aggregate
    /// A collection below a union of collections, which passes its members on to the operator.
    case feed
    /// `@first` and `@last`.
    case end
    /// The edits of a list.
    case edits
  }

  /// The state of every `**` link that leads to no object; it never changes.
  nonisolated(unsafe) static let leaf = LinkState(.deep)

  let role: Role
  /// How far the link has read the journal of its node.
  var cursor = 0
  /// The objects below, each once, however often it occurs.
  var members: [NodeRef: FanMember] = [:]
  /// Whether the next name is looked up on the elements of a member.
  var leadsToSpread = false
  /// How many members cannot be followed further.
  var otherCount = 0
  /// The additional state of an operator or its feed; nil for other roles.
  let operating: OperatorState?
  /// The bytes charged to the watcher's receiver for this state.
  var charge = 0

  init(_ role: Role, _ operation: Operation? = nil) {
    self.role = role
    operating = operation != nil || role == .feed ? OperatorState(role, operation) : nil
  }

  /// Whether the link reads the journal of its node; `**` does so if there are many members.
  var isReading = false

  /// Whether `cursor` is a position in the journal of the link's node.
  var readsJournal: Bool { role != .end && (role != .deep || isReading) }

  /// The members that count: the elements for an operator, everything for `*`.
  var scope: MemberScope {
    switch role {
    case .wildcard: .everything
    case .deep: .stored
    default: .elements
    }
  }

  /// Whether the objects below are at the same step as this one.
  var staysAtStep: Bool { role == .spread || role == .deep }
}

/// The state of an operator, or of a collection below a union of collections.
final class OperatorState {
  /// The operator; nil for a feed.
  let operation: Operation?
  /// The members of a feed as values, and how often each occurs.
  var values: [Operand: Int] = [:]
  /// The aggregate of an operator.
  var aggregate: Aggregate?
  /// Whether the value was computed from all members once.
  var isComplete = false
  /// The last delivered element, for `@first` and `@last`.
  var delivered = Operand.none
  /// The last delivered values, for a short union in order.
  var deliveredUnion: [Operand]?

  init(_ role: LinkState.Role, _ operation: Operation?) {
    self.operation = operation
    aggregate = role == .aggregate ? Aggregate(operation!) : nil
  }
}

/// An object below a link to many objects.
///
/// There is one per object: 24 bytes.
struct FanMember {
  /// The first link of the object; nil if the object cannot have the next component of the path.
  var link: LinkRef?
  /// The contribution of the object to an operator.
  var contribution = Operand.none
  private var times: Int32

  init(count: Int) { times = Int32(clamping: count) }

  /// How often the object occurs.
  var count: Int {
    get { Int(times) }
    set { times = Int32(clamping: newValue) }
  }
}

extension LinkRef {
  @inline(__always)
  var state: LinkState? { pointee.state?._withUnsafeGuaranteedRef { $0 } }
}
