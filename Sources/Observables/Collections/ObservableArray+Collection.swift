// Elements may read the array in their `deinit`, and so may arguments while they are evaluated. So
// new elements are copied first, and removed ones are retained until the storage is consistent
// again.
extension ObservableArray: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  /// The first position, which is 0.
  public var startIndex: Int { 0 }
  /// The number of elements.
  @inlinable public var endIndex: Int {
    access()
    return storage.count
  }
  /// The number of elements.
  @inlinable public var count: Int {
    access()
    return storage.count
  }

  /// The element at a position; assigning replaces it.
  @inlinable public subscript(position: Int) -> Element {
    get {
      access()
      return storage[position]
    }
    set {
      if node == nil {
        var element = newValue
        swap(&element, &storage[position])
      } else {
        replace(at: position, with: newValue)
      }
    }
  }

  /// A copy of the elements of a range; assigning replaces them, as one event.
  public subscript(bounds: Range<Int>) -> ArraySlice<Element> {
    get {
      access()
      return storage[bounds]
    }
    set { replaceSubrange(bounds, with: newValue) }
  }

  /// A copy of the elements of a range, such as `2...`; assigning replaces them, as one event.
  public subscript(bounds: some RangeExpression<Int>) -> ArraySlice<Element> {
    get {
      access()
      return storage[bounds.relative(to: storage)]
    }
    set { replaceSubrange(bounds.relative(to: storage), with: newValue) }
  }

  /// Calls `body` with the elements in contiguous memory.
  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<Element>) throws -> Result
  ) rethrows -> Result? {
    access()
    return try storage.withContiguousStorageIfAvailable(body)
  }

  /// Reserves memory for `count` elements, without an event.
  @inlinable public func reserveCapacity(_ count: Int) { storage.reserveCapacity(count) }

  // MARK: Insertions

  /// Appends an element.
  @inlinable public func append(_ element: Element) {
    storage.append(element)
    if node != nil { appended(1) }
  }

  /// Appends elements, as one event.
  @inlinable public func append(contentsOf elements: some Sequence<Element>) {
    let elements = Array(elements)
    storage.append(contentsOf: elements)
    if node != nil { appended(elements.count) }
  }

  /// Appends elements, as one event.
  public static func += (array: ObservableArray, elements: some Sequence<Element>) {
    array.append(contentsOf: elements)
  }

  /// Inserts an element at `index`.
  @inlinable public func insert(_ element: Element, at index: Int) {
    checkIndex(index, true)
    storage.insert(element, at: index)
    if node != nil, isHeard { inserted(1, at: index) }
  }

  /// Inserts elements at `index`, as one event.
  @inlinable public func insert(contentsOf elements: some Collection<Element>, at index: Int) {
    let elements = Array(elements)
    checkIndex(index, true)
    storage.insert(contentsOf: elements, at: index)
    if node != nil, isHeard { inserted(elements.count, at: index) }
  }

  // MARK: Removals

  /// Removes and returns the element at `index`.
  @discardableResult
  @inlinable public func remove(at index: Int) -> Element {
    checkIndex(index)
    let element = storage.remove(at: index)
    if node != nil, isHeard { removed([element], at: index) }
    return element
  }

  /// Removes and returns the first element.
  @discardableResult
  public func removeFirst() -> Element { remove(at: 0) }

  /// Removes the first `count` elements, as one event.
  public func removeFirst(_ count: Int) {
    checkCount(count)
    removeSubrange(0..<count)
  }

  /// Removes and returns the last element.
  @discardableResult
  public func removeLast() -> Element { remove(at: storage.count - 1) }

  /// Removes the last `count` elements, as one event.
  public func removeLast(_ count: Int) {
    checkCount(count)
    removeSubrange(storage.count - count..<storage.count)
  }

  private func checkCount(_ count: Int) {
    precondition(
      count >= 0 && count <= storage.count,
      "Cannot remove \(count) elements of \(storage.count)")
  }

  /// Removes and returns the last element; nil if the array is empty.
  public func popLast() -> Element? { storage.isEmpty ? nil : removeLast() }

  /// Removes the elements of a range, as one event.
  public func removeSubrange(_ bounds: Range<Int>) {
    if bounds.isEmpty { return }
    let old = Array(storage[bounds])
    withExtendedLifetime(old) {
      storage.removeSubrange(bounds)
      if isObserved { removed(old, at: bounds.lowerBound) }
    }
  }

  /// Removes the elements of a range, such as `2...`, as one event.
  public func removeSubrange(_ bounds: some RangeExpression<Int>) {
    removeSubrange(bounds.relative(to: storage))
  }

  /// Removes all elements, as one event.
  public func removeAll(keepingCapacity: Bool = false) {
    let old = storage
    withExtendedLifetime(old) {
      storage = []
      if keepingCapacity { storage.reserveCapacity(old.capacity) }
      if isObserved, !old.isEmpty { removed(old, at: 0) }
    }
  }

  /// Removes the elements for which `shouldBeRemoved` returns true, as one event.
  ///
  /// The predicate sees the array before the change. If it throws, nothing is removed.
  @inlinable public func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
    try assign { elements in try elements.removeAll(where: shouldBeRemoved) }
  }

  /// Removes the first element that is the same as `element` (T5); returns whether there was one.
  @discardableResult
  public func removeValue(_ element: Element) -> Bool {
    let traits = traits
    guard let index = storage.firstIndex(where: { traits.same($0, element) }) else { return false }
    remove(at: index)
    return true
  }

  // MARK: Replacements

  /// Replaces the elements of a range, as one event.
  public func replaceSubrange(_ bounds: Range<Int>, with elements: some Collection<Element>) {
    let elements = Array(elements)
    if elements.isEmpty {
      removeSubrange(bounds)
    } else if bounds.isEmpty {
      insert(contentsOf: elements, at: bounds.lowerBound)
    } else if bounds.count == 1, elements.count == 1 {
      replace(at: bounds.lowerBound, with: elements.first!)
    } else if isObserved {
      assign { $0.replaceSubrange(bounds, with: elements) }
    } else {
      let old = Array(storage[bounds])
      withExtendedLifetime(old) { storage.replaceSubrange(bounds, with: elements) }
    }
  }

  /// Replaces the elements of a range, such as `2...`, as one event.
  public func replaceSubrange(
    _ bounds: some RangeExpression<Int>, with elements: some Collection<Element>
  ) {
    replaceSubrange(bounds.relative(to: storage), with: elements)
  }

  /// Replaces one element; there is no event if it is the same (T5).
  @usableFromInline func replace(at index: Int, with element: Element) {
    checkIndex(index)
    let old = storage[index]
    withExtendedLifetime(old) {
      storage[index] = element
      if isHeard { replaced(old, at: index) }
    }
  }

  /// Replaces the contents by `elements`, as one event with as few edits as possible.
  @inlinable public func set(_ elements: some Sequence<Element>) {
    assign { $0 = Array(elements) }
  }

  /// Exchanges two elements, as one event.
  @inlinable public func swapAt(_ a: Int, _ b: Int) {
    checkIndex(a)
    checkIndex(b)
    storage.swapAt(a, b)
    if node != nil, a != b, isHeard { swapped(a, b) }
  }

  /// Removes the element at `from`, then inserts it at `to`, as one event.
  @inlinable public func move(from: Int, to: Int) {
    checkIndex(from)
    checkIndex(to)
    if from == to { return }
    storage.insert(storage.remove(at: from), at: to)
    if node != nil, isHeard { moved(from: from, to: to) }
  }

  // MARK: Order

  /// Sorts the elements, as one event.
  ///
  /// The predicate sees the array before the change, and changes that it makes to the array are
  /// overwritten. If it throws, nothing is sorted.
  @inlinable public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    try assign(isPermutation: true) { try $0.sort(by: areInIncreasingOrder) }
  }

  /// Reverses the order of the elements, as one event.
  @inlinable public func reverse() { assign(isPermutation: true) { $0.reverse() } }

  /// Shuffles the elements, as one event.
  @inlinable public func shuffle(using generator: inout some RandomNumberGenerator) {
    assign(isPermutation: true) { $0.shuffle(using: &generator) }
  }

  /// Shuffles the elements, as one event.
  @inlinable public func shuffle() { assign(isPermutation: true) { $0.shuffle() } }

  /// Moves the elements for which the predicate is true behind the others, as one event.
  ///
  /// - Returns: the position of the first element for which the predicate is true.
  @discardableResult
  @inlinable public func partition(
    by belongsInSecondPartition: (Element) throws -> Bool
  ) rethrows -> Int {
    try assign(isPermutation: true) { try $0.partition(by: belongsInSecondPartition) }
  }

  /// Arranges the elements in the order of these indices, which are a permutation, as one event.
  func arrange(_ order: [Int]) {
    assign(isPermutation: true) { elements in elements = order.map { elements[$0] } }
  }

  /// Changes a copy, which then becomes the contents; `change` may call code that reads the array,
  /// change the array itself, or throw.
  @discardableResult
  @inlinable func assign<Result>(
    isPermutation: Bool = false, _ change: (inout [Element]) throws -> Result
  ) rethrows -> Result {
    var elements = storage
    let before = changeCount
    let result = try change(&elements)
    let old = storage
    withExtendedLifetime(old) {
      storage = elements
      if node != nil {
        rearranged(from: old, isPermutation: isPermutation && changeCount == before)
      }
    }
    return result
  }
}

extension ObservableArray where Element: Comparable {
  /// Sorts the elements, as one event.
  @inlinable public func sort() { sort(by: <) }
}
