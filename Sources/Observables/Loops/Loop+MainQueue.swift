internal import CMainQueue
import Synchronization

extension Loop {
  /// The loop of an app on the main Dispatch queue (T13).
  ///
  /// It is made on first use and lives as long as the process. If the app's code makes a write, the
  /// first write enqueues an item of the queue, which ends the turn. Timers and messages from other
  /// threads are items, too. Don't call `run()` on this loop: the app serves the main queue by
  /// `dispatchMain()`, a run loop, or `async` code of its main function. Callbacks run on the main
  /// actor, as jobs; `MainActor.assumeIsolated` lets the compiler know.
  @MainActor public static let main: Loop = {
    let loop = Loop(driver: .mainQueue)
    MainQueueLoop.loop = loop
    MainQueueLoop.isThere.store(true, ordering: .releasing)
    return loop
  }()
}

/// Makes the main loop available to code that runs on the main actor without the compiler knowing.
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

  /// The main loop, made if necessary; only for code on the main queue.
  static var made: Loop? {
    MainActor.assumeIsolated { _ = Loop.main }
    return loop
  }
}

extension LoopDriver {
  /// The main Dispatch queue of a program that serves it by `dispatchMain()`, a run loop, or
  /// `async` code of its main function.
  public static let mainQueue: LoopDriver = LoopDriver(isHere: { MainQueueWork.isMain }) {
    seconds, work in
    MainQueueWork.perform(after: seconds, work)
  }
}

/// Work on the main queue for loops that don't serve it themselves.
enum MainQueueWork {
  /// The queue is marked once, so that code can find out whether it runs there.
  private static let isMarked: Void = cmq_mark()

  /// Whether the calling code runs on the main queue, whatever its thread.
  static var isMain: Bool {
    isMarked
    return cmq_ismain()
  }

  /// Schedules `work` on the main actor.
  ///
  /// It doesn't use an item of Dispatch. If the queue has left the first thread, Swift doesn't
  /// recognize the main actor in such items, and casts to conformances isolated to it fail there.
  static func perform(after seconds: Double, _ work: @escaping @Sendable () -> Void) {
    let operation: @MainActor @Sendable () async -> Void = {
      // A century counts as never.
      if seconds > 0 { try? await Task.sleep(nanoseconds: UInt64(min(seconds, 3e9) * 1e9)) }
      work()
    }
    Task.detached(operation: operation)
  }
}
