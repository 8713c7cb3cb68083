/// Runs the parts of tasks on a loop's thread.
///
/// Each part is a message and thus a separate turn. A task does not go on after its loop has ended.
package final class LoopExecutor: TaskExecutor {
  private let inbox: Inbox

  package init(_ inbox: Inbox) { self.inbox = inbox }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    inbox.post { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
