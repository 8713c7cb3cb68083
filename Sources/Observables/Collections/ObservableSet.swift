/// A set that can be observed by key path: the presence of a member, its size, the properties of
/// its members, and the values of operators over them (C6).
///
/// It is a class, used like the standard library's `Set`. ``key(of:)`` makes the path component for
/// a member, even if it is not in the set. Copies and encoded sets are not observed (L7). The set
/// is confined to the thread of the loop that observes it.
///
/// Operations have the same complexity as in `Set`. Reporting an operation adds O(added and removed
/// members).
public final class ObservableSet<Element: Hashable>: ObservableCollection {
  // Methods that look up, add or remove one member are inlined: a call of unspecialized code takes
  // eight times as long.
  @usableFromInline @exclusivity(unchecked) var storage: Set<Element>
  @exclusivity(unchecked) var journal: KeyedJournal<Element, Element>?
  @exclusivity(unchecked) var slots = KeyedSlots<Element>()
  @exclusivity(unchecked) var names = MemberNames<Element>()
  @exclusivity(unchecked) private var knownTraits: ElementTraits<Element>?

  /// Makes an empty set.
  public override init() {
    storage = []
    super.init()
    answering = self
  }

  /// Makes a set of these members.
  public init(_ members: some Sequence<Element>) {
    storage = Set(members)
    super.init()
    answering = self
  }

  /// A copy of the current members; it costs nothing until the set is changed (C11).
  public var members: Set<Element> {
    access()
    return storage
  }

  /// Makes a set with the same members, which is not observed.
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

  /// Adds a member; there is no event if it is already in the set.
  @discardableResult
  @inlinable public func insert(_ member: Element) -> (inserted: Bool, memberAfterInsert: Element) {
    let result = storage.insert(member)
    if node != nil, result.inserted { changed([], [member]) }
    return result
  }

  /// Adds a member, or replaces an equal one; returns the replaced member, if any.
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

  /// Removes a member; returns it if it was in the set.
  ///
  /// There is no event if it was not.
  @discardableResult
  @inlinable public func remove(_ member: Element) -> Element? {
    guard let old = storage.remove(member) else { return nil }
    if node != nil { changed([old], []) }
    return old
  }

  /// Removes all members, as one event.
  public func removeAll(keepingCapacity: Bool = false) {
    let old = storage
    withExtendedLifetime(old) {
      storage.removeAll(keepingCapacity: keepingCapacity)
      if node != nil { changed(Array(old), []) }
    }
  }

  /// Adds members, as one event.
  ///
  /// - Complexity: O(others).
  public func formUnion(_ others: some Sequence<Element>) {
    changed([], Array(others).filter { storage.insert($0).inserted })
  }

  /// Removes all members except these, as one event.
  public func formIntersection(_ others: some Sequence<Element>) {
    assign { $0.formIntersection(others) }
  }

  /// Removes members, as one event.
  ///
  /// - Complexity: O(others).
  public func subtract(_ others: some Sequence<Element>) {
    changed(Array(others).compactMap { storage.remove($0) }, [])
  }

  /// Adds the members of `others` that are missing and removes the members that are present, as one
  /// event.
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

  /// Replaces the contents by `members`, as one event for the members that differ.
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

  /// The path component that represents a member, even if it is not in the set:
  /// `Path(set.key(of: x))`.
  ///
  /// Strings, numbers and truth values are represented by their text. Any other member gets a
  /// number, which no other member of this set gets while both are alive.
  public func key(of member: Element) -> Path.Component {
    Path.Component(kind: .member, bytes: names.name(of: member))
  }

  /// The member for which ``key(of:)`` returned this component, even if it is not in the set; nil
  /// for any other component.
  public func object(for key: Path.Component) -> Element? {
    key.kind == .member ? names.member(named: key.bytes) : nil
  }
}

extension ObservableSet: Collection {
  /// A position in the set; any change invalidates it.
  public typealias Index = Set<Element>.Index

  /// The position of the first member; the order is arbitrary.
  public var startIndex: Index {
    access()
    return storage.startIndex
  }
  /// The position after the last member.
  public var endIndex: Index { storage.endIndex }
  /// The number of members.
  @inlinable public var count: Int {
    access()
    return storage.count
  }
  /// The position after `index`.
  public func index(after index: Index) -> Index { storage.index(after: index) }
  /// The member at a position.
  public subscript(position: Index) -> Element {
    access()
    return storage[position]
  }

  /// Whether a member is in the set.
  ///
  /// - Complexity: O(1).
  @inlinable public func contains(_ member: Element) -> Bool {
    access()
    return storage.contains(member)
  }
  /// A set of the members of either.
  public func union(_ others: some Sequence<Element>) -> Set<Element> { members.union(others) }
  /// A set of the members of both.
  public func intersection(_ others: some Sequence<Element>) -> Set<Element> {
    members.intersection(others)
  }
  /// A set of the members that are not in `others`.
  public func subtracting(_ others: some Sequence<Element>) -> Set<Element> {
    members.subtracting(others)
  }
  /// A set of the members of exactly one of the two.
  public func symmetricDifference(_ others: some Sequence<Element>) -> Set<Element> {
    members.symmetricDifference(others)
  }
  /// Whether all members are in `others`.
  public func isSubset(of others: some Sequence<Element>) -> Bool { members.isSubset(of: others) }
  /// Whether all of `others` are members.
  public func isSuperset(of others: some Sequence<Element>) -> Bool {
    members.isSuperset(of: others)
  }
  /// Whether no member is in `others`.
  public func isDisjoint(with others: some Sequence<Element>) -> Bool {
    members.isDisjoint(with: others)
  }
}

extension ObservableSet: ExpressibleByArrayLiteral {
  /// Makes a set of these members.
  public convenience init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension ObservableSet: CustomStringConvertible {
  /// The members in the format of `Set`.
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
  /// Decodes a set in the format of `Set`.
  public convenience init(from decoder: any Decoder) throws {
    self.init(try Set<Element>(from: decoder))
  }
}
