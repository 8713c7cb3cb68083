internal import Observables

/// The executor for operations of awaited results, on a separate thread.
///
/// A fixture occupies a thread of the pool of Swift's tasks until it is done. If operations needed
/// one too, as many fixtures as there are threads would wait forever.
final class OperationThread: TaskExecutor {
  static let shared = OperationThread()
  /// Starts with the first operation.
  ///
  /// `obs-lua --test` runs each file in a copy of its process, made by `fork`. There, threads that
  /// wait for the same lock of Swift's runtime hang, because the runtime still has the number that
  /// the first thread had in the parent.
  private static let thread = LoopThread { _ in }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Self.thread.inbox.post { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
