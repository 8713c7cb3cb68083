internal import Observables

/// The executor for operations of awaited results, on a separate thread.
///
/// A fixture occupies a thread of the pool of Swift's tasks until it is done. If operations needed
/// one too, as many fixtures as there are threads would wait forever.
final class OperationThread: TaskExecutor {
  static let shared = OperationThread()
  private let thread = LoopThread { _ in }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    thread.inbox.post { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
