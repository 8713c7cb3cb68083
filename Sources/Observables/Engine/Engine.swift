extension ObservationCore {
  /// One engine serves every kind of observed object of a loop; it holds no values and is not
  /// generic.
  ///
  /// Public only by name: programs use `Loop`. Confined to the loop's thread; takes no lock.
  ///
  /// It is made of rooms, each of which has state that is private to it: a class where code of the
  /// program may run in its methods, else a struct, which no call can re-enter. The operations that
  /// need several rooms are in slices of this type.
  @_documentation(visibility: internal)
  public final class Engine {
    /// Where its loop lives.
    let home: LoopHome
    /// How values of any thread know the loop.
    let address: LoopAddress
    /// Where other threads leave messages for this engine's loop.
    package let inbox: Inbox
    @exclusivity(unchecked) package var limits = EngineLimits()

    // The graph.
    let records = Records()
    @exclusivity(unchecked) var watchers = WatcherTable()
    @exclusivity(unchecked) var nodes = RecordList<Node>()
    @exclusivity(unchecked) var waitingNodes = WaitingNodes()
    @exclusivity(unchecked) var quietSlots = QuietSlots()
    /// An object was met that another loop observes.
    @exclusivity(unchecked) package var hasMetForeign = false
    /// Observers may have died without having been noticed; looked for when the turn ends.
    @exclusivity(unchecked) package var hasOrphans = false

    // What is under way, and what is called.
    let operations = Operations()
    @exclusivity(unchecked) var delivery = DeliveryQueue()
    let immediates = ImmediateCalls()
    let comparisons = PendingComparisons()
    @exclusivity(unchecked) var hookCalls = HookCalls()
    @exclusivity(unchecked) var transactions = Transactions()
    @exclusivity(unchecked) var heldModels = HeldModels()
    /// How many rounds in a row had triggered watchers again when the last turn ended (T4), and
    /// whether the present turn goes on with these rounds.
    @exclusivity(unchecked) var heldRounds = 0
    @exclusivity(unchecked) package var goesOn = false
    /// Who receives the innermost call of a watcher that is under way; nil outside of calls.
    @exclusivity(unchecked) package var callee: UnsafeMutableRawPointer?
    /// The program is about to end: what watchers trigger of themselves is not called any more.
    @exclusivity(unchecked) package var isEnding = false

    // Lazy properties.
    @exclusivity(unchecked) var invalidSlots = InvalidSlots()
    @exclusivity(unchecked) var settling = SettlingList()
    @exclusivity(unchecked) var computations = Computations()
    @exclusivity(unchecked) var stack = ThreadStack()
    let tracking = Tracking()
    @exclusivity(unchecked) var versions = Versions()
    let deliveredValues = DeliveredValues()
    @exclusivity(unchecked) var taken = TakenLinks()

    /// Objects that are leaves for `**` from the next flush on.
    @exclusivity(unchecked) var opaqueNodes: [NodeRef] = []

    // Code that is notified: recorders, the loop, and the handler of errors.
    @exclusivity(unchecked) var recorders = Recorders()
    /// Called when the first watcher of a turn becomes pending.
    @exclusivity(unchecked) var onPending: (() -> Void)?
    /// How many writes wait for a flush, as they were made where no code of the program may run;
    /// nil where there never are any.
    @exclusivity(unchecked) package var waitingWrites: UnsafePointer<CInt>?
    /// Reports them.
    @exclusivity(unchecked) package var reportWaitingWrites: (() -> Void)?
    /// Called with errors that cannot be thrown to a caller (T4, T9).
    @exclusivity(unchecked) package var onError: ((EngineError) -> Void)?
    @exclusivity(unchecked) package internal(set) var statistics = EngineStatistics()
    /// The number of the turn under way, in memory that a bridge without Swift can read.
    ///
    /// What is triggered while a turn ends belongs to it.
    package let turnNumber: UnsafeMutablePointer<UInt64>

    init(inbox: Inbox) {
      (self.inbox, home, address) = (inbox, inbox.home, inbox.address)
      turnNumber = .allocate(capacity: 1)
      turnNumber.initialize(to: 1)
      immediates.engine = self
      deliveredValues.engine = self
      comparisons.engine = self
      tracking.engine = self
    }

    deinit {
      // Watchers that have ended may still be in the queue.
      delivery.free { if !$0.pointee.isActive { records.end($0) } }
      forEachWatcher { discard($0) }
      while let slot = quietSlots.take() { if slot.pointee.isDead { records.end(slot) } }
      quietSlots.free()
      let idleNodes = waitingNodes.takeIdle()
      for node in waitingNodes.takeNoted() where node.pointee.isBuried && !node.pointee.isIdle {
        records.end(node)
      }
      for node in idleNodes where node.pointee.isBuried { records.end(node) }
      forEachNode { node in
        node.forEachSlot { records.end($0) }
        records.end(node)
      }
      watchers.free()
      invalidSlots.free()
      taken.free()
      settling.free()
      computations.free()
      turnNumber.deallocate()
    }

    /// Ends every watcher and forgets every node, without calling hooks: the loop or the state
    /// closes (L3).
    package func close() {
      forEachWatcher { stop($0) }
      hookCalls.removeAll()
      forEachNode { node in
        node.pointee.isHooked = false
        unobserveWhenIdle(node)
      }
      // The objects may be observed by another loop now.
      rearmQuietSlots()
      unobserveIdle(isLast: true)
      letGoOfModels()
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
      if !computations.isEmpty || operations.wirings > 0 { return "a getter" }
      if hookCalls.isRunning { return "a hook" }
      if isFlushing || immediates.depth > 0 || operations.isRunning { return "a watcher" }
      if transactions.isOpen { return "a transaction" }
      return immediates.batchDepth > 0 ? "a batch" : nil
    }

    /// Frees what a watcher holds when the engine itself goes.
    private func discard(_ watcher: WatcherRef) {
      watcher.pointee.root?.pointee.isHooked = false
      while let wire = watcher.pointee.wires.first { end(wire, of: watcher) }
      records.end(watcher)
    }
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

/// Counters for `stats`.
package struct EngineStatistics {
  package var turns = 0
  package var calls = 0
  package var watchers = 0
  package var nodes = 0
  package var errors = 0
}
