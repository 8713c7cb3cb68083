/// The state of a link that stands for many objects, or for a value derived from them.
final class LinkState {
  enum Role {
    /// `*` before the end of a path.
    case wildcard
    /// `**`: the objects below are at the same step.
    case deep
    /// A name that is looked up on each element (C8).
    case spread
    /// An operator that puts the values of all members together.
    case aggregate
    /// A collection below a union of collections, which hands its members on to the operator.
    case feed
    /// `@first` and `@last`.
    case end
    /// The edits of a list.
    case edits
  }

  /// What a link of `**` remembers that leads to no object; it never changes.
  nonisolated(unsafe) static let leaf = LinkState(.deep)

  let role: Role
  /// How far the link has read the journal of its node.
  var cursor = 0
  /// The objects below, each once, however often it is there.
  var members: [NodeRef: FanMember] = [:]
  /// Whether the next name is looked up on the elements of a member.
  var leadsToSpread = false
  /// How many members there are that cannot be gone through.
  var otherCount = 0
  /// What an operator, or a feed of one, remembers besides; nil for other roles.
  let operating: OperatorState?
  /// The bytes that the receiver of the watcher was charged for what is kept here.
  var charge = 0

  init(_ role: Role, _ operation: Operation? = nil) {
    self.role = role
    operating = operation != nil || role == .feed ? OperatorState(role, operation) : nil
  }

  /// Whether the link reads the journal of its node; `**` does where there are many members.
  var isReading = false

  /// Which members count: an operator goes over the elements, `*` over everything.
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

/// What an operator remembers, or a collection below a union of collections.
final class OperatorState {
  /// Which operator the link is; nil for a feed.
  let operation: Operation?
  /// The members of a feed as values, and how often each is there.
  var values: [Operand: Int] = [:]
  /// The aggregate of an operator.
  var aggregate: Aggregate?
  /// Whether the value was computed from all members once.
  var isComplete = false
  /// The element that was delivered last, for `@first` and `@last`.
  var delivered = Operand.none
  /// The values that were delivered last, for a short union in order.
  var deliveredUnion: [Operand]?

  init(_ role: LinkState.Role, _ operation: Operation?) {
    self.operation = operation
    aggregate = role == .aggregate ? Aggregate(operation!) : nil
  }
}

/// An object below a link that stands for many.
///
/// There are as many as objects: 24 bytes.
struct FanMember {
  /// The first link of the object; nil where it cannot have the next component of the path.
  var link: LinkRef?
  /// The contribution of the object to an operator.
  var contribution = Operand.none
  private var times: Int32

  init(count: Int) { times = Int32(clamping: count) }

  /// How often the object is there.
  var count: Int {
    get { Int(times) }
    set { times = Int32(clamping: newValue) }
  }
}

extension LinkRef {
  @inline(__always)
  var state: LinkState? { pointee.state?._withUnsafeGuaranteedRef { $0 } }
}
