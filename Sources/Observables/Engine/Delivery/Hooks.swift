/// Calls hooks after the operation under way, for keys that got their first watcher or lost their
/// last (W1).
package struct Hooks: Room {
  package let rooms: Rooms

  struct State {
    fileprivate var calls: [Call] = []
    fileprivate var position = 0
    /// The generation of the calls that are noted now.
    fileprivate var generation = 0
    fileprivate var isRunning = false
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.hooks) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.hooks)
    }
  }

  struct Call {
    /// Nil if the object has died since.
    var node: NodeRef?
    let slot: SlotRef
    let name: String
    let isObserved: Bool
    /// How many hooks led to this call, each causing the next one.
    let generation: Int
  }

  package var isEmpty: Bool { state.calls.isEmpty }
  var count: Int { state.calls.count }
  /// Whether a hook is being called.
  var isRunning: Bool { state.isRunning }

  /// Notes that a key of an object got its first watcher, or lost its last.
  func note(_ slot: SlotRef, _ name: String, isObserved: Bool) {
    if slot.pointee.node.isDead { return }
    state.calls.append(
      Call(
        node: slot.pointee.node, slot: slot, name: name, isObserved: isObserved,
        generation: state.generation))
  }

  /// Returns the next call for an object that still exists; nil at the end.
  private func next() -> (node: NodeRef, call: Call)? {
    while state.position < state.calls.count {
      let call = state.calls[state.position]
      state.position += 1
      if let node = call.node, !node.isDead {
        state.generation = call.generation + 1
        return (node, call)
      }
    }
    return nil
  }

  func removeAll() { (state.calls, state.position, state.generation) = ([], 0, 0) }

  /// Drops the calls for an object that is gone.
  func forget(_ node: NodeRef) {
    for index in state.calls.indices where state.calls[index].node == node {
      state.calls[index].node = nil
    }
  }

  /// Drops calls from `start` on that cancel each other in pairs, after an operation has undone its
  /// own effects.
  ///
  /// Calls that were already made stay.
  func cancel(from start: Int) {
    guard max(start, state.position) < state.calls.count else { return }
    var kept: [Call] = []
    for call in state.calls[max(start, state.position)...] {
      if let index = kept.lastIndex(where: {
        $0.slot == call.slot && $0.name == call.name && $0.isObserved != call.isObserved
      }) {
        kept.remove(at: index)
      } else {
        kept.append(call)
      }
    }
    state.calls.replaceSubrange(max(start, state.position)..., with: kept)
  }

  /// Calls the hooks for keys that the finished operation began or ceased to observe (W1).
  ///
  /// A hook may itself observe and stop, which causes further hooks. After 100 hooks that each led
  /// to the next, the remaining calls are dropped with an error (T12).
  package func run() {
    if isEmpty || isRunning { return }
    state.isRunning = true
    var failed: Set<NodeRef> = []
    while let (node, call) = next() {
      if call.generation < limits.immediates {
        node.kind.observedChanged(call.slot, name: call.name, isObserved: call.isObserved)
      } else if failed.insert(node).inserted {
        reports.report(
          .hookLoop(object: node.kind.title(of: node), key: call.name, times: limits.immediates))
      }
    }
    removeAll()
    state.isRunning = false
  }
}
