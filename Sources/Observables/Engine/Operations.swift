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
  /// The watcher whose turn it is in the flush.
  @exclusivity(unchecked) private var followed: WatcherRef?

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

  @inline(__always)
  func running(_ body: () -> Void) {
    runs += 1
    defer { runs -= 1 }
    body()
  }

  /// Runs `body` while digits on the paths of `watcher` follow lists that have come (C4).
  @inline(__always)
  func following<Result>(_ watcher: WatcherRef, _ body: () -> Result) -> Result {
    followed = watcher
    defer { followed = nil }
    return body()
  }

  func isFollowing(_ watcher: WatcherRef) -> Bool { followed == watcher }
}
