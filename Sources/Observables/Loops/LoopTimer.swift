/// A callback that a loop calls at a certain time, once or repeatedly.
///
/// Each call is a turn of the loop. The timer ends with ``stop()``, or after its call if it doesn't
/// repeat. Dropping it doesn't end it. It is confined to the loop's thread.
public final class LoopTimer {
  /// The time of the next call, on the loop's clock.
  public internal(set) var due: Double
  /// Seconds between calls; nil for a timer that is called once.
  public let interval: Double?
  /// False after ``stop()``, or after the only call.
  public internal(set) var isActive = true
  /// Whether the timer keeps the loop running; in scripts, `unref` sets this to false.
  public var keepsLoopRunning = true {
    didSet { if isActive, oldValue != keepsLoopRunning { loop?.noteReference(of: self) } }
  }
  let sequence: UInt64
  weak var loop: Loop?
  private(set) var body: (() -> Void)?

  init(
    due: Double, interval: Double?, sequence: UInt64, loop: Loop, body: @escaping () -> Void
  ) {
    (self.due, self.interval, self.sequence) = (due, interval, sequence)
    (self.loop, self.body) = (loop, body)
  }

  /// Ends the timer: no call is made after this returns.
  ///
  /// Does nothing if the timer has ended.
  public func stop() {
    guard isActive else { return }
    if keepsLoopRunning { loop?.dropReference() }
    isActive = false
    body = nil
    loop?.engine.recording.run?.endedTimer(sequence)
  }

  func comesBefore(_ other: LoopTimer) -> Bool {
    (due, sequence) < (other.due, other.sequence)
  }
}

/// Timers in the order of their due times, and then of their creation.
struct TimerQueue {
  private var heap = Heap<LoopTimer> { $0.comesBefore($1) }
  /// If there are more timers than this, the stopped ones are removed.
  private var limit = 64

  var first: LoopTimer? {
    mutating get {
      while let first = heap.first, !first.isActive { heap.removeFirst() }
      return heap.first
    }
  }

  mutating func push(_ timer: LoopTimer) {
    heap.insert(timer)
    // Stopped timers stay until they are due, or until there are twice as many timers as were
    // active at the last check. A check at each push would be slow with many timers.
    if heap.count > limit {
      heap.removeAll { !$0.isActive }
      limit = max(64, 2 * heap.count)
    }
  }

  mutating func pop() -> LoopTimer? { heap.removeFirst() }
}
