import Glibc
import Synchronization

extension Loop {
  /// The loop of an app on the main Dispatch queue (T13): it is made when it is first used, and
  /// lives as long as the process.
  ///
  /// The turn of a write that the app's code makes ends with an item of the queue that the first
  /// write enqueued; timers and messages from other threads are items, too. `run()` is not for this
  /// loop: the app serves the main queue, by `dispatchMain()`, a run loop, or `async` code of its
  /// main function. Callbacks run on the main actor; `MainActor.assumeIsolated` makes that known to
  /// the compiler.
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
    guard isThere.load(ordering: .acquiring), DispatchQueueFunctions.isMain else {
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
  /// The main Dispatch queue of a program that uses Dispatch or Foundation, or has `async` code.
  public static let mainQueue: LoopDriver = {
    guard let queue = DispatchQueueFunctions.shared else {
      preconditionFailure("There is no main queue, as the program doesn't load Dispatch")
    }
    return LoopDriver(isHere: { queue.isMain }) { seconds, work in
      queue.perform(after: seconds, work)
    }
  }()
}

/// The few functions of Dispatch that are needed, looked up at run time: a program that doesn't use
/// Dispatch need not load it.
struct DispatchQueueFunctions: @unchecked Sendable {
  // The functions never change, and may be called on any thread.
  private typealias Work = @convention(c) (UnsafeMutableRawPointer?) -> Void
  private let mainQueue: UnsafeMutableRawPointer
  private let async:
    @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?, Work) -> Void
  private let after:
    @convention(c) (UInt64, UnsafeMutableRawPointer, UnsafeMutableRawPointer?, Work) -> Void
  private let time: @convention(c) (UInt64, Int64) -> UInt64
  private let specific: @convention(c) (UnsafeRawPointer) -> UnsafeMutableRawPointer?

  /// Whether the calling code runs on the main queue, whatever its thread.
  var isMain: Bool { specific(mainQueue) != nil }

  /// Whether there is a main queue, and the calling code runs there.
  static var isMain: Bool { shared?.isMain == true }

  static let shared: DispatchQueueFunctions? = {
    guard let queue = dlsym(nil, "_dispatch_main_q"), let async = dlsym(nil, "dispatch_async_f"),
      let after = dlsym(nil, "dispatch_after_f"), let time = dlsym(nil, "dispatch_time"),
      let specific = dlsym(nil, "dispatch_get_specific"),
      let setSpecific = dlsym(nil, "dispatch_queue_set_specific")
    else { return nil }
    // The queue is marked, so that code can find out whether it runs there; the queue's address is
    // the key.
    unsafeBitCast(
      setSpecific,
      to: (@convention(c) (
        UnsafeMutableRawPointer, UnsafeRawPointer, UnsafeMutableRawPointer?, Work?
      ) -> Void).self)(queue, queue, queue, nil)
    return DispatchQueueFunctions(
      mainQueue: queue,
      async: unsafeBitCast(
        async,
        to: (@convention(c) (
          UnsafeMutableRawPointer, UnsafeMutableRawPointer?, Work
        ) -> Void).self),
      after: unsafeBitCast(
        after,
        to: (@convention(c) (UInt64, UnsafeMutableRawPointer, UnsafeMutableRawPointer?, Work) ->
          Void)
          .self),
      time: unsafeBitCast(time, to: (@convention(c) (UInt64, Int64) -> UInt64).self),
      specific: unsafeBitCast(
        specific, to: (@convention(c) (UnsafeRawPointer) -> UnsafeMutableRawPointer?).self))
  }()

  func perform(after seconds: Double, _ work: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(QueuedWork(work)).toOpaque()
    let run: Work = { Unmanaged<QueuedWork>.fromOpaque($0!).takeRetainedValue().body() }
    if seconds <= 0 {
      async(mainQueue, context, run)
    } else {
      // A century stands for never, and fits.
      after(time(0, Int64(min(seconds, 3e9) * 1e9)), mainQueue, context, run)
    }
  }
}

private final class QueuedWork {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
