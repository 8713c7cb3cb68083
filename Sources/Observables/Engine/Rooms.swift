/// One part of the engine: state that only the room's own file can access, and operations on it.
///
/// A room is one pointer to the memory with the states of all rooms. A call from room to room
/// therefore counts no references; classes would retain and release each other at each step of a
/// write (Decisions/rooms-of-the-engine.md).
package protocol Room {
  var rooms: Rooms { get }
}

/// The rooms of one engine.
package struct Rooms {
  /// The states of the rooms; the fields of each state are private to its room.
  struct Memory {
    let engine: Unmanaged<Engine>
    var limits = EngineLimits()
    var reports = Reports.State()

    var records = Records.State()
    var operations = Operations.State()
    var nodes = Nodes.State()
    var slots = Slots.State()
    var watchers = Watchers.State()
    var wiring = Wiring.State()
    var members = Members.State()

    var delivery = Delivery.State()
    var hooks = Hooks.State()
    var immediates = ImmediateCalls.State()
    var comparisons = PendingComparisons.State()
    var transactions = Transactions.State()

    var lazies = Lazies.State()
    var invalidation = Invalidation.State()
    var settling = Settling.State()
    var computing = Computing.State()
    var dependents = Dependents.State()
    var tracking = Tracking.State()
    var deliveredValues = DeliveredValues.State()

    var recording = Recording.State()
  }

  let memory: UnsafeMutablePointer<Memory>

  init() { memory = .allocate(capacity: 1) }

  /// Called once, before the rooms are used.
  func open(for engine: Engine) {
    memory.initialize(to: Memory(engine: .passUnretained(engine)))
  }

  // The address of a state never changes. These functions are addressors because a coroutine
  // (`_read`) would copy the state in a build without optimizations.
  @inline(__always)
  func address<State>(of state: UnsafePointer<State>) -> UnsafePointer<State> { state }
  @inline(__always)
  func mutableAddress<State>(
    of state: UnsafeMutablePointer<State>
  ) -> UnsafeMutablePointer<State> { state }

  /// Frees the states, after all records.
  func free() {
    memory.deinitialize(count: 1)
    memory.deallocate()
  }
}

extension Room {
  @inline(__always) var engine: Engine {
    rooms.memory.pointee.engine._withUnsafeGuaranteedRef { $0 }
  }
  package var limits: EngineLimits {
    @inline(__always) get { rooms.memory.pointee.limits }
    nonmutating set { rooms.memory.pointee.limits = newValue }
  }
  @inline(__always) package var reports: Reports { Reports(rooms: rooms) }

  @inline(__always) package var records: Records { Records(rooms: rooms) }
  @inline(__always) package var operations: Operations { Operations(rooms: rooms) }
  @inline(__always) package var nodes: Nodes { Nodes(rooms: rooms) }
  @inline(__always) package var slots: Slots { Slots(rooms: rooms) }
  @inline(__always) package var watchers: Watchers { Watchers(rooms: rooms) }
  @inline(__always) package var wiring: Wiring { Wiring(rooms: rooms) }
  @inline(__always) package var members: Members { Members(rooms: rooms) }

  @inline(__always) package var writes: Writes { Writes(rooms: rooms) }
  @inline(__always) package var delivery: Delivery { Delivery(rooms: rooms) }
  @inline(__always) package var hooks: Hooks { Hooks(rooms: rooms) }
  @inline(__always) package var immediates: ImmediateCalls { ImmediateCalls(rooms: rooms) }
  @inline(__always) package var comparisons: PendingComparisons { PendingComparisons(rooms: rooms) }
  @inline(__always) package var transactions: Transactions { Transactions(rooms: rooms) }

  @inline(__always) package var lazies: Lazies { Lazies(rooms: rooms) }
  @inline(__always) package var invalidation: Invalidation { Invalidation(rooms: rooms) }
  @inline(__always) package var settling: Settling { Settling(rooms: rooms) }
  @inline(__always) package var computing: Computing { Computing(rooms: rooms) }
  @inline(__always) package var dependents: Dependents { Dependents(rooms: rooms) }
  @inline(__always) package var tracking: Tracking { Tracking(rooms: rooms) }
  @inline(__always) package var deliveredValues: DeliveredValues { DeliveredValues(rooms: rooms) }

  @inline(__always) package var recording: Recording { Recording(rooms: rooms) }
  @inline(__always) package var inspection: Inspection { Inspection(rooms: rooms) }
}
