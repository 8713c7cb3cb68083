import LibC

/// The clock of a loop.
public enum LoopClock: Sendable {
  /// The system's monotonic clock; an idle loop sleeps.
  case system
  /// Virtual time, for tests: an idle loop jumps to its next timer, and time passes only when
  /// nothing else is left to do.
  case virtual
}

/// Seconds on the system's monotonic clock.
func monotonicSeconds() -> Double { Double(monotonicNanoseconds()) * 1e-9 }

/// Nanoseconds on the same clock.
package func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
