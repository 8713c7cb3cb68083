/// The state of a mirrored tree: the batches of the server's stream in their order, and then this
/// process's own ones that the stream does not have yet (A2).
///
/// Applying a batch notes how to take it back. When a batch of another process comes, the own ones
/// are taken back, it is applied, and they are applied again. So all processes apply the stream by
/// the same function to the same state. All of this costs as much as the changes, whatever the size
/// of the tree.
final class MirrorDocument {
  private(set) var root = MirrorNode(.root, .plain)
  /// Own batches that the stream does not have yet.
  ///
  /// An array, though batches leave it at the front: if as many wait as may, this takes a tenth of
  /// the time that they need anyway.
  private(set) var pending: [MirrorBatch] = []
  /// All objects by their names, including those that have left and may still come back.
  private var nodes: [NodeID: MirrorNode] = [:]
  private var handles: [Int: MirrorNode] = [:]
  /// The names of objects that this process makes.
  private let space: UInt64
  private var count: UInt64 = 0
  private var lastHandle = 0
  /// The number of objects that the last sweep has kept.
  private var keptCount = 0

  init(names space: UInt64 = .random(in: 1...UInt64.max)) { self.space = space }

  // MARK: Names

  /// The object that the tree of this process names by a number.
  func node(ofHandle handle: Int) -> MirrorNode? { handles[handle] }

  /// A new object of this process.
  func makeNode(_ kind: MirrorNode.Kind, model: [UInt8], handle: Int) -> MirrorNode {
    count += 1
    let node = MirrorNode(NodeID(writer: space, number: count), kind, model: model)
    note(node, handle)
    return node
  }

  private func note(_ node: MirrorNode, _ handle: Int) {
    nodes[node.id] = node
    node.handle = handle
    handles[handle] = node
  }

  /// The object of a name in a received batch.
  ///
  /// Unknown names belong to objects that have left the tree.
  func node(named id: NodeID) -> MirrorNode { nodes[id] ?? MirrorNode(id, .plain) }

  func known(_ id: NodeID) -> MirrorNode? { nodes[id] }

  /// Makes an object the one of its name; the one before lets go of what it holds.
  private func register(_ node: MirrorNode) {
    if let former = nodes[node.id], former !== node { _ = former.setContents([], [:]) }
    nodes[node.id] = node
  }

  // MARK: The beginning

  /// Takes on the tree of this process, whose first operation makes the root.
  func begin(with root: MirrorNode, _ operations: [MirrorOperation]) {
    nodes[root.id] = nil
    root.rename(to: .root)
    nodes[.root] = root
    self.root = root
    var undo: [MirrorNode.Undo] = []
    _ = apply(operations, &undo)
    for node in nodes.values { node.isInTree = node.isReachable }
  }

  /// Takes on a published state, in a document without a tree.
  func begin(with snapshot: MirrorSnapshot) {
    root = snapshot.root
    for (node, _, _) in snapshot.objects { nodes[node.id] = node }
    for (node, list, fields) in snapshot.objects { _ = node.setContents(list, fields) }
  }

  // MARK: Applying

