import Synchronization

/// What a transaction has kept of objects, in a form of its keeper.
package struct FormerContents<Contents> {
  private var kept: [ObservationCore.NodeRef: (contents: Contents, order: UInt64)] = [:]

  package init() {}

  package subscript(node: ObservationCore.NodeRef) -> Contents? { kept[node]?.contents }

  package mutating func keep(_ contents: Contents, of node: ObservationCore.NodeRef) {
    kept[node] = (contents, lastOrder.add(1, ordering: .relaxed).newValue)
  }

  /// Takes over what another transaction has kept of an object, if that was earlier.
  package mutating func correct(_ node: ObservationCore.NodeRef, by other: FormerContents) {
    if let earlier = other.kept[node], let own = kept[node], own.order > earlier.order {
      kept[node] = earlier
    }
  }

  package mutating func removeAll() { kept = [:] }
}

/// Tells which of two transactions has kept the contents of an object earlier.
private let lastOrder = Atomic<UInt64>(0)
