import LibC
import Synchronization

/// The thread that waits for descriptors on behalf of loops with a driver, which cannot wait
/// themselves.
///
/// It starts when the first such loop waits for a descriptor, and lasts as long as the process. It
/// can be used on any thread.
final class DescriptorThread: Sendable {
  private static let shared = Mutex<DescriptorThread?>(nil)

  /// Returns the thread of the process, and starts it if it does not run yet.
  ///
  /// - Throws: the system's refusal. The next call tries again.
  static func started() throws(SystemRefusal) -> DescriptorThread {
    // The lock takes no closure with a typed error.
    let result: Result<DescriptorThread, SystemRefusal> = shared.withLock { shared in
      if let shared { return .success(shared) }
      do throws(SystemRefusal) {
        let made = try DescriptorThread()
        shared = made
        return .success(made)
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// The descriptors that one loop waits for, and the way to wake it.
  private struct Wait {
    let descriptors: [pollfd]
    let wake: @Sendable () -> Void
  }

  private let waits = Mutex<[UInt64: Wait]>([:])
  private let pipe: WakePipe

  private init() throws(SystemRefusal) {
    pipe = try WakePipe()
    do throws(SystemRefusal) {
      let thread = try startThread { [unowned self] in
        while true { waitOnce() }
      }
      pthread_detach(thread)
    } catch {
      pipe.close()
      throw error
    }
  }

  /// Calls `wake` once, when one of the descriptors is ready or closed; this replaces the previous
  /// wait of the same loop.
  func wait(
    for descriptors: [pollfd], of loop: UInt64, _ wake: @escaping @Sendable () -> Void
  ) {
    let wait = descriptors.isEmpty ? nil : Wait(descriptors: descriptors, wake: wake)
    waits.withLock { $0[loop] = wait }
    pipe.wake()
  }

  private func waitOnce() {
    let current = waits.withLock { Array($0) }
    var polled = [pollfd(fd: pipe.input, events: Int16(POLLIN), revents: 0)]
    for wait in current { polled += wait.value.descriptors }
    guard poll(&polled, timeout: -1) > 0 else { return }
    if polled[0].revents != 0 {
      // The descriptors have changed, so the results may be about a descriptor that was closed.
      pipe.empty()
      return
    }
    var next = 1
    for (loop, wait) in current {
      let end = next + wait.descriptors.count
      defer { next = end }
      guard polled[next..<end].contains(where: { $0.revents != 0 }) else { continue }
      waits.withLock { $0[loop] = nil }
      wait.wake()
    }
  }
}