  /// Makes the changes of a batch, in order, and returns the indices of those that do not fit (A4).
  ///
  /// Changes of an object that had left the tree are dropped: the removal has won. An object that
  /// the batch takes from its place and stores elsewhere is never lost: if the change that stores
  /// it does not fit, the object goes back.
  private func apply(
    _ operations: [MirrorOperation], _ undo: inout [MirrorNode.Undo], in step: MirrorStep? = nil
  ) -> [Int] {
    var known: [ObjectIdentifier: Bool] = [:]
    for case .make(let node) in operations {
      known[ObjectIdentifier(node)] = true
      register(node)
    }
    func isThere(_ node: MirrorNode) -> Bool {
      if let known = known[ObjectIdentifier(node)] { return known }
      let isThere = node.isReachable
      known[ObjectIdentifier(node)] = isThere
      return isThere
    }
    // Before anything is changed.
    var stored: Set<ObjectIdentifier> = []
    for operation in operations {
      _ = isThere(operation.target)
      operation.forEachStored {
        _ = isThere($0)
        if !operation.isMove { stored.insert(ObjectIdentifier($0)) }
      }
    }
    // Objects that the batch moves from a list where they are no longer: they stay where they are.
    var gone: Set<ObjectIdentifier> = []
    for operation in operations {
      if let node = operation.taken, stored.contains(ObjectIdentifier(node)),
        isThere(operation.target), !node.isHeld(by: operation.target)
      {
        gone.insert(ObjectIdentifier(node))
      }
    }
    func mayStore(_ node: MirrorNode) -> Bool {
      isThere(node) && !gone.contains(ObjectIdentifier(node))
    }
    func fits(_ value: MirrorValue) -> Bool { value.node.map { mayStore($0) } ?? true }
    // Objects that the batch moves, and the change that puts each back.
    var taken: [(node: MirrorNode, back: MirrorOperation)] = []
    func take(_ value: MirrorValue?, _ back: (MirrorValue) -> MirrorOperation) {
      if let value, let node = value.node, stored.contains(ObjectIdentifier(node)) {
        taken.append((node, back(value)))
      }
    }
    func make(_ operation: MirrorOperation) -> Bool {
      switch operation {
      case .make(let node):
        // The object is left over from before a snapshot was taken.
        if !node.isEmpty { undo.append(node.setContents([], [:])) }
      case .contents(let node, let list, let fields):
        undo.append(node.setContents(list.filter(fits), fields.filter { fits($0.value) }))
        node.absorb(&undo)
      case .set(let node, let key, let value):
        if let index = node.index(of: key), node.list.indices.contains(index) {
          take(node.list[index]) { .insert(node, at: index, $0) }
        } else {
          take(node.fields[key]) { .set(node, key, $0) }
        }
        node.store(value, under: key, &undo)
      case .add(let node, let key, let amount):
        guard let sum = node.value(under: key)?.adding(amount) else { return false }
        node.store(sum, under: key, &undo)
      case .insert(let node, let at, let value):
        undo.append(node.insert(value, at: min(at, node.list.count)))
        node.absorb(&undo)
      case .remove(let node, let at, let old):
        guard let index = node.index(of: old, near: at) else { return false }
        take(old) { .insert(node, at: index, $0) }
        undo.append(node.remove(at: index))
      case .replace(let node, let at, let old, let value):
        guard let index = node.index(of: old, near: at) else {
          // An object that has gone needs no removal, and an insertion always fits.
          return old.node != nil && make(.insert(node, at: at, value))
        }
        take(old) { .insert(node, at: index, $0) }
        undo.append(node.remove(at: index))
        undo.append(node.insert(value, at: index))
      case .move(let node, let at, let value, let to):
        guard let index = node.index(of: value, near: at) else { return false }
        undo.append(node.remove(at: index))
        undo.append(node.insert(value, at: min(to, node.list.count)))
      case .reorder(_, let edits):
        let start = (undo.count, taken.count)
        for edit in edits {
          if make(edit) { continue }
          takeBack(Array(undo[start.0...]), in: nil)
          undo.removeSubrange(start.0...)
          taken.removeSubrange(start.1...)
          return false
        }
      }
      return true
    }
    var dropped: [Int] = []
    for (index, operation) in operations.enumerated() {
      var fits = isThere(operation.target)
      // Contents leave objects out that do not fit.
      if !operation.isContents {
        operation.forEachStored {
          fits = fits && (operation.isMove ? isThere($0) : mayStore($0))
        }
      }
      if fits { step?.willApply(operation) }
      if !fits || !make(operation) { dropped.append(index) }
    }
    // An object goes back if the change that was to store it elsewhere was dropped.
    for (node, back) in taken where !node.isReachable && back.target.isReachable {
      if case .set(let owner, let key, _) = back, owner.fields[key] != nil { continue }
      step?.willApply(back)
      _ = make(back)
    }
    return dropped
  }

  private func takeBack(_ undo: [MirrorNode.Undo], in step: MirrorStep?) {
    for change in undo.reversed() {
      step?.willUndo(change)
      switch change {
      case .field(let node, let key, let value): _ = node.set(key, to: value)
      case .insert(let node, let at, let value): _ = node.insert(value, at: at)
      case .remove(let node, let at): _ = node.remove(at: at)
      case .contents(let node, let list, let fields): _ = node.setContents(list, fields)
      }
    }
  }

  private func takePendingBack(in step: MirrorStep?) {
    for batch in pending.reversed() {
      takeBack(batch.undo, in: step)
      batch.undo = []
    }
  }

  private func applyPending(in step: MirrorStep?) {
    for batch in pending { batch.dropped = apply(batch.operations, &batch.undo, in: step) }
  }

  // MARK: Batches

  /// Adds a batch of changes that the tree of this process has made.
  func add(_ operations: [MirrorOperation]) -> MirrorBatch {
    let batch = MirrorBatch(MirrorMoves(in: operations).operations)
    batch.former = batch.operations.map(\.former)
    let step = MirrorStep()
    batch.dropped = apply(batch.operations, &batch.undo, in: step)
    pending.append(batch)
    settle(step)
    return batch
  }

