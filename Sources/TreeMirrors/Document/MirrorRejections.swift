/// Own changes that did not fit into what others have made of the tree, and were left out (A4).
package struct MirrorRejections {
  struct Rejection {
    enum Kind: UInt8 { case set = 3, insert, remove, move = 9 }
    let kind: Kind
    let node: MirrorNode
    /// The keys to the object, as far as they are known.
    let path: [MirrorKey]
    let key: MirrorKey
    let old: MirrorValue?
    let new: MirrorValue?
  }

  var all: [Rejection] = []
}

extension MirrorOperation {
  /// The value under the key that the operation writes.
  var former: MirrorValue? {
    switch self {
    case .set(let node, let key, _), .add(let node, let key, _): node.value(under: key)
    default: nil
    }
  }
}

extension MirrorBatch {
  /// Operations of the batch, by their indices, with the values that they replaced.
  func changes(at indices: some Sequence<Int>) -> [(MirrorOperation, former: MirrorValue?)] {
    // A batch of an earlier process has no former values.
    indices.map { (operations[$0], former.isEmpty ? nil : former[$0]) }
  }
}

extension MirrorDocument {
  func rejections(of changes: [(MirrorOperation, former: MirrorValue?)]) -> MirrorRejections {
    func position(_ index: Int) -> MirrorKey { .integer(Int64(index + 1)) }
    var rejections = MirrorRejections()
    func reject(_ operation: MirrorOperation, _ former: MirrorValue?) {
      let path = path(to: operation.target) ?? []
      func add(
        _ kind: MirrorRejections.Rejection.Kind, _ key: MirrorKey, _ old: MirrorValue?,
        _ new: MirrorValue?
      ) {
        rejections.all.append(
          .init(kind: kind, node: operation.target, path: path, key: key, old: old, new: new))
      }
      switch operation {
      case .make, .contents: break
      case .set(_, let key, let value): add(.set, key, former, value)
      case .add(_, let key, let amount): add(.set, key, former, former?.adding(amount))
      case .insert(let node, let at, let value):
        add(.insert, position(min(at, node.list.count)), nil, value)
      case .remove(_, let at, let old): add(.remove, position(at), old, nil)
      case .replace(_, let at, let old, let value): add(.set, position(at), old, value)
      case .move(let node, _, let value, let to):
        add(.move, position(min(to, node.list.count)), value, value)
      case .reorder(_, let edits): edits.forEach { reject($0, nil) }
      }
    }
    for (operation, former) in changes { reject(operation, former) }
    return rejections
  }
}
