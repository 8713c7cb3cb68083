/// The nodes of an engine, the youngest first.
struct NodeList {
  private(set) var first: NodeRef?

  mutating func add(_ node: NodeRef) {
    node.pointee.next = first
    first?.pointee.previous = node
    first = node
  }

  mutating func remove(_ node: NodeRef) {
    let (previous, next) = (node.pointee.previous, node.pointee.next)
    if let previous { previous.pointee.next = next } else { first = next }
    next?.pointee.previous = previous
  }
}
