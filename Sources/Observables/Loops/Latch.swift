import LibC

/// An event that happens once and that threads can wait for.
///
/// It can be used on any thread.
package final class Latch: Sendable {
  // The state is only used while the mutex is locked. Mutex and condition are the system's.
  private nonisolated(unsafe) let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  private struct State {
    var mutex = pthread_mutex_t()
    var condition = pthread_cond_t()
    var isOpen = false

    /// Waits for the condition until a time of the monotonic clock; returns an error or 0.
    mutating func wait(until deadline: UInt64) -> CInt {
      #if canImport(Darwin)
        // Conditions have no choice of clocks there.
        let now = monotonicNanoseconds()
        var time = timespec(nanoseconds: deadline > now ? deadline - now : 0)
        return pthread_cond_timedwait_relative_np(&condition, &mutex, &time)
      #else
        var time = timespec(nanoseconds: deadline)
        return pthread_cond_timedwait(&condition, &mutex, &time)
      #endif
    }
  }

  package init() {
    state.initialize(to: State())
    pthread_mutex_init(&state.pointee.mutex, nil)
    #if canImport(Darwin)
      pthread_cond_init(&state.pointee.condition, nil)
    #else
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(&state.pointee.condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(&state.pointee.condition)
    pthread_mutex_destroy(&state.pointee.mutex)
    state.deallocate()
  }

  private func locked<Result>(_ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(&state.pointee.mutex)
    defer { pthread_mutex_unlock(&state.pointee.mutex) }
    return body(&state.pointee)
  }

  package var isOpen: Bool { locked { $0.isOpen } }

  /// Opens the latch; returns false if it is open already.
  @discardableResult
  package func open() -> Bool {
    locked { state in
      if state.isOpen { return false }
      state.isOpen = true
      pthread_cond_broadcast(&state.condition)
      return true
    }
  }

  package func wait() {
    locked { state in
      while !state.isOpen { pthread_cond_wait(&state.condition, &state.mutex) }
    }
  }

  /// Waits until the latch is open, but at most `seconds`; returns whether it is open.
  package func wait(seconds: Double) -> Bool {
    // A century counts as forever, and NaN as no time.
    let deadline = monotonicNanoseconds() + UInt64((seconds > 0 ? min(seconds, 3e9) : 0) * 1e9)
    return locked { state in
      while !state.isOpen {
        let status = state.wait(until: deadline)
        if status == ETIMEDOUT { break }
      }
      return state.isOpen
    }
  }
}

extension timespec {
  fileprivate init(nanoseconds: UInt64) {
    self.init(
      tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}