  /// Notes that the stream has the oldest own batch, which all others then come after.
  func confirm() -> MirrorBatch {
    let batch = pending.removeFirst()
    batch.undo = []
    return batch
  }

  /// Gives own batches back, from a number on: they are no longer part of the tree.
  func withdraw(from number: Int) -> MirrorStep {
    change { _ in
      while let last = pending.last, last.number >= number { pending.removeLast() }
    }
  }

  /// Changes the confirmed state.
  func change(_ body: (MirrorStep) -> Void) -> MirrorStep {
    let step = MirrorStep()
    takePendingBack(in: step)
    body(step)
    applyPending(in: step)
    settle(step)
    return step
  }

  /// Applies a batch to the confirmed state: inside `change`, in its step, if there is a tree.
  func apply(_ batch: MirrorBatch, in step: MirrorStep? = nil) {
    var undo: [MirrorNode.Undo] = []
    _ = apply(batch.operations, &undo, in: step)
  }

  /// Leaves out the oldest own batches, inside `change`: the confirmed state has them.
  func dropPending(_ count: Int) { pending.removeFirst(count) }

  /// Adds own batches of an earlier process, which come before all others, inside `change`.
  func prepend(_ records: [[UInt8]]) throws {
    var batches: [MirrorBatch] = []
    for bytes in records {
      let batch = try batch(from: bytes)
      // Later batches may go into these objects.
      for case .make(let node) in batch.operations { register(node) }
      batch.bytes = bytes
      batches.append(batch)
    }
    pending = batches + pending
  }

  /// The keys from the root to an object, or to where it was; nil if they are not known any more.
  func path(to node: MirrorNode) -> [MirrorKey]? {
    var (path, node): ([MirrorKey], MirrorNode) = ([], node)
    while !node.isRoot {
      guard let (owner, key) = node.place, let next = nodes[owner], path.count < 1000 else {
        return nil
      }
      path.append(key)
      node = next
    }
    return path.reversed()
  }

  /// Calls `body` with the confirmed state.
  func withConfirmed<Result>(_ body: () -> Result) -> Result {
    takePendingBack(in: nil)
    defer { applyPending(in: nil) }
    return body()
  }

  /// Finds out which objects came into the tree, and which have left it.
  private func settle(_ step: MirrorStep) {
    var lost: Set<ObjectIdentifier> = []
    for child in step.released where child.isInTree && !child.isReachable {
      var work = [child]
      while let node = work.popLast() {
        guard node.isInTree, !node.isReachable(without: lost) else { continue }
        node.isInTree = false
        lost.insert(ObjectIdentifier(node))
        step.left.append(node)
        node.forEachChild { work.append($0) }
      }
    }
    for child in step.gained where !child.isInTree && child.isReachable {
      var work = [child]
      while let node = work.popLast() {
        guard !node.isInTree else { continue }
        node.isInTree = true
        if node.handle == 0 {
          lastHandle -= 1
          note(node, lastHandle)
        }
        step.came.append(node)
        node.forEachChild { work.append($0) }
      }
    }
  }

  // MARK: Forgetting

  /// Forgets objects that have left for good, or have never come, if there may be many.
  func sweep() {
    guard nodes.count > 1000 + 2 * keptCount else { return }
    var kept: Set<ObjectIdentifier> = []
    var work = [root]
    for batch in pending {
      for operation in batch.operations {
        work.append(operation.target)
        operation.forEachStored { work.append($0) }
      }
      for change in batch.undo { change.forEachNode { work.append($0) } }
    }
    while let node = work.popLast() {
      if kept.insert(ObjectIdentifier(node)).inserted { node.forEachChild { work.append($0) } }
    }
    for (id, node) in nodes where !kept.contains(ObjectIdentifier(node)) {
      handles[node.handle] = nil
      nodes[id] = nil
      _ = node.setContents([], [:])
    }
    keptCount = nodes.count
  }

  /// Empties all objects, to break cycles.
  func end() {
    for node in nodes.values { _ = node.setContents([], [:]) }
    (nodes, handles, pending) = ([:], [:], [])
  }

  // MARK: Taking on a published state

