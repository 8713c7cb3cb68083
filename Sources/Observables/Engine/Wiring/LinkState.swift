/// What a link remembers that stands for many objects, or for a value derived from them.
final class LinkState {
  enum Role {
    /// `*` before the end of a path.
    case wildcard
    /// A name that is asked of each element (C8).
    case spread
    /// An operator that puts the values of all members together.
    case aggregate
    /// Behind a union of collections: hands its members on to the operator.
    case feed
    /// `@first` and `@last`.
    case end
    /// Edits of a list.
    case edits
  }

  let role: Role
  /// How far it has read the journal of its node.
  var cursor = 0
  /// The objects below, each once, however often it is there.
  var members: [NodeRef: FanMember] = [:]
  /// A name is asked of the elements of one of its members.
  var leadsToSpread = false
  /// How many members there are that cannot be gone through.
  var otherCount = 0
  /// The members as values; of a feed.
  var values: [Operand: Int] = [:]
  /// Of an operator.
  var aggregate: Aggregate?
  /// Which operator that is.
  let operation: Operation?
  /// All below has been put together once.
  var isComplete = false
  /// Of `@first` and `@last`: what was delivered last.
  var delivered = Operand.none
  /// Of a union in order, where it is short: the values that were delivered last.
  var deliveredUnion: [Operand]?

  init(_ role: Role, _ operation: Operation? = nil) {
    self.role = role
    self.operation = operation
    aggregate = role == .aggregate ? Aggregate(operation!) : nil
  }

  /// Which members count: an operator goes over the elements, `*` over everything.
  var scope: MemberScope { role == .wildcard ? .everything : .elements }
}

/// An object below a link that stands for many.
struct FanMember {
  /// Its first link; nil where it cannot have what the path asks for.
  var link: LinkRef?
  /// How often it is there.
  var count: Int
  /// What an operator got from it.
  var contribution = Operand.none
}

extension LinkRef {
  @inline(__always)
  var state: LinkState? { pointee.state?._withUnsafeGuaranteedRef { $0 } }
}
