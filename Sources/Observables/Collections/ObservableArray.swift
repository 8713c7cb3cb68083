/// An array that can be observed by key path: its slots, its elements, their properties, its size
/// and what operators make of it (C1–C10).
///
/// A class that is used like the standard library's `Array`: every mutator is there, and is one
/// event to those who watch: `observe`, `observeImmediately` and `observeEdits` say when and where
/// they are called. Copies (`copy()`) and encoded arrays carry no observations (L7). Confined to
/// the thread of the loop that observes it.
///
/// Operations have the complexity that they have there, and trap as they do there where an index is
/// out of range. Telling of one adds O(elements put in or taken out) where edits, operators or
/// elements are watched, and O(slots whose element may have changed) where slots are.
///
/// ```swift
/// let items = ObservableArray([tea, biscuits])
/// try items.observe("price") { items in print(items.count) }
/// items.append(honey)
/// ```
public final class ObservableArray<Element>: ObservableCollection {
  // Inlined: three times the cost of `Array.append` is what an append may take, and a call into
  // another module takes more.
  @usableFromInline @exclusivity(unchecked) var storage: [Element]
  /// What happened to it, while somebody reads that.
  @exclusivity(unchecked) var journal: Journal<Element>?
  @exclusivity(unchecked) var anchors: [Int: Anchor] = [:]
  /// The observed slots by their index.
  @exclusivity(unchecked) var slots: [Int: SlotRef] = [:]
  /// How many mutations were reported since it is observed.
  @usableFromInline @exclusivity(unchecked) var changeCount = 0
  @exclusivity(unchecked) private var knownTraits: ElementTraits<Element>?

  /// An element that a path follows, and where it was seen last.
  struct Anchor {
    let element: Element
    var position: Int
  }

  /// An empty array.
  public override init() {
    storage = []
    super.init()
    answering = self
  }

  /// An array of the given elements.
  public init(_ elements: some Sequence<Element>) {
    storage = Array(elements)
    super.init()
    answering = self
  }

  /// An array of one element, some times.
  public init(repeating element: Element, count: Int) {
    storage = Array(repeating: element, count: count)
    super.init()
    answering = self
  }

  /// The elements as they are now: a public copy that costs nothing until the array is changed, and
  /// one copy per change at most (C11).
  public var elements: [Element] {
    access()
    return storage
  }

  /// An array with the same elements, which is not observed.
  public func copy() -> ObservableArray { ObservableArray(elements) }

  var traits: ElementTraits<Element> {
    if let knownTraits { return knownTraits }
    let traits = ElementTraits<Element>()
    knownTraits = traits
    return traits
  }

  override func detach() {
    super.detach()
    (journal, anchors, slots, knownTraits) = (nil, [:], [:], nil)
  }

  var isObserved: Bool { node != nil }

  @usableFromInline func checkIndex(_ index: Int, _ isEndAllowed: Bool = false) {
    precondition(
      index >= 0 && (index < storage.count || isEndAllowed && index == storage.count),
      "Index \(index) is out of range 0..<\(storage.count)")
  }
}

extension ObservableArray: ExpressibleByArrayLiteral {
  /// An array of the given elements.
  public convenience init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension ObservableArray: CustomStringConvertible {
  /// The elements as an array shows them.
  public var description: String { storage.description }
}

extension ObservableArray: Equatable where Element: Equatable {
  /// Whether two arrays have equal elements; what observes them plays no part.
  public static func == (a: ObservableArray, b: ObservableArray) -> Bool {
    a === b || a.storage == b.storage
  }
}

extension ObservableArray: Hashable where Element: Hashable {
  /// Hashes the elements.
  public func hash(into hasher: inout Hasher) { hasher.combine(storage) }
}

extension ObservableArray: Encodable where Element: Encodable {
  /// Encodes the elements, as `Array` does; observations are not encoded (L7).
  public func encode(to encoder: any Encoder) throws { try storage.encode(to: encoder) }
}

extension ObservableArray: Decodable where Element: Decodable {
  /// Decodes what `Array` encodes.
  public convenience init(from decoder: any Decoder) throws {
    self.init(try [Element](from: decoder))
  }
}
