/// The tasks of an asynchronous callback: one for each delivery, and never two at once.
///
/// The tasks run on the loop's thread, and so may use what belongs to it. A delivery that comes
/// while one runs is remembered, and made again when that is over: the watcher is scheduled, so
/// that pausing and stopping it mean what they mean otherwise. Owned by the callback, and confined
/// to the loop's thread.
package final class CallbackTasks {
  /// The state that a running task shares, which the callback may not outlive.
  private final class State {
    var task: Task<Void, Never>?
    /// There was a delivery while the task ran.
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

  // The callback goes when its watcher ends. That of a watcher that ends after one call has not
  // been stopped by anyone.
  deinit { if !isOnce { state.task?.cancel() } }

  /// Runs `body` as a task, or, where one is running, has the watcher called again after that.
  package func start(for watcher: Watcher, _ body: @escaping () async throws -> Void) {
    guard state.task == nil else {
      state.isDue = true
      return
    }
    // The loop goes on as long as the task runs.
    inbox.loop?.retain()
    // All three are used on the loop's thread only: the task runs there, except for calls that its
    // closure makes to other actors.
    nonisolated(unsafe) let (body, state, observer) = (body, state, watcher.observing)
    state.task = Task(executorPreference: executor) { [inbox] in
      var failure: (any Error)?
      do { try await body() } catch { failure = error }
      withExtendedLifetime(observer) {}
      // A task that was cancelled says so itself, or is asked for nothing more.
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
