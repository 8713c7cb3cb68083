extension ObservationCore {
  /// One engine serves every kind of observed object of a loop; it holds no values and is not
  /// generic.
  ///
  /// Public only by name: programs use `Loop`. Confined to the loop's thread; takes no lock.
  ///
  /// Its rooms (`Room`) have the state of the graph, and do the work.
  @_documentation(visibility: internal)
  public final class Engine: Room {
    /// Where its loop lives.
    let home: LoopHome
    /// How values of any thread know the loop.
    let address: LoopAddress
    /// Where other threads leave messages for this engine's loop.
    package let inbox: Inbox
    package let rooms: Rooms
    /// Who hears of the origins that apply changes.
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
      // The memory of the records, which all the others gave back to it.
      records.free()
      rooms.free()
    }

    /// Ends every watcher and forgets every node, without calling hooks: the loop or the state
    /// closes (L3).
    package func close() {
      watchers.forEach { watchers.stop($0) }
      hooks.removeAll()
      nodes.forEach { node in
        node.pointee.isHooked = false
        nodes.unobserveWhenIdle(node)
      }
      // The objects may be observed by another loop now.
      slots.rearmQuiet()
      nodes.unobserveIdle(isLast: true)
      delivery.letGoOfModels()
    }

    /// True where the calling code runs where the loop lives.
    var isHere: Bool { home.isHere }
    /// The check of `isHere` for a bridge, whose callers may be on any thread.
    package var isHereCheck: @Sendable () -> Bool { { [home] in home.isHere } }

    /// A callback, a hook or a getter is being called, or a batch is open: no flush can begin
    /// (T12).
    package var isOccupied: Bool { occupation != nil }

    /// The operation that code of the program is in, where no flush can begin.
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

/// How often things may happen before they are taken for endless.
package struct EngineLimits {
  /// Turns in a row that only re-trigger watchers (T4).
  package var retriggers = 1000
  /// Calls of an immediate watcher that it sets off itself (T9).
  package var immediates = 100
  /// Native computations that are nested in each other (Z13).
  package var computations = 10_000
}
