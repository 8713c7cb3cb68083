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
  /// A number that is added to the one under a key, whatever it is by then.
  case add(MirrorNode, MirrorKey, MirrorValue)
  /// Another place for an element of a list, which counts the elements without it.
  case move(MirrorNode, at: Int, MirrorValue, to: Int)
  /// Edits of a list that are made together, or not at all.
  case reorder(MirrorNode, [MirrorOperation])

  /// The index behind the last element, however many there are: what is added at the end stays
  /// behind what others add there first.
  static let end = Int(UInt32.max)

  var target: MirrorNode {
    switch self {
    case .make(let node), .contents(let node, _, _), .set(let node, _, _),
      .insert(let node, _, _), .remove(let node, _, _), .replace(let node, _, _, _),
      .move(let node, _, _, _), .reorder(let node, _), .add(let node, _, _):
      node
    }
  }

  var isContents: Bool { if case .contents = self { true } else { false } }
  /// Whether the change moves an element inside its list.
  var isMove: Bool { if case .move = self { true } else { false } }

  /// The elements that an edit of a list removes and inserts; nil for other changes, and for moves.
  var edited: (old: MirrorValue?, new: MirrorValue?)? {
    switch self {
    case .insert(_, _, let new): (nil, new)
    case .remove(_, _, let old): (old, nil)
    case .replace(_, _, let old, let new): (old, new)
    default: nil
    }
  }

  /// The object that the change takes from a list, if it is one.
  var taken: MirrorNode? { edited?.old?.node }

  /// Calls `body` with each object that the change stores.
  func forEachStored(_ body: (MirrorNode) -> Void) {
    switch self {
    case .make, .remove, .add: break
    case .contents(_, let list, let fields):
      for value in list { value.node.map(body) }
      for value in fields.values { value.node.map(body) }
    case .set(_, _, let value): value?.node.map(body)
    case .insert(_, _, let value), .replace(_, _, _, let value), .move(_, _, let value, _):
      value.node.map(body)
    case .reorder(_, let edits): for edit in edits { edit.forEachStored(body) }
    }
  }
}

extension MirrorValue {
  /// The sum of two numbers, as scripts add them; nil for other values.
  func adding(_ other: MirrorValue) -> MirrorValue? {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): .integer(a &+ b)
    case (.integer(let a), .number(let b)): .number(Double(a) + b)
    case (.number(let a), .integer(let b)): .number(a + Double(b))
    case (.number(let a), .number(let b)): .number(a + b)
    default: nil
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
  /// The values that the operations replaced when the batch was made.
  var former: [MirrorValue?] = []
  /// Whether others may come before: the batch has the same effect then.
  var commutes: Bool {
    operations.allSatisfy { if case .add = $0 { true } else { false } }
  }
  /// The operations that did not fit when the batch was last applied, by their indices.
  var dropped: [Int] = []
  /// The bytes that are sent, once they were made.
  var bytes: [UInt8]? { didSet { upload = nil } }
  /// The name of the bytes at the server, if they are sent in pieces.
  var upload: String?
  /// Whether it was given back.
  var isWithdrawn = false

  init(_ operations: [MirrorOperation]) { self.operations = operations }
}
