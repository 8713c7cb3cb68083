extension ObservationCore {
  /// One engine serves every kind of observed object of a loop; it holds no values and is not
  /// generic.
  ///
  /// Public only by name: programs use `Loop`. Confined to the loop's thread; takes no lock. The
  /// operations are in slices of this type: making nodes and watchers here, wiring, writes,
  /// immediate calls, flushing and endings in their own files.
  @_documentation(visibility: internal)
  public final class Engine {
    /// Where its loop lives.
    let home: LoopHome
    /// Where other threads leave messages for this engine's loop.
    package let inbox: Inbox
    @exclusivity(unchecked) package var limits = EngineLimits()

    let records = Records()

    @exclusivity(unchecked) var watchers = WatcherTable()
    @exclusivity(unchecked) var nodes = NodeList()
    @exclusivity(unchecked) var waitingNodes = WaitingNodes()
    @exclusivity(unchecked) var quietSlots = QuietSlots()

    @exclusivity(unchecked) var delivery = DeliveryQueue()
    /// What hooks are to be told when the operation under way is done.
    @exclusivity(unchecked) var hookCalls = HookCalls()

    let immediates = ImmediateCalls()
    let doubts = Doubts()
    let operations = Operations()
    @exclusivity(unchecked) var heldModels = HeldModels()

    /// The program is about to end: what watchers trigger of themselves is not called any more.
    @exclusivity(unchecked) package var isEnding = false

    /// Observers may have died without anybody having noticed; looked for when the turn ends.
    @exclusivity(unchecked) package var hasOrphans = false

    // Lazy properties.
    let invalidation = Invalidation()
    /// An object was met that another loop observes.
    @exclusivity(unchecked) package var hasMetForeign = false
    /// Links of watchers whose dependencies are being brought up to date.
    @exclusivity(unchecked) var taken = RawList<LinkRef>()
    @exclusivity(unchecked) var settling = SettlingList()
    @exclusivity(unchecked) var computations = Computations()
    @exclusivity(unchecked) var stack = ThreadStack()
    @exclusivity(unchecked) var versions = Versions()
    let toldValues = ToldValues()
    let tracking = Tracking()

    @exclusivity(unchecked) var recorders = Recorders()
    /// Told when the first watcher of a turn becomes pending.
    @exclusivity(unchecked) var onPending: (() -> Void)?
    /// Errors that nobody can be told by a throw (T4, T9).
    @exclusivity(unchecked) package var onError: ((EngineError) -> Void)?
    @exclusivity(unchecked) package internal(set) var statistics = EngineStatistics()

    init(inbox: Inbox, home: LoopHome) {
      (self.inbox, self.home) = (inbox, home)
      immediates.engine = self
      toldValues.engine = self
      doubts.engine = self
      invalidation.engine = self
      tracking.engine = self
    }

    deinit {
      // What ended and is still in the queue.
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
      taken.free()
      settling.free()
      computations.free()
    }

    /// Ends every watcher and forgets every node, telling nobody: the loop or the state closes
    /// (L3).
    package func close() {
      forEachWatcher { stop($0) }
      hookCalls.removeAll()
      forEachNode { node in
        node.pointee.isHooked = false
        makeIdle(node)
      }
      // The objects may be observed by another loop now.
      rearmQuietSlots()
      settle()
      letGoOfModels()
    }

    /// The calling code is where the loop lives.
    var isHere: Bool { home.isHere }
    /// The same for a bridge, whose callers may be on any thread.
    package var isHereCheck: @Sendable () -> Bool { { [home] in home.isHere } }

    /// A callback, a hook or a getter is being called, or a batch is open: no flush can begin
    /// (T12).
    package var isOccupied: Bool { occupation != nil }

    /// What code of the program is in the middle of, where no flush can begin.
    package var occupation: String? {
      if !computations.isEmpty || operations.wirings > 0 { return "a getter" }
      if hookCalls.isRunning { return "a hook" }
      if isFlushing || immediates.depth > 0 || operations.isRunning { return "a watcher" }
      return immediates.batchDepth > 0 ? "a batch" : nil
    }

    /// Frees what a watcher holds when the engine itself goes.
    private func discard(_ watcher: WatcherRef) {
      watcher.pointee.root?.pointee.isHooked = false
      while let wire = watcher.pointee.wires { end(wire, of: watcher) }
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

/// An error that has no caller to go to.
package enum EngineError: Error {
  /// These watchers only kept re-triggering themselves for the given number of turns; the calls
  /// were dropped (T4).
  case retriggered(watchers: [String], turns: Int)
  /// Hooks of `object` observed and stopped what made them be called again, too often (T12).
  case hookLoop(object: String, key: String, times: Int)
  /// An immediate watcher set itself off too often; the call was dropped (T9).
  case immediateLoop(watcher: String, times: Int)
  /// An operator met a value that it cannot take (C9); its watcher stays.
  case operand(watcher: String, path: String, operation: Operation, element: Int?, value: String)
  /// A path of this watcher has a misspelt name of an object that came later (P9); it stays.
  case unknownName(watcher: String, message: String)
  /// A registration that another thread asked for failed.
  case registration(message: String)
  /// A computation failed, and nobody has read it (Z8).
  case computation(property: String, message: String)
  /// What this watcher hands on is not of the type that is expected there (K4); it goes on.
  case value(watcher: String, message: String)
}

extension EngineError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .retriggered(let watchers, let turns):
      """
      after \(turns) turns in which watchers did nothing but trigger themselves or each other, \
      these calls were dropped: \(watchers.joined(separator: ", "))
      """
    case .value(let watcher, let message):
      "\(message), handed on by \(watcher)"
    case .unknownName(let watcher, let message):
      "\(message), observed by \(watcher)"
    case .computation(let property, let message):
      "\(property): \(message)"
    case .registration(let message):
      message
    case .hookLoop(let object, let key, let times):
      """
      the hooks of \(object) set each other off \(times) times by observing and stopping, the last \
      time '\(key)'; the call was dropped
      """
    case .immediateLoop(let watcher, let times):
      "the immediate watcher \(watcher) triggered itself \(times) times; the call was dropped"
    case .operand(let watcher, let path, let operation, let element, let value):
      """
      '\(path)', observed by \(watcher): \(element.map { "element \($0)" } ?? "an element") \
      gives \(value) to '@\(operation)', \(operation.expectation)
      """
    }
  }
}
