/// An array that can be observed by key path: its slots, its elements, their properties, its size
/// and the values of operators over it (C1–C10).
///
/// A class that is used like the standard library's `Array`: every mutator is there, and is one
/// event for its watchers: `observe`, `observeImmediately` and `observeEdits` say when and where
/// they are called. Copies (`copy()`) and encoded arrays carry no observations (L7). Confined to
/// the thread of the loop that observes it.
///
/// Operations have the complexity of those of `Array`, and trap as those do where an index is out
/// of range. Reporting one adds O(elements put in or taken out) where edits, operators or elements
/// are watched, and O(slots whose element may have changed) where slots are.
///
/// ```swift
/// let items = ObservableArray([tea, biscuits])
/// try items.observe("price") { items in print(items.count) }
/// items.append(honey)
/// ```
public final class ObservableArray<Element>: ObservableCollection {
  // The storage can be inlined: an append may cost three times what `Array.append` costs, and a
  // call into another module costs more.
  @usableFromInline @exclusivity(unchecked) var storage: [Element]
  /// The journal of edits, while a watcher reads it.
  @exclusivity(unchecked) var journal: Journal<Element>?
  @exclusivity(unchecked) var anchors: [Int: Anchor] = [:]
  /// The observed slots by their index.
  @exclusivity(unchecked) var slots: [Int: SlotRef] = [:]
  /// How many mutations were reported since the array is observed.
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

  /// An array that has one element `count` times.
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
  /// The elements as `Array` describes them.
  public var description: String { storage.description }
}

extension ObservableArray: Equatable where Element: Equatable {
  /// Whether two arrays have equal elements; their watchers are not compared.
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
  /// Decodes an array from what `Array` encodes.
  public convenience init(from decoder: any Decoder) throws {
    self.init(try [Element](from: decoder))
  }
}
