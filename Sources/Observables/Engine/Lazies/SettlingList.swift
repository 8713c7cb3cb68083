/// The lazy properties that are being brought up to date; the dependencies of a property are above
/// it.
///
/// One `settle` may begin inside of another one, when a getter reads a property that cannot wait.
/// Each `settle` processes only the entries that it has added itself: its level.
struct SettlingList {
  struct Level {
    /// The index in the list where the level begins.
    fileprivate var base = 0
    /// The property that has just left the level: the property that waits for it continues next.
    fileprivate var done: WatcherRef?
  }

  private var list = RawList<WatcherRef>()
  private var level = Level()
  /// The number of the operation under way, or of the last one: from the first level to its end.
  private var operation: UInt64 = 0

  @inline(__always) var isEmpty: Bool { list.isEmpty }
  @inline(__always) var count: Int { list.count }

  mutating func beginOperation() { operation += 1 }

  // MARK: Levels

  /// Begins a level; returns the enclosing one.
  @inline(__always)
  mutating func beginLevel() -> Level {
    let outer = level
    level = Level(base: list.count)
    return outer
  }

  /// Ends a level; returns the property that has left it last.
  @inline(__always)
  mutating func endLevel(_ outer: Level) -> WatcherRef? {
    let done = level.done
    level = outer
    return done
  }

  /// The property of this level whose turn it is.
  @inline(__always)
  var top: WatcherRef? { list.count > level.base ? list.last : nil }

  @inline(__always)
  mutating func push(_ lazy: WatcherRef) {
    lazy.lazyState.pointee.listings += 1
    list.append(lazy)
  }

  /// Reverses the order of the properties from `index` on.
  mutating func reverse(from index: Int) {
    var (first, last) = (index, list.count - 1)
    while first < last {
      list.swap(first, last)
      (first, last) = (first + 1, last - 1)
    }
  }

  /// Removes the property on top, which needs no more work; the property that waits for it
  /// continues.
  @inline(__always)
  mutating func pop() { level.done = list.popLast() }

  /// Returns the property that has just left, once.
  @inline(__always)
  mutating func takeDone() -> WatcherRef? {
    let done = level.done
    level.done = nil
    return done
  }

  /// The properties that wait for one another, beginning with the first requested one.
  var chain: [WatcherRef] {
    // Other properties on the list wait for their turn, not for one another.
    (0..<list.count).filter { list[$0].isUnderWay || $0 == list.count - 1 }.map { list[$0] }
  }

  // MARK: Failures

  /// Notes that a property failed in the operation under way.
  func noteFailure(of lazy: WatcherRef) { lazy.lazyState.pointee.operation = operation }

  /// Whether a property failed in the operation under way, or in the last one.
  func hasFailed(_ lazy: WatcherRef) -> Bool {
    lazy.pointee.status == .failed && lazy.lazyState.pointee.operation == operation
  }

  mutating func free() { list.free() }
}
