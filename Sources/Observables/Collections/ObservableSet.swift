/// A set that can be observed by key path: whether a member is there, its size, the properties of
/// its members and the values of operators over them (C6).
///
/// A class that is used like the standard library's `Set`. ``key(of:)`` spells a member, present or
/// not, for use in a path. Copies and encoded sets carry no observations (L7). Confined to the
/// thread of the loop that observes it.
///
/// Operations have the complexity of those of `Set`. Reporting one adds O(members that came or
/// left).
public final class ObservableSet<Element: Hashable>: ObservableCollection {
  // Methods that look up, add or remove one member are inlined: a call of unspecialized code takes
  // eight times as long.
  @usableFromInline @exclusivity(unchecked) var storage: Set<Element>
  @exclusivity(unchecked) var journal: KeyedJournal<Element, Element>?
  @exclusivity(unchecked) var slots = KeyedSlots<Element>()
  @exclusivity(unchecked) var names = MemberNames<Element>()
  @exclusivity(unchecked) private var knownTraits: ElementTraits<Element>?

  /// An empty set.
  public override init() {
    storage = []
    super.init()
    answering = self
  }

  /// A set of these members.
  public init(_ members: some Sequence<Element>) {
    storage = Set(members)
    super.init()
    answering = self
  }

  /// The members as they are now, which costs nothing until the set is changed (C11).
  public var members: Set<Element> {
    access()
    return storage
  }

  /// A set with the same members, which is not observed.
  public func copy() -> ObservableSet { ObservableSet(members) }

  var traits: ElementTraits<Element> {
    if let knownTraits { return knownTraits }
    let traits = ElementTraits<Element>()
    knownTraits = traits
    return traits
  }

  override func detach() {
    super.detach()
    (journal, slots, knownTraits) = (nil, KeyedSlots(), nil)
  }

  // MARK: Members

  /// Adds a member, which is no event where it is there.
  @discardableResult
  @inlinable public func insert(_ member: Element) -> (inserted: Bool, memberAfterInsert: Element) {
    let result = storage.insert(member)
    if node != nil, result.inserted { changed([], [member]) }
    return result
  }

  /// Adds a member, or puts it in the place of an equal one; returns that one, if any.
  @discardableResult
  public func update(with member: Element) -> Element? {
    let old = storage.update(with: member)
    if node != nil {
      if let old {
        if !traits.same(old, member) {
          journal?.record(member, from: old, to: member)
          node?.report([KeyChange(key: member, old: old, new: member, isSame: false)], slots)
        }
      } else {
        changed([], [member])
      }
    }
    return old
  }

  /// Removes a member, which is no event where it is not there; returns the member, if it was
  /// there.
  @discardableResult
  @inlinable public func remove(_ member: Element) -> Element? {
    guard let old = storage.remove(member) else { return nil }
    if node != nil { changed([old], []) }
    return old
  }

  /// Removes all members: one event.
  public func removeAll(keepingCapacity: Bool = false) {
    let old = storage
    withExtendedLifetime(old) {
      storage.removeAll(keepingCapacity: keepingCapacity)
      if node != nil { changed(Array(old), []) }
    }
  }

  /// Adds members: one event.
  ///
  /// - Complexity: O(others).
  public func formUnion(_ others: some Sequence<Element>) {
    changed([], Array(others).filter { storage.insert($0).inserted })
  }

  /// Removes all but these members: one event.
  public func formIntersection(_ others: some Sequence<Element>) {
    assign { $0.formIntersection(others) }
  }

  /// Removes members: one event.
  ///
  /// - Complexity: O(others).
  public func subtract(_ others: some Sequence<Element>) {
    changed(Array(others).compactMap { storage.remove($0) }, [])
  }

  /// Adds those of `others` that are not there and removes those that are: one event.
  ///
  /// - Complexity: O(others).
  public func formSymmetricDifference(_ others: some Sequence<Element>) {
    var (gone, new): ([Element], [Element]) = ([], [])
    for member in Set(others) {
      if let old = storage.remove(member) {
        gone.append(old)
      } else {
        storage.insert(member)
        new.append(member)
      }
    }
    changed(gone, new)
  }

