internal import CMainQueue

/// The main Dispatch queue, drained by a loop that owns the main thread, so that `@MainActor` work
/// goes on while the loop waits.
struct MainQueue {
  let descriptor: Int32

  static func isMainThread() -> Bool { cmq_isfirstthread() }

  /// The main queue; nil if the system has no descriptor left for it.
  ///
  /// The next wait tries again.
  static var shared: MainQueue? {
    let descriptor = cmq_descriptor()
    return descriptor < 0 ? nil : MainQueue(descriptor: descriptor)
  }

  func drain() { cmq_drain() }
}
