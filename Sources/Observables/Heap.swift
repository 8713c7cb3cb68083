/// Elements of which the first one, in a given order, is at hand.
struct Heap<Element> {
  /// The element at `index` does not come before its parent, the one at `(index - 1) / 2`.
  private var elements: [Element] = []
  private let comesBefore: (Element, Element) -> Bool

  init(by comesBefore: @escaping (Element, Element) -> Bool) { self.comesBefore = comesBefore }

  var count: Int { elements.count }

  var first: Element? { elements.first }

  /// - Complexity: O(log n)
  mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard comesBefore(elements[child], elements[parent]) else { break }
      elements.swapAt(parent, child)
      child = parent
    }
  }

  /// Removes the first element.
  ///
  /// - Complexity: O(log n)
  @discardableResult
  mutating func removeFirst() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let first = elements.first else { return last }
    elements[0] = last
    sink(0)
    return first
  }

  /// - Complexity: O(n)
  mutating func removeAll(where isGone: (Element) -> Bool) {
    elements.removeAll(where: isGone)
    for parent in (0..<elements.count / 2).reversed() { sink(parent) }
  }

  private mutating func sink(_ start: Int) {
    var parent = start
    while true {
      var child = 2 * parent + 1
      if child >= elements.count { break }
      if child + 1 < elements.count, comesBefore(elements[child + 1], elements[child]) {
        child += 1
      }
      guard comesBefore(elements[child], elements[parent]) else { break }
      elements.swapAt(parent, child)
      parent = child
    }
  }
}
