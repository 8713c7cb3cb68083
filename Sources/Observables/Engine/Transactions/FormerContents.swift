import Synchronization

/// The former contents of objects in a transaction, in a form of its keeper.
package struct FormerContents<Contents> {
  private var kept: [ObservationCore.NodeRef: (contents: Contents, order: UInt64)] = [:]

  package init() {}

  package subscript(node: ObservationCore.NodeRef) -> Contents? { kept[node]?.contents }

  package mutating func keep(_ contents: Contents, of node: ObservationCore.NodeRef) {
    kept[node] = (contents, lastOrder.add(1, ordering: .relaxed).newValue)
  }

  /// Takes over the contents that another transaction has kept of an object, if it kept them
  /// earlier.
  package mutating func correct(_ node: ObservationCore.NodeRef, by other: FormerContents) {
    if let earlier = other.kept[node], let own = kept[node], own.order > earlier.order {
      kept[node] = earlier
    }
  }

  package mutating func removeAll() { kept = [:] }
}

/// Orders transactions by when they kept the contents of an object.
private let lastOrder = Atomic<UInt64>(0)
