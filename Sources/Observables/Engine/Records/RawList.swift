/// A growing list of trivial elements in manually managed memory, without reference counts and
/// checks on the path of a write.
///
/// Its owner frees it.
struct RawList<Element: BitwiseCopyable> {
  private var base: UnsafeMutablePointer<Element>?
  private var capacity = 0
  private(set) var count = 0

  @inline(__always) var isEmpty: Bool { count == 0 }
  @inline(__always) var first: Element? { count == 0 ? nil : base.unsafelyUnwrapped[0] }
  @inline(__always) var last: Element? { count == 0 ? nil : base.unsafelyUnwrapped[count - 1] }

  var elements: [Element] { Array(UnsafeBufferPointer(start: base, count: count)) }

  @inline(__always)
  subscript(index: Int) -> Element { base.unsafelyUnwrapped[index] }

  @inline(__always)
  mutating func append(_ element: Element) {
    if count == capacity { grow() }
    (base.unsafelyUnwrapped + count).initialize(to: element)
    count += 1
  }

  mutating func set(_ index: Int, to element: Element) {
    base.unsafelyUnwrapped[index] = element
  }

  mutating func swap(_ a: Int, _ b: Int) {
    let element = self[a]
    set(a, to: self[b])
    set(b, to: element)
  }

  @inline(never)
  private mutating func grow() {
    let larger = max(16, capacity * 2)
    let memory = UnsafeMutablePointer<Element>.allocate(capacity: larger)
    if let base {
      memory.initialize(from: base, count: count)
      base.deallocate()
    }
    (base, capacity) = (memory, larger)
  }

  @inline(__always)
  mutating func popLast() -> Element? {
    if count == 0 { return nil }
    count -= 1
    return base.unsafelyUnwrapped[count]
  }

  /// Keeps the memory, unless it is large.
  @inline(__always)
  mutating func removeAll() {
    count = 0
    if capacity > 65_536 { free() }
  }

  /// Removes the elements from `index` on.
  @inline(__always)
  mutating func removeAll(from index: Int) {
    if index == 0 { removeAll() } else { count = index }
  }

  mutating func sort(by comesBefore: (Element, Element) -> Bool) {
    var elements = UnsafeMutableBufferPointer(start: base, count: count)
    elements.sort(by: comesBefore)
  }

  mutating func free() {
    base?.deallocate()
    (base, capacity, count) = (nil, 0, 0)
  }
}
