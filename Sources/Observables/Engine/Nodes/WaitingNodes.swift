/// Nodes with work to do at the end of the turn or of the operation under way.
///
/// A node keeps its flags (`isIdle`, `isNoted`) after its list was taken, so that its record stays.
/// The code that takes the list clears the flag when the node's turn comes.
struct WaitingNodes {
  /// Nodes with keys, or watchers, that have gone: the node may no longer be observed.
  private var idle: [NodeRef] = []
  /// Whether the last turn deferred some of them to this turn.
  var hasWaited = false
  /// How many buried nodes may be in `idle`; some may have left it already.
  private var buriedCount = 0
  /// Nodes whose objects died during another operation.
  private var dead: [NodeRef] = []
  /// Nodes whose journals have become longer, or have entries that a reader has passed.
  private var noted: [NodeRef] = []

  var hasIdle: Bool { !idle.isEmpty }
  @inline(__always) var hasDead: Bool { !dead.isEmpty }
  var hasNoted: Bool { !noted.isEmpty }

  mutating func noteIdle(_ node: NodeRef) {
    if node.pointee.isIdle || node.isDead { return }
    node.pointee.isIdle = true
    idle.append(node)
  }

  /// Notes that an idle node was buried.
  ///
  /// Once such nodes are half of the list, they are removed and passed to `free`, as a turn may
  /// make and drop any number of objects.
  mutating func noteBuried(_ free: (NodeRef) -> Void) {
    buriedCount += 1
    if buriedCount < 64 || 2 * buriedCount < idle.count { return }
    buriedCount = 0
    idle.removeAll { node in
      guard node.pointee.isBuried else { return false }
      node.pointee.isIdle = false
      free(node)
      return true
    }
  }

  mutating func noteDead(_ node: NodeRef) { dead.append(node) }

  mutating func noteJournal(of node: NodeRef) {
    if node.pointee.isNoted || !node.pointee.isJournaled { return }
    node.pointee.isNoted = true
    noted.append(node)
  }

  mutating func takeIdle() -> [NodeRef] {
    let nodes = idle
    buriedCount = 0
    idle.removeAll(keepingCapacity: nodes.count <= 1024)
    return nodes
  }

  mutating func takeDead() -> NodeRef? { dead.popLast() }

  mutating func takeNoted() -> [NodeRef] {
    let nodes = noted
    noted = []
    return nodes
  }
}
