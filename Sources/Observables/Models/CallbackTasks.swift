/// The tasks of an asynchronous callback: one per delivery, and never two at once.
///
/// The tasks run on the loop's thread, so they can use everything that is confined to it. A
/// delivery that arrives while a task runs is remembered and repeated when the task ends. The
/// repetition goes through the watcher's schedule, so pausing and stopping the watcher work as
/// usual. The callback owns this object, which is confined to the loop's thread.
package final class CallbackTasks {
  /// The state shared with a running task, which can outlive the callback.
  private final class State {
    var task: Task<Void, Never>?
    /// Whether a delivery arrived while the task ran.
    var isDue = false
  }

  private let inbox: Inbox
  private let executor: LoopExecutor
  private let state = State()
  private let isOnce: Bool

  package init(in engine: Engine, _ options: WatcherOptions) {
    inbox = engine.inbox
    executor = LoopExecutor(inbox)
    isOnce = options.once
  }

  // The callback is released when its watcher ends. A `once` watcher ends by itself, so its task
  // goes on.
  deinit { if !isOnce { state.task?.cancel() } }

  /// Runs `body` as a task; if a task is running already, the watcher is called again after it.
  package func start(for watcher: Watcher, _ body: @escaping () async throws -> Void) {
    guard state.task == nil else {
      state.isDue = true
      return
    }
    // The loop goes on as long as the task runs.
    inbox.loop?.retain()
    // All three are used on the loop's thread only: the task runs there, except for its calls to
    // other actors.
    nonisolated(unsafe) let (body, state, observer) = (body, state, watcher.observing)
    state.task = Task(executorPreference: executor) { [inbox] in
      var failure: (any Error)?
      do { try await body() } catch { failure = error }
      withExtendedLifetime(observer) {}
      // A cancellation is not reported as a failure.
      if let failure, !(Task.isCancelled && failure is CancellationError) {
        watcher.report(failure)
      }
      state.task = nil
      inbox.loop?.release()
      guard state.isDue else { return }
      state.isDue = false
      watcher.schedule()
    }
  }
}
