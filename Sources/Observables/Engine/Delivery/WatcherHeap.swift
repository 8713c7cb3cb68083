/// Watchers that became pending during a flush, in a heap; the next one in order is first (T3).
struct WatcherHeap {
  private var items = RawList<WatcherRef>()

  @inline(__always) var first: WatcherRef? { items.isEmpty ? nil : items[0] }
  var count: Int { items.count }
  /// The watchers in no order.
  var elements: [WatcherRef] { items.elements }

  mutating func push(_ watcher: WatcherRef) {
    items.append(watcher)
    var child = items.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      if items[parent].pointee.order < items[child].pointee.order { break }
      items.swap(parent, child)
      child = parent
    }
  }

  mutating func pop() -> WatcherRef? {
    guard let last = items.popLast() else { return nil }
    guard let first else { return last }
    items.set(0, to: last)
    var parent = 0
    while true {
      var child = 2 * parent + 1
      if child >= items.count { break }
      if child + 1 < items.count, items[child + 1].pointee.order < items[child].pointee.order {
        child += 1
      }
      if items[parent].pointee.order < items[child].pointee.order { break }
      items.swap(parent, child)
      parent = child
    }
    return first
  }

  mutating func free() { items.free() }
}