  /// Makes the confirmed state that of a snapshot, inside `change`.
  ///
  /// Objects that both have keep their identity: those of the same name or, the first time, those
  /// at the same keys. Elements of lists are the same if they have the same value under `key` or,
  /// without a key, the same position.
  func adopt(_ snapshot: MirrorSnapshot, key: MirrorKey?, byName: Bool, in step: MirrorStep) {
    var partners: [ObjectIdentifier: MirrorNode] = [ObjectIdentifier(snapshot.root): root]
    if byName {
      for (node, _, _) in snapshot.objects {
        if let known = nodes[node.id], known.kind == node.kind, known.model == node.model {
          partners[ObjectIdentifier(node)] = known
        }
      }
    } else {
      partners = snapshot.pairs(with: root, key: key)
    }
    func mapped(_ value: MirrorValue) -> MirrorValue {
      guard let node = value.node, let partner = partners[ObjectIdentifier(node)] else {
        return value
      }
      return .node(partner)
    }
    if !byName {
      for (node, _, _) in snapshot.objects {
        guard let partner = partners[ObjectIdentifier(node)] else { continue }
        nodes[partner.id] = nil
        partner.becomes(node)
      }
    }
    for (node, _, _) in snapshot.objects {
      register(partners[ObjectIdentifier(node)] ?? node)
    }
    for (node, list, fields) in snapshot.objects {
      let target = partners[ObjectIdentifier(node)] ?? node
      let list = list.map(mapped)
      let fields = fields.mapValues(mapped)
      if target.list == list {
        for key in Set(target.fields.keys).union(fields.keys)
        where target.fields[key] != fields[key] {
          step.willApply(.set(target, key, fields[key]))
          _ = target.set(key, to: fields[key])
        }
      } else {
        step.willApply(.contents(target, list, fields))
        _ = target.setContents(list, fields)
      }
    }
  }
}

extension MirrorNode {
  /// The index of an element that was at an index: of the same object, wherever it is now, or of
  /// the same value (T5) at this index.
  fileprivate func index(of value: MirrorValue, near index: Int) -> Int? {
    if list.indices.contains(index), list[index].isSame(value) { return index }
    return value.node == nil ? nil : list.firstIndex(of: value)
  }
}

/// What an application of changes did to the objects of the tree.
package final class MirrorStep {
  /// The former values of written fields and lists, by object.
  private var written: [ObjectIdentifier: Former] = [:]
  fileprivate var released: [MirrorNode] = []
  fileprivate var gained: [MirrorNode] = []
  /// The objects that came into the tree, and those that have left it.
  fileprivate(set) var came: [MirrorNode] = []
  fileprivate(set) var left: [MirrorNode] = []

  private struct Former {
    let node: MirrorNode
    var list: [MirrorValue]?
    var fields: [MirrorKey: MirrorValue?] = [:]
  }

  private func note(_ node: MirrorNode, _ body: (inout Former) -> Void) {
    // Objects that come are written with all their contents.
    guard node.isInTree else { return }
    body(&written[ObjectIdentifier(node), default: Former(node: node)])
  }

  private func noteStore(_ node: MirrorNode, _ key: MirrorKey, to value: MirrorValue?) {
    noteField(node, key, to: value)
    guard node.hasList, case .integer(let position) = key else { return }
    noteList(node)
    guard position >= 1, position <= Int64(node.list.count) else { return }
    release(node.list[Int(position) - 1])
    if value != nil { return }
    // What is behind the hole becomes fields.
    for index in Int(position)..<node.list.count {
      noteField(node, .integer(Int64(index + 1)), to: node.list[index])
    }
  }

  private func noteField(_ node: MirrorNode, _ key: MirrorKey, to value: MirrorValue?) {
    let old = node.fields[key]
    note(node) { former in
      if former.fields[key] == nil { former.fields[key] = .some(old) }
    }
    release(old)
    gain(value)
  }

  private func noteList(_ node: MirrorNode) {
    note(node) { former in
      if former.list != nil { return }
      former.list = node.list
      // Elements behind a hole may become part of the list, and leave it again.
      for (key, value) in node.fields {
        if case .integer = key, former.fields[key] == nil { former.fields[key] = .some(value) }
      }
    }
  }

  private func release(_ value: MirrorValue?) {
    if let child = value?.node { released.append(child) }
  }

  private func gain(_ value: MirrorValue?) {
    if let child = value?.node { gained.append(child) }
  }

  private func noteContents(
    _ node: MirrorNode, _ list: [MirrorValue], _ fields: [MirrorKey: MirrorValue]
  ) {
    noteList(node)
    for value in node.list { release(value) }
    for value in list { gain(value) }
    for key in node.fields.keys where fields[key] == nil { noteField(node, key, to: nil) }
    for (key, value) in fields { noteField(node, key, to: value) }
  }

  func willApply(_ operation: MirrorOperation) {
    switch operation {
    case .make(let node): if !node.isEmpty { noteContents(node, [], [:]) }
    case .contents(let node, let list, let fields): noteContents(node, list, fields)
    case .set(let node, let key, let value): noteStore(node, key, to: value)
    case .add(let node, let key, let amount):
      noteStore(node, key, to: node.value(under: key)?.adding(amount))
    case .insert(let node, _, let value):
      noteList(node)
      gain(value)
    case .remove(let node, _, let value):
      noteList(node)
      release(value)
    case .replace(let node, _, let old, let value):
      noteList(node)
      release(old)
      gain(value)
    case .move(let node, _, _, _): noteList(node)
    case .reorder(_, let edits): for edit in edits { willApply(edit) }
    }
  }

  func willUndo(_ change: MirrorNode.Undo) {
    switch change {
    case .field(let node, let key, let value): noteField(node, key, to: value)
    case .insert(let node, _, let value):
      noteList(node)
      gain(value)
    case .remove(let node, let index):
      noteList(node)
      release(node.list[index])
    case .contents(let node, let list, let fields): noteContents(node, list, fields)
    }
  }

  var isEmpty: Bool { written.isEmpty && came.isEmpty && left.isEmpty }

  /// Calls `body` with each object that stays in the tree and the former values that differ.
  func forEachChange(_ body: (MirrorNode, _ list: [MirrorValue]?, _ keys: [MirrorKey]) -> Void) {
    let new = Set(came.map { ObjectIdentifier($0) })
    for former in written.values where former.node.isInTree {
      let node = former.node
      if new.contains(ObjectIdentifier(node)) { continue }
      let list = former.list.flatMap { $0 == node.list ? nil : $0 }
      // An element of the list comes with the list.
      let keys = former.fields.filter { key, value in
        if case .integer(let position) = key, position >= 1, position <= Int64(node.list.count) {
          return false
        }
        return node.fields[key] != value
      }.map(\.key)
      if list != nil || !keys.isEmpty { body(node, list, keys) }
    }
  }
}