  /// Becomes equal to `members`: one event for those that differ.
  public func set(_ members: some Sequence<Element>) { assign { $0 = Set(members) } }

  private func assign(_ change: (inout Set<Element>) -> Void) {
    var members = storage
    change(&members)
    let old = storage
    storage = members
    if node != nil { changed(Array(old.subtracting(members)), Array(members.subtracting(old))) }
  }

  @usableFromInline func changed(_ gone: [Element], _ new: [Element]) {
    if node == nil || gone.isEmpty && new.isEmpty { return }
    for member in gone { journal?.record(member, from: member, to: nil) }
    for member in new { journal?.record(member, from: nil, to: member) }
    node?.report(
      gone.map { KeyChange(key: $0, old: $0, new: nil, isSame: false) }
        + new.map { KeyChange(key: $0, old: nil, new: $0, isSame: false) }, slots)
  }

  // MARK: Names

  /// The component of a key path that stands for a member, present or not: `Path(set.key(of: x))`.
  ///
  /// Strings, numbers and truth values are spelled in it; other members get a number that no other
  /// member of this set gets while they live.
  public func key(of member: Element) -> Path.Component {
    Path.Component(kind: .member, bytes: names.name(of: member))
  }

  /// The member, present or not, for which ``key(of:)`` returned this component; nil where there is
  /// none.
  public func object(for key: Path.Component) -> Element? {
    key.kind == .member ? names.member(named: key.bytes) : nil
  }
}

extension ObservableSet: Collection {
  /// A place in the set; any change makes it invalid.
  public typealias Index = Set<Element>.Index

  /// The place of some first member.
  public var startIndex: Index {
    access()
    return storage.startIndex
  }
  /// The place behind the last member.
  public var endIndex: Index { storage.endIndex }
  /// The number of members.
  @inlinable public var count: Int {
    access()
    return storage.count
  }
  /// The place after `index`.
  public func index(after index: Index) -> Index { storage.index(after: index) }
  /// The member at a place.
  public subscript(position: Index) -> Element {
    access()
    return storage[position]
  }

  /// Whether a member is there.
  ///
  /// - Complexity: O(1).
  @inlinable public func contains(_ member: Element) -> Bool {
    access()
    return storage.contains(member)
  }
  /// A set of the members of both.
  public func union(_ others: some Sequence<Element>) -> Set<Element> { members.union(others) }
  /// A set of the members that are in both.
  public func intersection(_ others: some Sequence<Element>) -> Set<Element> {
    members.intersection(others)
  }
  /// A set of the members that are not among the others.
  public func subtracting(_ others: some Sequence<Element>) -> Set<Element> {
    members.subtracting(others)
  }
  /// A set of the members that are in one only.
  public func symmetricDifference(_ others: some Sequence<Element>) -> Set<Element> {
    members.symmetricDifference(others)
  }
  /// Whether all members are among the others.
  public func isSubset(of others: some Sequence<Element>) -> Bool { members.isSubset(of: others) }
  /// Whether all the others are members.
  public func isSuperset(of others: some Sequence<Element>) -> Bool {
    members.isSuperset(of: others)
  }
  /// Whether no member is among the others.
  public func isDisjoint(with others: some Sequence<Element>) -> Bool {
    members.isDisjoint(with: others)
  }
}

extension ObservableSet: ExpressibleByArrayLiteral {
  /// A set of these members.
  public convenience init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension ObservableSet: CustomStringConvertible {
  /// The members as `Set` describes them.
  public var description: String { storage.description }
}

extension ObservableSet: Equatable {
  /// Whether two sets have the same members.
  public static func == (a: ObservableSet, b: ObservableSet) -> Bool {
    a === b || a.storage == b.storage
  }
}

extension ObservableSet: Encodable where Element: Encodable {
  /// Encodes the members, as `Set` does; observations are not encoded (L7).
  public func encode(to encoder: any Encoder) throws { try storage.encode(to: encoder) }
}

extension ObservableSet: Decodable where Element: Decodable {
  /// Decodes a set from what `Set` encodes.
  public convenience init(from decoder: any Decoder) throws {
    self.init(try Set<Element>(from: decoder))
  }
}
