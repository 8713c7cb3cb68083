internal import CMainQueue
import Synchronization

extension Loop {
  /// The loop of an app on the main Dispatch queue (T13): it is made when it is first used, and
  /// lives as long as the process.
  ///
  /// The turn of a write that the app's code makes ends with an item of the queue that the first
  /// write enqueued; timers and messages from other threads are items, too. `run()` is not for this
  /// loop: the app serves the main queue, by `dispatchMain()`, a run loop, or `async` code of its
  /// main function. Callbacks run on the main actor, as jobs of it;
  /// `MainActor.assumeIsolated` makes that known to the compiler.
  @MainActor public static let main: Loop = {
    let loop = Loop(driver: .mainQueue)
    MainQueueLoop.loop = loop
    MainQueueLoop.isThere.store(true, ordering: .releasing)
    return loop
  }()
}

/// Makes the main loop available to code of which the compiler cannot see that it runs on the main
/// actor.
enum MainQueueLoop {
  static let isThere = Atomic(false)
  // The loop is set once, before `isThere`, and only used on the main queue.
  nonisolated(unsafe) static var loop: Loop?

  static var current: Loop? {
    guard isThere.load(ordering: .acquiring), MainQueueWork.isMain else {
      return nil
    }
    return loop
  }

  /// The main loop, made where it is not there yet, for code on the main queue.
  static var made: Loop? {
    MainActor.assumeIsolated { _ = Loop.main }
    return loop
  }
}

extension LoopDriver {
  /// The main Dispatch queue of a program that serves it: by `dispatchMain()`, a run loop, or
  /// `async` code of its main function.
  public static let mainQueue: LoopDriver = LoopDriver(isHere: { MainQueueWork.isMain }) {
    seconds, work in
    MainQueueWork.perform(after: seconds, work)
  }
}

/// What the main queue does for others than a loop that serves it.
enum MainQueueWork {
  /// The queue is marked once, so that code can find out whether it runs there.
  private static let isMarked: Void = cmq_mark()

  /// Whether the calling code runs on the main queue, whatever its thread.
  static var isMain: Bool {
    isMarked
    return cmq_ismain()
  }

  /// Has `work` done by the main actor.
  ///
  /// Not by an item of Dispatch, in which Swift does not see that actor where the queue has left
  /// the first thread: casts to conformances that are isolated to it fail there.
  static func perform(after seconds: Double, _ work: @escaping @Sendable () -> Void) {
    let operation: @MainActor @Sendable () async -> Void = {
      // A century stands for never.
      if seconds > 0 { try? await Task.sleep(nanoseconds: UInt64(min(seconds, 3e9) * 1e9)) }
      work()
    }
    Task.detached(operation: operation)
  }
}
