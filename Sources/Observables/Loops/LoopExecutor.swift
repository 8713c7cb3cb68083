/// Runs the parts of tasks on a loop's thread, each as a message, and so in a turn of its own.
///
/// A task does not go on when its loop has ended.
package final class LoopExecutor: TaskExecutor {
  private let inbox: Inbox

  package init(_ inbox: Inbox) { self.inbox = inbox }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    inbox.post { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
