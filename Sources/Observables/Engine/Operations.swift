/// The operations that the engine is in, and what must not change while code of the program runs
/// inside of them.
///
/// While something is taken out of the graph, and while links are made or values are taken along
/// them, no node is freed: objects that die meanwhile wait (`WaitingNodes`).
package struct Operations: Room {
  package let rooms: Rooms

  struct State {
    /// How many operations take something out of the graph.
    fileprivate var removals = 0
    /// How many operations make links, or take values along them.
    fileprivate var wirings = 0
    /// How many operations call a watcher because the program asked for it.
    fileprivate var runs = 0
    /// The watcher that the flush is about to call, while its paths are brought up to date.
    fileprivate var followed: WatcherRef?
    /// The first error that kept a link of the current watcher from being made.
    fileprivate var failure: (any Error)?
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.operations) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.operations)
    }
  }

  /// How many operations make links, or take values along them.
  var wirings: Int { state.wirings }
  /// The first error that kept a link of the current watcher from being made.
  var failure: (any Error)? { state.failure }

  /// True while nodes must not be freed.
  var isBusy: Bool { state.removals + state.wirings > 0 }
  /// True while a watcher is called because the program asked for it.
  var isRunning: Bool { state.runs > 0 }

  @inline(__always)
  func removing<Result>(_ body: () -> Result) -> Result {
    state.removals += 1
    defer { state.removals -= 1 }
    return body()
  }

  @inline(__always)
  func wiring<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
    state.wirings += 1
    defer { state.wirings -= 1 }
    try body()
  }

  /// Runs what makes links of one watcher; returns why some could not be made.
  @inline(__always)
  func collectingFailure<Failure: Error>(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) -> (any Error)? {
    let outer = state.failure
    state.failure = nil
    defer { state.failure = outer }
    try body()
    return state.failure
  }

  /// An object on a path could not be looked at because memory is short: the watcher whose links
  /// are being made ends, and a registration fails.
  package func noteUnreadable(_ error: any Error) {
    if state.wirings > 0 { state.failure = state.failure ?? error }
  }

  @inline(__always)
  func running(_ body: () -> Void) {
    state.runs += 1
    defer { state.runs -= 1 }
    body()
  }

  /// Runs `body`, which brings the paths of `watcher` up to date in the flush.
  ///
  /// Where another list has come to a place on them, an index in the path, such as `2`, is bound
  /// now to the element that is there, and follows it from then on (C4); outside of the flush it
  /// waits (`awaitsFlush`).
  @inline(__always)
  func following<Result>(_ watcher: WatcherRef, _ body: () -> Result) -> Result {
    state.followed = watcher
    defer { state.followed = nil }
    return body()
  }

  func isFollowing(_ watcher: WatcherRef) -> Bool { state.followed == watcher }
}
