/// The name of an object in all copies of a tree: the process that made it, and a number.
struct NodeID: Hashable {
  let writer: UInt64
  let number: UInt64

  static let root = NodeID(writer: 0, number: 0)
}

/// A key of an object; text is bytes, as two texts that look alike may be different keys.
enum MirrorKey: Hashable {
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case text([UInt8])
}

extension MirrorKey: Comparable {
  static func < (a: MirrorKey, b: MirrorKey) -> Bool {
    switch (a, b) {
    case (.boolean(let a), .boolean(let b)): !a && b
    case (.integer(let a), .integer(let b)): a < b
    case (.number(let a), .number(let b)): a < b
    case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
    default: a.rank < b.rank
    }
  }

  private var rank: Int {
    switch self {
    case .boolean: 0
    case .integer: 1
    case .number: 2
    case .text: 3
    }
  }
}

extension [MirrorKey: MirrorValue] {
  /// The fields in the order of their keys, so that equal objects are written as equal bytes.
  ///
  /// Takes O(n log n).
  var inOrder: [Element] { sorted { $0.key < $1.key } }
}

/// A stored value.
enum MirrorValue {
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case text([UInt8])
  case node(MirrorNode)

  init(_ key: MirrorKey) {
    switch key {
    case .boolean(let value): self = .boolean(value)
    case .integer(let value): self = .integer(value)
    case .number(let value): self = .number(value)
    case .text(let value): self = .text(value)
    }
  }

  var node: MirrorNode? { if case .node(let node) = self { node } else { nil } }
}

extension MirrorKey {
  /// The key that a value can be; nil for an object.
  init?(_ value: MirrorValue) {
    switch value {
    case .boolean(let value): self = .boolean(value)
    case .integer(let value): self = .integer(value)
    case .number(let value): self = .number(value)
    case .text(let value): self = .text(value)
    case .node: return nil
    }
  }
}

extension MirrorValue: Equatable {
  /// Whether both are indistinguishable: 1 and 1.0 differ, and so do 0.0 and -0.0.
  static func == (a: MirrorValue, b: MirrorValue) -> Bool {
    switch (a, b) {
    case (.boolean(let a), .boolean(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.number(let a), .number(let b)): a.bitPattern == b.bitPattern
    case (.text(let a), .text(let b)): a == b
    case (.node(let a), .node(let b)): a === b
    default: false
    }
  }
}

extension MirrorValue {
  /// Whether scripts count both as the same value: 1 and 1.0 are, and so are all NaN (T5).
  func isSame(_ other: MirrorValue) -> Bool {
    switch (self, other) {
    case (.number(let a), .number(let b)): a == b || a.isNaN && b.isNaN
    case (.integer(let a), .number(let b)), (.number(let b), .integer(let a)):
      Double(a) == b && Int64(exactly: b) == a
    default: self == other
    }
  }
}

/// An object of a mirrored tree.
///
/// Only `MirrorDocument` changes it, as the document counts who holds whom.
final class MirrorNode {
  enum Kind: UInt8 {
    /// A table of a script, or an object of a class or model.
    case plain = 0
    case array, dictionary, set
  }

  fileprivate(set) var id: NodeID
  /// The number by which the tree of this process names the object; 0 for none.
  var handle = 0
  let kind: Kind
  /// The name of its model; empty for none.
  fileprivate(set) var model: [UInt8]
  /// The elements 1…n of a list, unless further positions follow behind a hole.
  fileprivate(set) var list: [MirrorValue] = []
  /// The values under other keys; a set has its members as keys.
  fileprivate(set) var fields: [MirrorKey: MirrorValue] = [:]
  /// Whether the tree of this process has the object.
  var isInTree = false
  fileprivate var owners = Owners()
  /// Where it was when its last owner let go of it.
  fileprivate var former: (owner: NodeID, key: MirrorKey)?

