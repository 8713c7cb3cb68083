/// The operations that the engine is in, and what must not change while code of the program runs
/// inside of them.
///
/// While something is taken out of the graph, and while links are made or values are taken along
/// them, no node is freed: objects that die meanwhile wait (`WaitingNodes`).
final class Operations {
  /// How many operations take something out of the graph.
  @exclusivity(unchecked) private var removals = 0
  /// How many operations make links, or take values along them.
  @exclusivity(unchecked) private(set) var wirings = 0
  /// How many operations call a watcher because the program asked for it.
  @exclusivity(unchecked) private var runs = 0
  /// The watcher that the flush is about to call, while its paths are brought up to date.
  @exclusivity(unchecked) private var followed: WatcherRef?

  /// The first error that kept a link of the current watcher from being made.
  @exclusivity(unchecked) private(set) var failure: (any Error)?

  /// True while nodes must not be freed.
  var isBusy: Bool { removals + wirings > 0 }
  /// True while a watcher is called because the program asked for it.
  var isRunning: Bool { runs > 0 }

  @inline(__always)
  func removing<Result>(_ body: () -> Result) -> Result {
    removals += 1
    defer { removals -= 1 }
    return body()
  }

  @inline(__always)
  func wiring<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
    wirings += 1
    defer { wirings -= 1 }
    try body()
  }

  /// Runs what makes links of one watcher; returns why some could not be made.
  @inline(__always)
  func collectingFailure<Failure: Error>(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) -> (any Error)? {
    let outer = failure
    failure = nil
    defer { failure = outer }
    try body()
    return failure
  }

  func noteUnreadable(_ error: any Error) {
    if wirings > 0 { failure = failure ?? error }
  }

  @inline(__always)
  func running(_ body: () -> Void) {
    runs += 1
    defer { runs -= 1 }
    body()
  }

  /// Runs `body`, which brings the paths of `watcher` up to date in the flush.
  ///
  /// Where another list has come to a place on them, an index in the path, such as `2`, is bound
  /// now to the element that is there, and follows it from then on (C4); outside of the flush it
  /// waits (`awaitsFlush`).
  @inline(__always)
  func following<Result>(_ watcher: WatcherRef, _ body: () -> Result) -> Result {
    followed = watcher
    defer { followed = nil }
    return body()
  }

  func isFollowing(_ watcher: WatcherRef) -> Bool { followed == watcher }
}
