/// The engine's operations under way, and the guarantees that hold while they run code of the
/// program.
///
/// No node is freed while an operation removes records from the graph, makes links or takes values
/// along them. Objects that die during such an operation wait (`WaitingNodes`).
package struct Operations: Room {
  package let rooms: Rooms

  struct State {
    /// How many operations are removing records from the graph.
    fileprivate var removals = 0
    /// How many operations are making links or taking values along them.
    fileprivate var wirings = 0
    /// How many operations are calling a watcher because the program asked for it.
    fileprivate var runs = 0
    /// The watcher that the flush is about to call, while its paths are brought up to date.
    fileprivate var followed: WatcherRef?
    /// The first error that prevented a link of the current watcher from being made.
    fileprivate var failure: (any Error)?
    #if DEBUG
      fileprivate var steps = 0
    #endif
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.operations) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.operations)
    }
  }

  /// How many operations are making links or taking values along them.
  var wirings: Int { state.wirings }
  /// The first error that prevented a link of the current watcher from being made.
  var failure: (any Error)? { state.failure }

  // MARK: Counting

  #if DEBUG
    /// How many links were examined, properties brought up to date, and watchers looked at.
    ///
    /// Tests compare it for graphs of different sizes.
    package var steps: Int { state.steps }
  #endif

  /// Counts a step of a loop over links, properties or watchers, in debug builds.
  @inline(__always)
  func countStep() {
    #if DEBUG
      state.steps += 1
    #endif
  }

  // MARK: Operations under way

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

  /// Runs `body`, which makes links of one watcher; returns the first error that prevented a link.
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

  /// Notes that memory was too short to read an object on a path, or that a limit was reached.
  ///
  /// A registration then fails, and an existing watcher ends or starts over.
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
  /// If a list on such a path was replaced, an index in the path, such as `2`, now binds to the
  /// element at that position and follows it from then on (C4). Outside of the flush the index
  /// waits (`awaitsFlush`).
  @inline(__always)
  func following<Result>(_ watcher: WatcherRef, _ body: () -> Result) -> Result {
    state.followed = watcher
    defer { state.followed = nil }
    return body()
  }

  func isFollowing(_ watcher: WatcherRef) -> Bool { state.followed == watcher }
}