  init(_ id: NodeID, _ kind: Kind, model: [UInt8] = []) {
    (self.id, self.kind, self.model) = (id, kind, model)
  }

  var isRoot: Bool { id == .root }
  var isEmpty: Bool { list.isEmpty && fields.isEmpty }

  /// Whether its elements 1…n are a list.
  var hasList: Bool { kind == .array || kind == .plain && model.isEmpty }

  func forEachChild(_ body: (MirrorNode) -> Void) {
    for value in list { if case .node(let child) = value { body(child) } }
    // Few fields hold objects, and only these are sorted.
    let children = fields.filter { if case .node = $0.value { true } else { false } }
    for (_, value) in children.inOrder { if case .node(let child) = value { body(child) } }
  }

  /// Where a value is that is held by this object; nil if it is not.
  func key(of child: MirrorNode) -> MirrorKey? {
    if let index = list.firstIndex(of: .node(child)) { return .integer(Int64(index + 1)) }
    return fields.first { $0.value == .node(child) }?.key
  }
}

/// The objects that hold an object, each with the number of places.
///
/// Nearly all have one owner.
private struct Owners {
  // Owners live as long as the document has them, and let go of their children before they end.
  unowned(unsafe) var first: MirrorNode?
  var count = 0
  var others: [ObjectIdentifier: (node: Unmanaged<MirrorNode>, count: Int)] = [:]

  var isEmpty: Bool { count == 0 && others.isEmpty }

  func contains(_ owner: MirrorNode) -> Bool {
    count > 0 && first === owner || others[ObjectIdentifier(owner)] != nil
  }

  mutating func add(_ owner: MirrorNode) {
    if count == 0 || first === owner {
      first = owner
      count += 1
    } else {
      others[ObjectIdentifier(owner), default: (.passUnretained(owner), 0)].count += 1
    }
  }

  mutating func remove(_ owner: MirrorNode) {
    let key = ObjectIdentifier(owner)
    if count > 0, first === owner {
      count -= 1
      if count > 0 { return }
      first = nil
      guard let (key, other) = others.first else { return }
      (first, count) = (other.node.takeUnretainedValue(), other.count)
      others[key] = nil
    } else if let known = others[key] {
      others[key] = known.count > 1 ? (known.node, known.count - 1) : nil
    }
  }

  func forEach(_ body: (MirrorNode) -> Void) {
    if let first { body(first) }
    for other in others.values { body(other.node.takeUnretainedValue()) }
  }
}

extension MirrorNode {
  /// Whether a way leads from the root to this object.
  var isReachable: Bool { isReachable(without: []) }

  /// Whether a way leads from the root to this object; none leads to the `lost` ones.
  func isReachable(without lost: Set<ObjectIdentifier>) -> Bool {
    // Most objects have one owner, and few ancestors.
    var node = self
    for _ in 0..<100_000 {
      if node.isRoot { return true }
      guard node.owners.others.isEmpty else { break }
      guard let owner = node.owners.first, !lost.contains(ObjectIdentifier(owner)) else {
        return false
      }
      node = owner
    }
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(node)]
    var work = [node]
    while let node = work.popLast() {
      if node.isRoot { return true }
      node.owners.forEach { owner in
        if seen.insert(ObjectIdentifier(owner)).inserted { work.append(owner) }
      }
    }
    return false
  }

  func isHeld(by owner: MirrorNode) -> Bool { owners.contains(owner) }

  /// The object that holds it, and the key there; for an object that nothing holds, those that it
  /// was held by last.
  var place: (owner: NodeID, key: MirrorKey)? {
    if let owner = owners.first, let key = owner.key(of: self) { return (owner.id, key) }
    return former
  }
}

/// The changes of objects from which all others are made. Each returns what takes it back.
extension MirrorNode {
  enum Undo {
    case field(MirrorNode, MirrorKey, MirrorValue?)
    case insert(MirrorNode, at: Int, MirrorValue)
    case remove(MirrorNode, at: Int)
    case contents(MirrorNode, [MirrorValue], [MirrorKey: MirrorValue])

