/// Values behind a wildcard or operator of `#path`, for the compiler.
public protocol PathMembers<Member> {
  /// The type of each value.
  associatedtype Member
}

/// An operator of `#path`, whose value has a type, for the compiler.
public protocol PathOperator {
  /// The type of its value.
  associatedtype PathValue
  /// The type of its value where the path may lead to nothing.
  associatedtype OptionalPathValue
}

extension Optional: PathMembers where Wrapped: PathMembers {
  /// The type of each value.
  public typealias Member = Wrapped.Member
}

extension Optional: PathOperator where Wrapped: PathOperator {
  /// The type of the value, which may be nil.
  public typealias PathValue = Wrapped.OptionalPathValue
  /// The type of the value, which may be nil.
  public typealias OptionalPathValue = Wrapped.OptionalPathValue
}

/// The values behind a `*` of `#path`, for the compiler.
///
/// A path to them can be observed, but has no single value to read.
@dynamicMemberLookup
public struct PathEvery<Member>: PathMembers {
  private init() {}

  /// A property of each value.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value>) -> PathEvery<Value> {
    onlyInPath()
  }

  /// An optional property of each value, which the path can follow with `?`.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value?>) -> PathEvery<Value>? {
    onlyInPath()
  }

  /// A wildcard or an operator over the collection that each value has.
  public subscript<Members: PathMembers>(
    dynamicMember path: KeyPath<Member, Members>
  ) -> PathEvery<Members.Member> { onlyInPath() }
}

/// The sum of values, behind `sum` of `#path`, for the compiler.
@dynamicMemberLookup
public struct PathSum<Member>: PathMembers, PathOperator {
  private init() {}

  /// The type of the numbers.
  public typealias PathValue = Member
  /// The type of the numbers.
  public typealias OptionalPathValue = Member?

  /// A property of each value.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value>) -> PathSum<Value> {
    onlyInPath()
  }

  /// An optional property of each value, which the path can follow with `?`.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value?>) -> PathSum<Value>? {
    onlyInPath()
  }

  /// A wildcard or an operator over the collection that each value has.
  public subscript<Members: PathMembers>(
    dynamicMember path: KeyPath<Member, Members>
  ) -> PathSum<Members.Member> { onlyInPath() }

  /// An average that each value has.
  public subscript<Value>(
    dynamicMember path: KeyPath<Member, PathAverage<Value>>
  ) -> PathAverage<Value> { onlyInPath() }
}

/// The average of values, behind `avg` of `#path`, for the compiler.
@dynamicMemberLookup
public struct PathAverage<Member>: PathMembers, PathOperator {
  private init() {}

  /// A number; nil for an empty collection.
  public typealias PathValue = Double?
  /// A number; nil for an empty collection.
  public typealias OptionalPathValue = Double?

  /// A property of each value.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value>) -> PathAverage<Value> {
    onlyInPath()
  }

  /// An optional property of each value, which the path can follow with `?`.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value?>) -> PathAverage<Value>? {
    onlyInPath()
  }

  /// A wildcard or an operator over the collection that each value has.
  public subscript<Members: PathMembers>(
    dynamicMember path: KeyPath<Member, Members>
  ) -> PathAverage<Members.Member> { onlyInPath() }
}

/// The smallest or largest value, behind `min` and `max` of `#path`, for the compiler.
@dynamicMemberLookup
public struct PathExtreme<Member>: PathMembers, PathOperator {
  private init() {}

  /// The type of the values; nil for an empty collection.
  public typealias PathValue = Member?
  /// The type of the values; nil for an empty collection.
  public typealias OptionalPathValue = Member?

  /// A property of each value.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value>) -> PathExtreme<Value> {
    onlyInPath()
  }

  /// An optional property of each value, which the path can follow with `?`.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value?>) -> PathExtreme<Value>? {
    onlyInPath()
  }

  /// A wildcard or an operator over the collection that each value has.
  public subscript<Members: PathMembers>(
    dynamicMember path: KeyPath<Member, Members>
  ) -> PathExtreme<Members.Member> { onlyInPath() }

  /// An average that each value has.
  public subscript<Value>(
    dynamicMember path: KeyPath<Member, PathAverage<Value>>
  ) -> PathAverage<Value> { onlyInPath() }
}

/// Whether values are true, behind `any` and `all` of `#path`, for the compiler.
@dynamicMemberLookup
public struct PathTest<Member>: PathMembers, PathOperator {
  private init() {}

  /// Whether one value, or all values, are true.
  public typealias PathValue = Bool
  /// Whether one value, or all values, are true.
  public typealias OptionalPathValue = Bool?

  /// A property of each value.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value>) -> PathTest<Value> {
    onlyInPath()
  }

  /// An optional property of each value, which the path can follow with `?`.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value?>) -> PathTest<Value>? {
    onlyInPath()
  }

  /// A wildcard or an operator over the collection that each value has.
  public subscript<Members: PathMembers>(
    dynamicMember path: KeyPath<Member, Members>
  ) -> PathTest<Members.Member> { onlyInPath() }
}

/// A list of values, behind `unionOfObjects` of `#path`, for the compiler.
@dynamicMemberLookup
public struct PathUnion<Member>: PathMembers, PathOperator {
  private init() {}

  /// The values.
  public typealias PathValue = [Member]
  /// The values.
  public typealias OptionalPathValue = [Member]?

  /// A property of each value.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value>) -> PathUnion<Value> {
    onlyInPath()
  }

  /// An optional property of each value, which the path can follow with `?`.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value?>) -> PathUnion<Value>? {
    onlyInPath()
  }

  /// A wildcard or an operator over the collection that each value has.
  public subscript<Members: PathMembers>(
    dynamicMember path: KeyPath<Member, Members>
  ) -> PathUnion<Members.Member> { onlyInPath() }
}

/// The elements of several collections, behind `unionOfArrays` of `#path`, for the compiler.
@dynamicMemberLookup
public struct PathUnionOfCollections<Member>: PathMembers {
  private init() {}

  /// A property of each value.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value>) -> PathUnionOfCollections<
    Value
  > {
    onlyInPath()
  }

  /// An optional property of each value, which the path can follow with `?`.
  public subscript<Value>(dynamicMember path: KeyPath<Member, Value?>) -> PathUnionOfCollections<
    Value
  >? {
    onlyInPath()
  }

  /// A wildcard or an operator over the collection that each value has.
  public subscript<Members: PathMembers>(
    dynamicMember path: KeyPath<Member, Members>
  ) -> PathUnionOfCollections<Members.Member> { onlyInPath() }
}

extension PathUnionOfCollections: PathOperator where Member: PathCollection {
  /// The elements.
  public typealias PathValue = [Member.PathElement]
  /// The elements.
  public typealias OptionalPathValue = [Member.PathElement]?
}
