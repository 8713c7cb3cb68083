/// An array that can be observed by key path: its slots, its elements and their properties, its
/// size, and the values of operators over it (C1–C10).
///
/// It is a class, used like the standard library's `Array`. Every mutator exists and is one event
/// for the watchers, which are called as `observe`, `observeImmediately` and `observeEdits`
/// describe. Copies (`copy()`) and encoded arrays are not observed (L7). The array is confined to
/// the thread of the loop that observes it.
///
/// Operations have the same complexity as in `Array`, and also trap if an index is out of range.
/// Reporting an operation adds O(inserted and removed elements) if edits, operators or elements are
/// watched, and O(slots whose element may have changed) if slots are watched.
///
/// ```swift
/// let items = ObservableArray([tea, biscuits])
/// try items.observe("price") { items in print(items.count) }
/// items.append(honey)
/// ```
public final class ObservableArray<Element>: ObservableCollection {
  // The storage can be inlined: even so, an append may cost three times as much as `Array.append`,
  // and a call into another module would cost more.
  @usableFromInline @exclusivity(unchecked) var storage: [Element]
  /// The journal of edits, while a watcher reads it.
  @exclusivity(unchecked) var journal: Journal<Element>?
  @exclusivity(unchecked) var anchors: [Int: Anchor] = [:]
  /// The observed slots by their index.
  @exclusivity(unchecked) var slots: [Int: SlotRef] = [:]
  /// The number of mutations that were reported since the array was first observed.
  @usableFromInline @exclusivity(unchecked) var changeCount = 0
  @exclusivity(unchecked) private var knownTraits: ElementTraits<Element>?

  /// An element that a path follows, and its last known position.
  struct Anchor {
    let element: Element
    var position: Int
  }

  /// Makes an empty array.
  public override init() {
    storage = []
    super.init()
    answering = self
  }

  /// Makes an array of the given elements.
  public init(_ elements: some Sequence<Element>) {
    storage = Array(elements)
    super.init()
    answering = self
  }

  /// Makes an array that contains one element `count` times.
  public init(repeating element: Element, count: Int) {
    storage = Array(repeating: element, count: count)
    super.init()
    answering = self
  }

  /// A copy of the current elements.
  ///
  /// It costs nothing until the array is changed, and then at most one copy per change (C11).
  public var elements: [Element] {
    access()
    return storage
  }

  /// Makes an array with the same elements, which is not observed.
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
  /// Makes an array of the given elements.
  public convenience init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension ObservableArray: CustomStringConvertible {
  /// The elements in the format of `Array`.
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
  /// Decodes an array in the format of `Array`.
  public convenience init(from decoder: any Decoder) throws {
    self.init(try [Element](from: decoder))
  }
}
