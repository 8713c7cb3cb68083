/// Nodes with which something is to be done when the turn ends, or the operation under way.
///
/// A node that is taken out of a list still says that it is in there (`isIdle`, `isNoted`), so that
/// its record stays; the code that takes it out clears the flag when the node's turn comes.
struct WaitingNodes {
  /// Nodes of which something is not observed any longer.
  private var idle: [NodeRef] = []
  /// Whether some of these were left for this turn by the last one.
  var hasWaited = false
  /// How many of these were buried since, and some that are in the list no longer.
  private var buriedCount = 0
  /// Nodes whose objects died while another operation was under way.
  private var dead: [NodeRef] = []
  /// Nodes whose journals may have become longer.
  private var noted: [NodeRef] = []

  var hasIdle: Bool { !idle.isEmpty }
  @inline(__always) var hasDead: Bool { !dead.isEmpty }
  var hasNoted: Bool { !noted.isEmpty }

  mutating func noteIdle(_ node: NodeRef) {
    if node.pointee.isIdle || node.isDead { return }
    node.pointee.isIdle = true
    idle.append(node)
  }

  /// An idle node was buried: where half of the list are such nodes, they are taken out and given
  /// to `free`, as a turn may make and drop any number of objects.
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
