/// Nodes with which something is to be done when the turn ends, or the operation under way.
///
/// A node that is taken out of a list still says that it is in there (`isIdle`, `isNoted`): whoever
/// takes it says otherwise when its turn comes, as its record may go by then.
struct WaitingNodes {
  /// Something of them is not observed any longer.
  private var idle: [NodeRef] = []
  /// Their objects died while something else was going on.
  private var dead: [NodeRef] = []
  /// Their journals may have become longer.
  private var noted: [NodeRef] = []

  var hasIdle: Bool { !idle.isEmpty }
  @inline(__always) var hasDead: Bool { !dead.isEmpty }
  var hasNoted: Bool { !noted.isEmpty }

  mutating func noteIdle(_ node: NodeRef) {
    if node.pointee.isIdle || node.isDead { return }
    node.pointee.isIdle = true
    idle.append(node)
  }

  mutating func noteDead(_ node: NodeRef) { dead.append(node) }

  mutating func noteJournal(of node: NodeRef) {
    if node.pointee.isNoted || !node.pointee.isJournaled { return }
    node.pointee.isNoted = true
    noted.append(node)
  }

  mutating func takeIdle() -> [NodeRef] {
    let nodes = idle
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
