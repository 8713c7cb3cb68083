/// The getters that are running or waiting for other properties; the innermost last.
struct Computations {
  private var running = RawList<WatcherRef>()
  /// How many computing operations are nested on the stack.
  private(set) var depth = 0
  /// Why running computations are invalid, by the numbers of their properties.
  private var disturbances: [UInt64: Disturbance] = [:]

  @inline(__always) var isEmpty: Bool { running.isEmpty }
  /// The property of the outermost computation.
  var first: WatcherRef? { running.first }
  /// The property whose getter is running; nil if the innermost getter waits.
  var current: WatcherRef? {
    guard let lazy = running.last, lazy.phase == .running else { return nil }
    return lazy
  }

  mutating func nest() { depth += 1 }
  mutating func unnest() { depth -= 1 }

  /// Notes that a getter is called next.
  @inline(__always)
  mutating func begin(_ lazy: WatcherRef) {
    lazy.phase = .running
    lazy.lazyState.pointee.flaw = .none
    running.append(lazy)
  }

  /// Notes that the innermost getter has returned.
  @inline(__always)
  mutating func end(_ lazy: WatcherRef) {
    _ = running.popLast()
    lazy.phase = .idle
  }

  /// Marks the value being computed as invalid; the first reason is kept.
  mutating func disturb(_ lazy: WatcherRef, by disturbance: Disturbance?) {
    if lazy.lazyState.pointee.flaw == .disturbance { return }
    lazy.lazyState.pointee.flaw = .disturbance
    if let disturbance { disturbances[lazy.pointee.id] = disturbance }
  }

  mutating func takeDisturbance(of lazy: WatcherRef) -> Disturbance? {
    disturbances.removeValue(forKey: lazy.pointee.id)
  }

  /// Forgets a property that is no longer lazy.
  mutating func forget(_ lazy: WatcherRef) { disturbances[lazy.pointee.id] = nil }

  mutating func free() { running.free() }
}

/// Why the value that a getter computes is invalid.
enum Disturbance {
  /// The getter wrote to this key, on which its property depends.
  case write(String)
  /// The getter invalidated its property.
  case invalidation
}
