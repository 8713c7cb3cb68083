/// Making nodes, and letting go of their records.
extension Engine {
  package func makeNode(kind: NodeKind, object: UnsafeMutableRawPointer) -> NodeRef {
    let node = records.make(
      Node(kind: .passUnretained(kind), engine: .passUnretained(self), object: object))
    nodes.add(node)
    statistics.nodes += 1
    return node
  }

  package func forEachNode(_ body: (NodeRef) -> Void) {
    for node in Chain(nodes.first) { body(node) }
  }

  /// The object of a node is gone, or observed no longer, and all that hung on it was notified.
  func bury(_ node: NodeRef) {
    nodes.remove(node)
    statistics.nodes -= 1
    node.pointee.isBuried = true
    freeIfUnlisted(node)
  }

  /// Lists that still know a node free it when they are worked off.
  func freeIfUnlisted(_ node: NodeRef) {
    if !node.pointee.isIdle, !node.pointee.isNoted { records.end(node) }
  }

  /// A node may have become unobserved by something else than the end of a watcher.
  package func settleWhenIdle(_ node: NodeRef) { makeIdle(node) }

  /// The node is looked at when the turn ends: something of it may be observed no longer.
  func makeIdle(_ node: NodeRef) { waitingNodes.noteIdle(node) }
}
