/// The watchers that have to be called, in the order in which they are: earliest registered first,
/// at most once per flush (T3).
///
/// What becomes pending between flushes is in `queue`, which a flush takes as a whole, and sorts
/// where it has to. What becomes pending during a flush is called in it, too (`triggered`), or in
/// the next one where it has run already (`later`, T4).
struct DeliveryQueue {
  private var queue = RawList<WatcherRef>()
  private var isSorted = true
  /// The watchers that the flush under way has taken.
  private var current = RawList<WatcherRef>()
  /// How many watchers of `current` had their turn.
  private var position = 0
  private var triggered = WatcherHeap()
  private var later = RawList<WatcherRef>()
  /// Watchers that wait for the next turn of the loop (`Receiver.waitsForNextTurn`).
  private var held = RawList<WatcherRef>()
  private(set) var isFlushing = false
  /// Whether the code that runs for a watcher has found nothing to call it for.
  private var isIdleCall = false
  /// The number of the flush under way, or of the last one.
  private var number: UInt64 = 0
  /// The number of the last flush of the turn before.
  private var numberBeforeTurn: UInt64 = 0

  /// True where no watcher waits for the next flush.
  @inline(__always) var isEmpty: Bool { queue.isEmpty }
  var count: Int { queue.count + triggered.count + later.count + held.count }
  var hasHeld: Bool { !held.isEmpty }

  /// Adds a watcher that is not in the queue.
  @inline(__always)
  mutating func add(_ watcher: WatcherRef) {
    if isFlushing {
      if watcher.pointee.lastFlush == number {
        later.append(watcher)
      } else {
        triggered.push(watcher)
      }
    } else {
      if let last = queue.last, last.pointee.order > watcher.pointee.order { isSorted = false }
      queue.append(watcher)
    }
  }

  /// How many flushes the turn has had, the one under way included.
  var flushesOfTurn: Int { Int(number - numberBeforeTurn) }

  mutating func endTurn() { numberBeforeTurn = number }

  mutating func beginFlush() {
    number += 1
    isFlushing = true
    sort()
    swap(&queue, &current)
    position = 0
  }

  private mutating func sort() {
    if !isSorted { queue.sort { $0.pointee.order < $1.pointee.order } }
    isSorted = true
  }

  /// The watcher whose turn it is; nil at the end of the flush.
  @inline(__always)
  mutating func next() -> WatcherRef? {
    let isLast = position == current.count
    if let other = triggered.first, isLast || other.pointee.order < current[position].pointee.order
    {
      return triggered.pop()
    }
    if isLast { return nil }
    position += 1
    return current[position - 1]
  }

  /// The watcher is called in the flush under way: what it triggers for itself waits for the next
  /// one.
  ///
  /// True where it had nothing to be called for in this flush before.
  @inline(__always)
  func noteCall(of watcher: WatcherRef) -> Bool {
    defer { watcher.pointee.lastFlush = number }
    return watcher.pointee.lastFlush == number | Self.idle
  }

  /// The code that runs for a watcher has found nothing to call it for.
  mutating func noteIdleCall() { isIdleCall = true }

  /// Whether the call that has just returned found nothing to call its watcher for.
  @inline(__always)
  mutating func takeIdleCall() -> Bool {
    defer { isIdleCall = false }
    return isIdleCall
  }

  /// What others trigger later for the watcher, which had nothing to be called for, belongs to the
  /// flush under way.
  ///
  /// To be called once in a flush, or what compares values of scripts may go on for ever.
  func allowCall(of watcher: WatcherRef) { watcher.pointee.lastFlush = number | Self.idle }

  /// Marks the number of a flush in which a watcher had nothing to be called for.
  private static let idle: UInt64 = 1 << 63

  /// What had no turn waits for the next flush.
  mutating func endFlush() {
    while position < current.count {
      later.append(current[position])
      position += 1
    }
    while let watcher = triggered.pop() { later.append(watcher) }
    current.removeAll()
    isFlushing = false
    if later.isEmpty { return }
    // Nothing else can be in the queue: during a flush all watchers are added to `triggered` or
    // `later`.
    swap(&queue, &later)
    isSorted = false
  }

  /// The watcher that the flush has just taken waits for the next turn of the loop.
  mutating func hold(_ watcher: WatcherRef) { held.append(watcher) }

  /// A turn is over: what waits for the next one is in the queue.
  mutating func releaseHeld() {
    while let watcher = held.popLast() { queue.append(watcher) }
    isSorted = false
  }

  /// Takes out the watchers that wait for the next flush, or turn, in order.
  mutating func takeAll() -> [WatcherRef] {
    releaseHeld()
    sort()
    var watchers: [WatcherRef] = []
    while let watcher = queue.popLast() { watchers.append(watcher) }
    return watchers.reversed()
  }

  /// Frees the memory of the queue, and calls `end` for the watchers that are still in it.
  mutating func free(_ end: (WatcherRef) -> Void) {
    while let watcher = triggered.pop() { end(watcher) }
    while let watcher = later.popLast() { end(watcher) }
    while let watcher = held.popLast() { end(watcher) }
    while let watcher = queue.popLast() { end(watcher) }
    queue.free()
    current.free()
    later.free()
    held.free()
    triggered.free()
  }
}
