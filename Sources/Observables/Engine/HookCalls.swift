/// The calls of hooks that are made when the operation under way is done: for keys that got their
/// first watcher or lost their last (W1).
struct HookCalls {
  struct Call {
    /// Nil when the object died meanwhile.
    var node: NodeRef?
    let slot: SlotRef
    let name: String
    let isObserved: Bool
    /// How many hooks in a row, each causing the next one, have led to this call.
    let generation: Int
  }

  private var calls: [Call] = []
  private var position = 0
  /// The generation of the calls that are noted now.
  private var generation = 0
  private(set) var isRunning = false

  var isEmpty: Bool { calls.isEmpty }
  var count: Int { calls.count }

  mutating func append(_ slot: SlotRef, _ name: String, _ isObserved: Bool) {
    calls.append(
      Call(
        node: slot.pointee.node, slot: slot, name: name, isObserved: isObserved,
        generation: generation))
  }

  mutating func begin() { isRunning = true }

  /// The next call for an object that is still there; nil where there is none.
  mutating func next() -> (node: NodeRef, call: Call)? {
    while position < calls.count {
      let call = calls[position]
      position += 1
      if let node = call.node, !node.isDead {
        generation = call.generation + 1
        return (node, call)
      }
    }
    return nil
  }

  mutating func end() {
    removeAll()
    isRunning = false
  }

  mutating func removeAll() { (calls, position, generation) = ([], 0, 0) }

  /// Drops the calls for an object that is gone.
  mutating func forget(_ node: NodeRef) {
    for index in calls.indices where calls[index].node == node { calls[index].node = nil }
  }

  /// Drops calls that were noted from `start` on and cancel each other in pairs: the operation took
  /// back what it did.
  ///
  /// Calls that were made already stay.
  mutating func cancel(from start: Int) {
    guard max(start, position) < calls.count else { return }
    var kept: [Call] = []
    for call in calls[max(start, position)...] {
      if let index = kept.lastIndex(where: {
        $0.slot == call.slot && $0.name == call.name && $0.isObserved != call.isObserved
      }) {
        kept.remove(at: index)
      } else {
        kept.append(call)
      }
    }
    calls.replaceSubrange(max(start, position)..., with: kept)
  }
}

extension Engine {
  func noteObserved(_ slot: SlotRef, _ name: String, _ isObserved: Bool) {
    if !slot.pointee.node.isDead { hookCalls.append(slot, name, isObserved) }
  }

  /// Calls the hooks for keys that the operation that is done now began or ceased to observe (W1).
  ///
  /// A hook may observe and stop in turn, and is called for that, too; after 100 hooks that each
  /// led to the next, the rest is dropped with an error (T12).
  package func runHooks() {
    if hookCalls.isEmpty || hookCalls.isRunning { return }
    hookCalls.begin()
    var failed: Set<NodeRef> = []
    while let (node, call) = hookCalls.next() {
      if call.generation < limits.immediates {
        node.kind.observedChanged(call.slot, name: call.name, isObserved: call.isObserved)
      } else if failed.insert(node).inserted {
        report(
          .hookLoop(object: node.kind.title(of: node), key: call.name, times: limits.immediates))
      }
    }
    hookCalls.end()
  }
}
