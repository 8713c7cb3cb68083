import Foundation
import Observables
import Testing

struct IdleLoopTests {
  // T8
  @Test func `a loop thread without work sleeps`() {
    let thread = LoopThread { _ in }
    defer { thread.stop() }
    let times = Shared([Double]())
    let done = DispatchSemaphore(value: 0)
    func note() {
      thread.inbox.post {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        times.withLock { $0.append(Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9) }
        done.signal()
      }
      done.wait()
    }
    note()
    // Nothing signals: the wait gives the other thread this time.
    _ = done.wait(timeout: .now() + 0.2)
    note()
    let used = times.withLock { $0[1] - $0[0] }
    #expect(used < 0.05, "of 0.2 s")
  }
}
