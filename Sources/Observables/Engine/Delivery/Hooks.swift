/// Calls hooks when the operation under way is done: for keys that got their first watcher or lost
/// their last (W1).
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
    /// Nil when the object died meanwhile.
    var node: NodeRef?
    let slot: SlotRef
    let name: String
    let isObserved: Bool
    /// How many hooks in a row, each causing the next one, have led to this call.
    let generation: Int
  }

  package var isEmpty: Bool { state.calls.isEmpty }
  var count: Int { state.calls.count }
  /// Whether a hook is being called.
  var isRunning: Bool { state.isRunning }

  /// A key of an object was given its first watcher, or lost its last.
  func note(_ slot: SlotRef, _ name: String, isObserved: Bool) {
    if slot.pointee.node.isDead { return }
    state.calls.append(
      Call(
        node: slot.pointee.node, slot: slot, name: name, isObserved: isObserved,
        generation: state.generation))
  }

  /// The next call for an object that is still there; nil where there is none.
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

  /// Drops calls that were noted from `start` on and cancel each other in pairs: the operation took
  /// back what it did.
  ///
  /// Calls that were made already stay.
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
  /// A hook may observe and stop in turn, and is called for that, too; after 100 hooks that each
  /// led to the next, the rest is dropped with an error (T12).
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
