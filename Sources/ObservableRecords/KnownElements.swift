#if Records
  internal import Observables

  /// The elements of a list that the store changes, shared with the list.
  ///
  /// A list whose elements are in other memory was changed by the program. Objects are found in
  /// O(log n) while the store removes and appends them: searching the list for each of many objects
  /// would take quadratic time.
  struct KnownElements<Element: AnyObject> {
    private(set) var elements: [Element]
    /// The positions of the elements, while they are needed.
    private var index: ListIndex?

    init(_ elements: [Element]) { self.elements = elements }

    /// Takes the elements of the list.
    mutating func set(_ elements: [Element]) { (self.elements, index) = (elements, nil) }

    /// Whether the list has just these elements.
    func isSame(as list: [Element]) -> Bool {
      elements.count == list.count
        && elements.withUnsafeBufferPointer { a in
          list.withUnsafeBufferPointer { b in a.baseAddress == b.baseAddress }
        }
    }

    mutating func contains(_ object: Element) -> Bool {
      makeIndex()
      return index?.contains(object) ?? false
    }

    /// Appends an object here and to the list, which has just these elements.
    mutating func append(_ object: Element, to list: ObservableArray<Element>) {
      makeIndex()
      index?.append(object)
      // The list is changed in place, as nothing else refers to its memory.
      elements = []
      list.append(object)
      elements = list.elements
    }

    /// Removes an object here and from the list, which has just these elements; returns whether it
    /// was there.
    mutating func remove(_ object: Element, from list: ObservableArray<Element>) -> Bool {
      makeIndex()
      let hasDoubles = index?.hasDoubles ?? false
      guard let place = index?.remove(object) else { return false }
      elements = []
      if hasDoubles {
        list.removeAll { $0 === object }
        set(list.elements)
      } else {
        list.remove(at: place)
        elements = list.elements
      }
      return true
    }

    private mutating func makeIndex() {
      if index == nil { index = ListIndex(elements) }
    }
  }

  /// The positions of objects in a list from which objects are removed and to which others are
  /// appended.
  ///
  /// Each object keeps the number that it got when it was added, counted from 1. The removed
  /// objects are counted by a Fenwick tree: the entry at `n` is the count for the range of numbers
  /// that ends at `n` and has the length of the lowest bit in `n`.
  private struct ListIndex {
    private var numbers: [ObjectIdentifier: Int]
    private var removed: [Int]
    /// Whether the list had an object twice: only its last position is known.
    let hasDoubles: Bool

    init(_ objects: [some AnyObject]) {
      numbers = Dictionary(
        zip(objects.lazy.map(ObjectIdentifier.init), 1...), uniquingKeysWith: { $1 })
      removed = Array(repeating: 0, count: objects.count + 1)
      hasDoubles = numbers.count < objects.count
    }

    func contains(_ object: AnyObject) -> Bool { numbers[ObjectIdentifier(object)] != nil }

    mutating func append(_ object: AnyObject) {
      let number = removed.count
      numbers[ObjectIdentifier(object)] = number
      removed.append(count(upTo: number - 1) - count(upTo: number - number & -number))
    }

    /// Removes an object; returns its position, counted from 0.
    mutating func remove(_ object: AnyObject) -> Int? {
      guard let number = numbers.removeValue(forKey: ObjectIdentifier(object)) else { return nil }
      let position = number - 1 - count(upTo: number)
      var place = number
      while place < removed.count {
        removed[place] += 1
        place += place & -place
      }
      return position
    }

    /// Counts the removed objects whose numbers are at most `number`.
    private func count(upTo number: Int) -> Int {
      var (count, place) = (0, number)
      while place > 0 {
        count += removed[place]
        place -= place & -place
      }
      return count
    }
  }
#endif
