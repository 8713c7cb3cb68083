/// The getters that are running, or wait for what they read; the innermost last.
struct Computations {
  private var running = RawList<WatcherRef>()
  /// How many operations that compute are nested on the stack.
  private(set) var depth = 0
  /// Why running computations are invalid, by the numbers of their properties.
  private var disturbances: [UInt64: Disturbance] = [:]

  @inline(__always) var isEmpty: Bool { running.isEmpty }
  /// The property whose computation is the outermost one.
  var first: WatcherRef? { running.first }
  /// The property whose getter is running; nil where that waits.
  var current: WatcherRef? {
    guard let lazy = running.last, lazy.phase == .running else { return nil }
    return lazy
  }

  mutating func nest() { depth += 1 }
  mutating func unnest() { depth -= 1 }

  /// A getter is called next.
  @inline(__always)
  mutating func begin(_ lazy: WatcherRef) {
    lazy.phase = .running
    lazy.lazyState.pointee.flaw = .none
    running.append(lazy)
  }

  /// The innermost one has returned.
  @inline(__always)
  mutating func end(_ lazy: WatcherRef) {
    _ = running.popLast()
    lazy.phase = .idle
  }

  /// The value that is being computed is invalid; the first reason is kept.
  mutating func disturb(_ lazy: WatcherRef, by disturbance: Disturbance?) {
    if lazy.lazyState.pointee.flaw == .disturbance { return }
    lazy.lazyState.pointee.flaw = .disturbance
    if let disturbance { disturbances[lazy.pointee.id] = disturbance }
  }

  mutating func takeDisturbance(of lazy: WatcherRef) -> Disturbance? {
    disturbances.removeValue(forKey: lazy.pointee.id)
  }

  /// The property is not lazy any more.
  mutating func forget(_ lazy: WatcherRef) { disturbances[lazy.pointee.id] = nil }

  mutating func free() { running.free() }
}

/// Why the value that a getter computes is invalid.
enum Disturbance {
  /// It wrote to this key, which its property depends on.
  case write(String)
  /// It invalidated its property.
  case invalidation
}
