package import LibC

/// Work of a tool that a loop does while it waits, outside of turns.
///
/// A server keeps nothing running, and changes neither turns nor counts nor virtual time: the
/// inspector answers requests in one. It is called on the loop's thread, between turns.
package protocol LoopServer: AnyObject {
  /// The descriptors to wait for.
  var polled: [pollfd] { get }
  /// The time at which it is called even if no descriptor is ready, in nanoseconds of the monotonic
  /// clock; nil for never.
  var due: UInt64? { get }
  /// Does the work that is ready; `polled` has the entries with their results.
  ///
  /// - Returns: whether code of the program has run.
  func serve(_ polled: ArraySlice<pollfd>) -> Bool
}

extension LoopServer {
  var isDue: Bool { due.map { $0 <= monotonicNanoseconds() } ?? false }
}

extension Loop {
  /// Serves `server` while the loop waits, until it is removed.
  package func add(_ server: any LoopServer) {
    assertOnThread()
    inputs.servers.append(server)
    driven?.ask()
  }

  package func remove(_ server: any LoopServer) { inputs.servers.removeAll { $0 === server } }

  /// `timeout`, or the time until a server is due if that is shorter, in ms; -1 is no limit.
  func limited(_ timeout: Int32) -> Int32 {
    guard timeout != 0, let due = inputs.servers.compactMap(\.due).min() else { return timeout }
    let now = monotonicNanoseconds()
    let wait = Int32(clamping: due > now ? (due - now) / 1_000_000 + 1 : 0)
    return timeout < 0 ? wait : min(timeout, wait)
  }

  /// Calls the servers that are ready or due.
  ///
  /// - Parameter polled: the entries of all servers, in order.
  /// - Returns: whether code of the program has run.
  func serve(_ servers: [any LoopServer], _ counts: [Int], _ polled: ArraySlice<pollfd>) -> Bool {
    var (hasRun, rest) = (false, polled)
    for (server, count) in zip(servers, counts) {
      let entries = rest.prefix(count)
      rest = rest.dropFirst(count)
      guard server.isDue || entries.contains(where: { $0.revents != 0 }),
        inputs.servers.contains(where: { $0 === server })
      else { continue }
      if server.serve(entries) { hasRun = true }
    }
    if hasRun { noteOuterCode() }
    return hasRun
  }
}
