/// The watchers to call, in order: earliest registered first, at most once per flush (T3).
///
/// Watchers that become pending between flushes are in `queue`, which a flush takes as a whole and
/// sorts if necessary. A watcher that becomes pending during a flush is called in the same flush
/// (`triggered`), or in the next one if it has already run (`later`, T4).
struct DeliveryQueue {
  private var queue = RawList<WatcherRef>()
  private var isSorted = true
  /// The watchers taken by the flush under way.
  private var current = RawList<WatcherRef>()
  /// How many watchers of `current` have had their turn.
  private var position = 0
  private var triggered = WatcherHeap()
  private var later = RawList<WatcherRef>()
  /// Watchers that wait for the next turn of the loop (`Receiver.waitsForNextTurn`).
  private var held = RawList<WatcherRef>()
  private(set) var isFlushing = false
  /// Whether the current call found no reason to call its watcher.
  private var isIdleCall = false
  /// The number of the flush under way, or of the last one.
  private var number: UInt64 = 0
  /// The number of the last flush of the previous turn.
  private var numberBeforeTurn: UInt64 = 0

  /// True if no watcher waits for the next flush.
  @inline(__always) var isEmpty: Bool { queue.isEmpty }
  var count: Int { queue.count + triggered.count + later.count + held.count }
  var hasHeld: Bool { !held.isEmpty }

  /// All queued watchers, in no order.
  var all: [WatcherRef] {
    let rest = isFlushing ? Array(current.elements[position...]) : []
    return queue.elements + rest + triggered.elements + later.elements + held.elements
  }

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

  /// How many flushes the turn has had, including the one under way.
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

  /// Removes and returns the watcher whose turn it is; nil at the end of the flush.
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

  /// Notes that the watcher is called in the flush under way, so its own triggers wait for the next
  /// flush.
  ///
  /// True if an earlier call in this flush had no reason to call it.
  @inline(__always)
  func noteCall(of watcher: WatcherRef) -> Bool {
    defer { watcher.pointee.lastFlush = number }
    return watcher.pointee.lastFlush == number | Self.idle
  }

  /// Notes that the current call found no reason to call its watcher.
  mutating func noteIdleCall() { isIdleCall = true }

  /// Whether the call that has just returned found no reason to call its watcher.
  @inline(__always)
  mutating func takeIdleCall() -> Bool {
    defer { isIdleCall = false }
    return isIdleCall
  }

  /// Lets the flush under way call the watcher again if others trigger it, as there was no reason
  /// for the last call.
  ///
  /// Used once per flush and watcher: comparing values of scripts could otherwise go on forever.
  func allowCall(of watcher: WatcherRef) { watcher.pointee.lastFlush = number | Self.idle }

  /// Marks the number of a flush in which there was no reason to call the watcher.
  private static let idle: UInt64 = 1 << 63

  /// Ends the flush; watchers that had no turn wait for the next one.
  mutating func endFlush() {
    while position < current.count {
      later.append(current[position])
      position += 1
    }
    while let watcher = triggered.pop() { later.append(watcher) }
    current.removeAll()
    isFlushing = false
    if later.isEmpty { return }
    // The queue is empty here: during a flush all watchers are added to `triggered` or `later`.
    swap(&queue, &later)
    isSorted = false
  }

  /// Makes the watcher that the flush has just taken wait for the next turn of the loop.
  mutating func hold(_ watcher: WatcherRef) { held.append(watcher) }

  /// Queues the watchers that wait for the next turn, when a turn is over.
  mutating func releaseHeld() {
    while let watcher = held.popLast() { queue.append(watcher) }
    isSorted = false
  }

  /// Removes and returns, in order, the watchers that wait for the next flush or turn.
  mutating func takeAll() -> [WatcherRef] {
    releaseHeld()
    sort()
    var watchers: [WatcherRef] = []
    while let watcher = queue.popLast() { watchers.append(watcher) }
    return watchers.reversed()
  }

  /// Frees the memory of the queue, and calls `end` for each watcher that is still in it.
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
