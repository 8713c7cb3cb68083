internal import Observables

/// The executor of the operations of awaited results, on a thread of its own.
///
/// A fixture keeps a thread of the pool that Swift's tasks share until it is done. If operations
/// needed one, too, as many fixtures as there are threads would wait for ever.
final class OperationThread: TaskExecutor {
  static let shared = OperationThread()
  private let thread = LoopThread { _ in }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    thread.inbox.post { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
