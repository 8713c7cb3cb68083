/// What the engine is in the middle of, and what code of the program that runs inside of that must
/// find unchanged.
///
/// While something is taken out of the graph, and while links are made or values are taken along
/// them, no node goes: objects that die meanwhile wait (`WaitingNodes`).
final class Operations {
  /// How many take something out of the graph.
  @exclusivity(unchecked) private var removals = 0
  /// How many make links, or take values along them.
  @exclusivity(unchecked) private(set) var wirings = 0
  /// How many call a watcher because the program asked for it.
  @exclusivity(unchecked) private var runs = 0
  /// The watcher whose turn it is in the flush.
  @exclusivity(unchecked) private var followed: WatcherRef?

  /// Nodes must not go.
  var isBusy: Bool { removals + wirings > 0 }
  /// A watcher is being called that the program asked for.
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

  /// Digits on the paths of `watcher` follow the lists that have come (C4).
  @inline(__always)
  func following<Result>(_ watcher: WatcherRef, _ body: () -> Result) -> Result {
    followed = watcher
    defer { followed = nil }
    return body()
  }

  func isFollowing(_ watcher: WatcherRef) -> Bool { followed == watcher }
}