    /// Calls `body` with the changed object, and each object that comes back.
    func forEachNode(_ body: (MirrorNode) -> Void) {
      switch self {
      case .field(let node, _, let value):
        body(node)
        value?.node.map(body)
      case .insert(let node, _, let value):
        body(node)
        value.node.map(body)
      case .remove(let node, _): body(node)
      case .contents(let node, let list, let fields):
        body(node)
        for value in list { value.node.map(body) }
        for value in fields.values { value.node.map(body) }
      }
    }
  }

  private func link(_ value: MirrorValue?) {
    if case .node(let child)? = value { child.owners.add(self) }
  }

  private func unlink(_ value: MirrorValue?, _ key: @autoclosure () -> MirrorKey) {
    guard case .node(let child)? = value else { return }
    child.owners.remove(self)
    if child.owners.isEmpty { child.former = (id, key()) }
  }

  func set(_ key: MirrorKey, to value: MirrorValue?) -> Undo {
    let old = fields[key]
    link(value)
    unlink(old, key)
    fields[key] = value
    return .field(self, key, old)
  }

  func insert(_ value: MirrorValue, at index: Int) -> Undo {
    link(value)
    list.insert(value, at: index)
    return .remove(self, at: index)
  }

  func remove(at index: Int) -> Undo {
    let old = list.remove(at: index)
    unlink(old, .integer(Int64(index + 1)))
    return .insert(self, at: index, old)
  }

  func setContents(_ list: [MirrorValue], _ fields: [MirrorKey: MirrorValue]) -> Undo {
    let former = (self.list, self.fields)
    for value in list { link(value) }
    for value in fields.values { link(value) }
    for (index, value) in former.0.enumerated() { unlink(value, .integer(Int64(index + 1))) }
    for (key, value) in former.1 { unlink(value, key) }
    (self.list, self.fields) = (list, fields)
    return .contents(self, former.0, former.1)
  }

  /// Gives the object the name that others know it by.
  func rename(to id: NodeID) { self.id = id }

  /// Makes this object of the tree the one that others know.
  func becomes(_ other: MirrorNode) { (id, model) = (other.id, other.model) }
}

/// Changes that keep the elements 1…n in the list, whichever way they came there.
extension MirrorNode {
  /// The index that a key is in the list; that behind the last element counts.
  func index(of key: MirrorKey) -> Int? {
    guard hasList, case .integer(let position) = key, position >= 1,
      position <= Int64(list.count) + 1
    else { return nil }
    return Int(position) - 1
  }

  /// The element or field that a key has.
  func value(under key: MirrorKey) -> MirrorValue? {
    if let index = index(of: key), index < list.count { return list[index] }
    return fields[key]
  }

  func store(_ value: MirrorValue?, under key: MirrorKey, _ undo: inout [Undo]) {
    guard let index = index(of: key) else { return undo.append(set(key, to: value)) }
    if index == list.count {
      guard let value else { return }
      undo.append(insert(value, at: index))
      absorb(&undo)
    } else if let value {
      undo.append(remove(at: index))
      undo.append(insert(value, at: index))
    } else {
      // What is behind the hole stays under its keys.
      while list.count > index + 1 {
        let last = list[list.count - 1]
        undo.append(set(.integer(Int64(list.count)), to: last))
        undo.append(remove(at: list.count - 1))
      }
      undo.append(remove(at: index))
    }
  }

  /// Makes the fields that follow the list its elements.
  func absorb(_ undo: inout [Undo]) {
    guard hasList else { return }
    while let value = fields[.integer(Int64(list.count) + 1)] {
      undo.append(insert(value, at: list.count))
      undo.append(set(.integer(Int64(list.count)), to: nil))
    }
  }
}
