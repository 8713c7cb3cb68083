extension ObservationCore {
  /// The engine of one loop, which serves every kind of observed object.
  ///
  /// It holds no values and is not generic. Its rooms (`Room`) hold the state of the graph and do
  /// the work.
  ///
  /// Public only by name: programs use `Loop`. Confined to the loop's thread; takes no lock.
  @_documentation(visibility: internal)
  public final class Engine: Room {
    /// The thread, or the place known to its driver, where the loop runs.
    let home: LoopHome
    /// The address by which values on any thread find the loop.
    let address: LoopAddress
    /// Where other threads leave messages for this engine's loop.
    package let inbox: Inbox
    package let rooms: Rooms
    /// The listeners for origins that apply changes.
    package let origins = ChangeOrigins()

    init(inbox: Inbox) {
      (self.inbox, home, address, rooms) = (inbox, inbox.home, inbox.address, Rooms())
      rooms.open(for: self)
    }

    deinit {
      // Watchers that have ended may still be in the queue.
      delivery.free()
      watchers.forEach { watcher in
        // No hook is called for the paths that end here.
        watcher.pointee.root?.pointee.isHooked = false
        while let wire = watcher.pointee.wires.first { wiring.end(wire, of: watcher) }
        records.end(watcher)
      }
      slots.free()
      nodes.free()
      watchers.free()
      comparisons.free()
      invalidation.free()
      settling.free()
      computing.free()
      dependents.free()
      tracking.free()
      // Last: the other rooms have given their records back.
      records.free()
      rooms.free()
    }

    /// Ends every watcher and forgets every node, without calling hooks: the loop or the state
    /// closes (L3).
    package func close() {
      deliveredValues.forgetAll()
      watchers.forEach { watchers.stop($0) }
      hooks.removeAll()
      nodes.forEach { node in
        node.pointee.isHooked = false
        nodes.unobserveWhenIdle(node)
      }
      // Another loop may observe the objects from now on.
      slots.rearmQuiet()
      nodes.unobserveIdle(isLast: true)
      delivery.letGoOfObjects()
    }

    /// True if the caller runs where the loop runs.
    var isHere: Bool { home.isHere }
    /// `isHere` as a function, for a bridge whose callers may be on any thread.
    package var isHereCheck: @Sendable () -> Bool { { [home] in home.isHere } }

    /// True if no flush can begin (T12), because a callback, hook or getter is running, or a batch
    /// or transaction is open.
    package var isOccupied: Bool { occupation != nil }

    /// The operation under way that prevents a flush; nil if a flush can begin.
    package var occupation: String? {
      if computing.isUnderWay || operations.wirings > 0 { return "a getter" }
      if hooks.isRunning { return "a hook" }
      if delivery.isFlushing || immediates.depth > 0 || operations.isRunning { return "a watcher" }
      if transactions.isOpen { return "a transaction" }
      return immediates.batchDepth > 0 ? "a batch" : nil
    }

    package func report(_ error: EngineError) { reports.report(error) }
  }
}

/// Limits above which a repetition counts as endless.
package struct EngineLimits {
  /// Turns in a row in which watchers only re-trigger each other (T4).
  package var retriggers = 1000
  /// Calls of an immediate watcher that its own callback caused (T9), and hooks in a row (T12).
  package var immediates = 100
  /// Native computations nested in each other (Z13).
  package var computations = 10_000
}
