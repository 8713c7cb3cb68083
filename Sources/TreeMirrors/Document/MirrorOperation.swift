/// One change of a batch, by the objects that it concerns.
enum MirrorOperation {
  /// A new object, which the batch fills.
  case make(MirrorNode)
  /// All elements and fields of an object.
  case contents(MirrorNode, [MirrorValue], [MirrorKey: MirrorValue])
  /// The value of a key, or nil to remove it.
  case set(MirrorNode, MirrorKey, MirrorValue?)
  /// A new element; indices count from 0.
  case insert(MirrorNode, at: Int, MirrorValue)
  case remove(MirrorNode, at: Int, old: MirrorValue)
  case replace(MirrorNode, at: Int, old: MirrorValue, with: MirrorValue)

  /// The index behind the last element, however many there are: what is added at the end stays
  /// behind what others add there first.
  static let end = Int(UInt32.max)

  var target: MirrorNode {
    switch self {
    case .make(let node), .contents(let node, _, _), .set(let node, _, _),
      .insert(let node, _, _), .remove(let node, _, _), .replace(let node, _, _, _):
      node
    }
  }

  /// The object that the change stores, if it is one.
  var stored: MirrorNode? {
    switch self {
    case .set(_, _, let value): value?.node
    case .insert(_, _, let value), .replace(_, _, _, let value): value.node
    case .make, .contents, .remove: nil
    }
  }

  /// Calls `body` with each object that the change stores.
  func forEachStored(_ body: (MirrorNode) -> Void) {
    if case .contents(_, let list, let fields) = self {
      for value in list { value.node.map(body) }
      for value in fields.values { value.node.map(body) }
    } else {
      stored.map(body)
    }
  }
}

/// A turn's changes by one process, in order.
final class MirrorBatch {
  let operations: [MirrorOperation]
  /// The number that its writer gave it.
  var number = 0
  /// The version that it was made from: own batches before it count.
  var base = 0
  /// Bytes, for the account of what waits.
  var size = 0
  /// Takes the batch back, while it is applied to the tree but not confirmed.
  var undo: [MirrorNode.Undo] = []
  /// The operations that did not fit when the batch was last applied, by their indices.
  var dropped: [Int] = []
  /// What is sent, once it was made.
  var bytes: [UInt8]?
  /// Whether it was given back.
  var isWithdrawn = false

  init(_ operations: [MirrorOperation]) { self.operations = operations }
}
