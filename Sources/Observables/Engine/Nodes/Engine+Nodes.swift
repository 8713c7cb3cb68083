/// Making nodes, and freeing their records.
extension Engine {
  package func makeNode(kind: NodeKind, object: UnsafeMutableRawPointer) -> NodeRef {
    let node = records.make(
      Node(kind: .passUnretained(kind), engine: .passUnretained(self), object: object))
    nodes.append(node)
    statistics.nodes += 1
    return node
  }

  package func forEachNode(_ body: (NodeRef) -> Void) {
    records.forEach(from: nodes.first, body)
  }

  /// Takes out a node whose object is gone, or observed no longer; its watchers have ended and its
  /// dependents were notified.
  func bury(_ node: NodeRef) {
    nodes.remove(node)
    statistics.nodes -= 1
    node.pointee.isBuried = true
    if !opaqueNodes.isEmpty { opaqueNodes.removeAll { $0 == node } }
    if node.pointee.isIdle {
      waitingNodes.noteBuried { freeIfUnlisted($0) }
    } else {
      freeIfUnlisted(node)
    }
  }

  /// Frees a node unless it is in a list, which frees it when it is worked off.
  func freeIfUnlisted(_ node: NodeRef) {
    if !node.pointee.isIdle, !node.pointee.isNoted { records.end(node) }
  }

  /// Has the node examined when the turn ends: something of it may be observed no longer.
  package func unobserveWhenIdle(_ node: NodeRef) { waitingNodes.noteIdle(node) }
}
