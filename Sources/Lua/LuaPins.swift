import Synchronization

/// The slots through which Swift keeps Lua objects alive.
///
/// The slots are confined to the thread of their state, except for `release(_:)`.
package final class LuaPins: Sendable {
  private struct Released {
    var slots: [CInt] = []
    var isOpen = true
  }

  private let released = Mutex(Released())
  private let hasReleased = Atomic(false)

  // The reference is written when the state is made and closed, and read with its handles, always
  // on the state's thread.
  package nonisolated(unsafe) unowned(unsafe) var state: LuaState?
  // The list is used only on the state's thread.
  nonisolated(unsafe) private var free: [CInt] = []
  nonisolated(unsafe) private(set) var capacity: CInt = 0

  /// Frees a slot; callable on any thread, even after the state was closed.
  func release(_ slot: CInt) {
    released.withLock { released in
      if released.isOpen { released.slots.append(slot) }
    }
    hasReleased.store(true, ordering: .releasing)
  }

  /// An unused slot, or nil if a new one has to be made.
  func takeFree() -> CInt? { free.popLast() }

  func add(_ slots: ClosedRange<CInt>) {
    capacity = slots.upperBound
    free.append(contentsOf: slots.reversed())
  }

  /// The slots that were freed since the last call.
  func takeReleased() -> [CInt] {
    guard hasReleased.load(ordering: .relaxed) else { return [] }
    hasReleased.store(false, ordering: .relaxed)
    return released.withLock { released in
      let slots = released.slots
      released.slots = []
      return slots
    }
  }

  func recycle(_ slot: CInt) { free.append(slot) }

  func close() {
    state = nil
    released.withLock { released in
      released.isOpen = false
      released.slots = []
    }
  }
}

/// A Lua object kept alive.
///
/// A pin never calls Lua when it is freed.
package final class LuaPin: Sendable {
  package let pins: LuaPins
  package let slot: CInt
  /// The address of the object, which is unique while the pin lives.
  package let address: UInt
  /// The number of the sandbox whose script gave the object to Swift; 0 for the host.
  let sandbox: UInt32

  init(pins: LuaPins, slot: CInt, address: UInt, sandbox: UInt32) {
    (self.pins, self.slot, self.address, self.sandbox) = (pins, slot, address, sandbox)
  }

  deinit { pins.release(slot) }

  /// The state of the object.
  ///
  /// - Throws: `closed`.
  package var state: LuaState {
    get throws(LuaError) {
      guard let state = pins.state else { throw .closed }
      return state
    }
  }

  /// Runs `body`, which calls code of the object's sandbox, on the account of that sandbox.
  ///
  /// - Throws: `closed`, and errors of `body`.
  package func entered<Result>(
    _ body: () throws(LuaError) -> Result
  ) throws(LuaError) -> Result {
    let state = try state
    guard sandbox != 0, let turns = state.turns else { return try body() }
    return try turns.enter(sandbox, body)
  }
}

extension LuaPin: Hashable {
  package static func == (a: LuaPin, b: LuaPin) -> Bool {
    a === b || (a.address == b.address && a.pins === b.pins)
  }
  package func hash(into hasher: inout Hasher) { hasher.combine(address) }
}
