/// Own changes that did not fit into what others have made of the tree, and were left out (A4).
package struct MirrorRejections {
  struct Rejection {
    enum Kind: UInt8 { case set = 3, insert, remove }
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

extension MirrorDocument {
  func rejections(of operations: [MirrorOperation]) -> MirrorRejections {
    func position(_ index: Int) -> MirrorKey { .integer(Int64(index + 1)) }
    var rejections = MirrorRejections()
    for operation in operations {
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
      case .set(_, let key, let value): add(.set, key, nil, value)
      case .insert(let node, let at, let value):
        add(.insert, position(min(at, node.list.count)), nil, value)
      case .remove(_, let at, let old): add(.remove, position(at), old, nil)
      case .replace(_, let at, let old, let value): add(.set, position(at), old, value)
      }
    }
    return rejections
  }
}
