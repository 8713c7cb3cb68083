/// The watchers that have to be called, in the order in which they are: earliest registered first,
/// at most once per flush (T3).
///
/// What becomes pending between flushes is in `queue`, which a flush takes as a whole, and sorts
/// where it has to. What becomes pending during a flush is called in it, too (`triggered`), or in
/// the next one where it has run already (`later`, T4).
struct DeliveryQueue {
  private var queue = RawList<WatcherRef>()
  private var isSorted = true
  /// What the flush under way has taken.
  private var current = RawList<WatcherRef>()
  /// How many of those had their turn.
  private var position = 0
  private var triggered = WatcherHeap()
  private var later = RawList<WatcherRef>()
  private(set) var isFlushing = false
  /// Of the flush under way, or the last one.
  private var number: UInt64 = 0

  /// Nothing waits for the next flush.
  @inline(__always) var isEmpty: Bool { queue.isEmpty }
  var count: Int { queue.count + triggered.count + later.count }

  /// Adds a watcher that is not in here.
  @inline(__always)
  mutating func add(_ watcher: WatcherRef) {
    if isFlushing {
      if watcher.pointee.lastFlush == number {
        later.append(watcher)
      } else {
        triggered.push(watcher)
      }
    } else {
      if let last = queue.last, last.pointee.id > watcher.pointee.id { isSorted = false }
      queue.append(watcher)
    }
  }

  mutating func beginFlush() {
    number += 1
    isFlushing = true
    sort()
    swap(&queue, &current)
    position = 0
  }

  private mutating func sort() {
    if !isSorted { queue.sort { $0.pointee.id < $1.pointee.id } }
    isSorted = true
  }

  /// The watcher whose turn it is; nil at the end of the flush.
  @inline(__always)
  mutating func next() -> WatcherRef? {
    let isLast = position == current.count
    if let other = triggered.first, isLast || other.pointee.id < current[position].pointee.id {
      return triggered.pop()
    }
    if isLast { return nil }
    position += 1
    return current[position - 1]
  }

  /// The watcher is called in the flush under way: what it triggers of itself waits for the next.
  @inline(__always)
  func noteCall(of watcher: WatcherRef) { watcher.pointee.lastFlush = number }

  mutating func endFlush() {
    current.removeAll()
    isFlushing = false
    if later.isEmpty { return }
    // Nothing else can be in the queue: during a flush all goes to `triggered` or `later`.
    swap(&queue, &later)
    isSorted = false
  }

  /// Takes out what waits for the next flush, in order.
  mutating func takeAll() -> [WatcherRef] {
    sort()
    var watchers: [WatcherRef] = []
    while let watcher = queue.popLast() { watchers.append(watcher) }
    return watchers.reversed()
  }

  /// Frees the memory of this, and calls `end` for what is still in here.
  mutating func free(_ end: (WatcherRef) -> Void) {
    while let watcher = triggered.pop() { end(watcher) }
    while let watcher = later.popLast() { end(watcher) }
    while let watcher = queue.popLast() { end(watcher) }
    queue.free()
    current.free()
    later.free()
    triggered.free()
  }
}