/// A published state: all objects with their contents, the root first.
///
/// `MirrorDocument.adopt` links the objects.
struct MirrorSnapshot {
  let objects: [(node: MirrorNode, list: [MirrorValue], fields: [MirrorKey: MirrorValue])]

  var root: MirrorNode { objects[0].node }

  /// Pairs the objects with those of a tree, by the keys that lead to them.
  fileprivate func pairs(with root: MirrorNode, key: MirrorKey?) -> [ObjectIdentifier: MirrorNode] {
    var contents: [ObjectIdentifier: Int] = [:]
    for (index, object) in objects.enumerated() { contents[ObjectIdentifier(object.node)] = index }
    var partners = [ObjectIdentifier(self.root): root]
    var taken: Set<ObjectIdentifier> = [ObjectIdentifier(root)]
    var work = [(self.root, root)]
    func pair(_ value: MirrorValue?, _ other: MirrorValue?) {
      guard let node = value?.node, let known = other?.node, node.kind == known.kind,
        partners[ObjectIdentifier(node)] == nil,
        taken.insert(ObjectIdentifier(known)).inserted
      else { return }
      partners[ObjectIdentifier(node)] = known
      work.append((node, known))
    }
    func keyed(_ list: [MirrorValue], _ key: MirrorKey, _ field: (MirrorNode) -> MirrorValue?)
      -> [MirrorKey: MirrorValue]
    {
      var found: [MirrorKey: MirrorValue] = [:]
      for value in list {
        if let node = value.node, let name = field(node).flatMap({ MirrorKey($0) }),
          found[name] == nil
        {
          found[name] = value
        }
      }
      return found
    }
    var next = 0
    while next < work.count {
      let (node, known) = work[next]
      next += 1
      guard let index = contents[ObjectIdentifier(node)] else { continue }
      let (_, list, fields) = objects[index]
      for (key, value) in fields where value.node != nil { pair(value, known.fields[key]) }
      guard let key else {
        for (value, other) in zip(list, known.list) { pair(value, other) }
        continue
      }
      let others = keyed(known.list, key) { $0.fields[key] }
      for (name, value) in keyed(
        list, key,
        { node in
          contents[ObjectIdentifier(node)].flatMap { objects[$0].fields[key] }
        })
      {
        pair(value, others[name])
      }
    }
    return partners
  }
}
