internal import Observables

/// A tree of Swift objects that is mirrored.
///
/// An object is named by the entry that the follower has for it, and by its handle. Data of a
/// property, such as an array of numbers, is an object of the document without one here: it is
/// stored anew when it changes.
final class ObjectTree: MirroredTree {
  let follower: TreeFollower
  /// Keeps the model alive.
  private let root: AnyObject
  private let name: String
  var session: MirrorSession!
  private(set) var handles: [TreeEntry: Int] = [:]
  private var objects: [Int: AnyObject] = [:]
  /// Handles of objects that have left, and may come back while own batches are unconfirmed.
  private var departed: [Int] = []
  private var lastHandle = 0
  /// The handles of objects that `perform` has made.
  private var made: [ObjectIdentifier: Int] = [:]

  /// The numbers that `add` has added since the last batch, by objects and keys.
  private var sums: [ObjectIdentifier: [DeepChange.Key: Sum]] = [:]

  private struct Sum {
    let first: MirrorValue
    var last: MirrorValue
    var amounts: [MirrorValue] = []
  }

  var onStatus: () -> Void = {}
  var onRejected: ([RejectedChange]) -> Void = { _ in }
  var onError: (MirrorError) -> Void = { _ in }
  var onWarning: (String) -> Void = { _ in }

  init(_ model: some KeyPathObservable, in loop: Loop?, name: String) throws {
    (root, self.name) = (model as AnyObject, name)
    let handle = CollectHandle()
    follower = try TreeFollower(model, in: loop, name: "mirror \(name)") { handle.tree?.collect() }
    handle.tree = self
  }

  /// The tree, for the follower's callback.
  private final class CollectHandle {
    weak var tree: ObjectTree?
  }

  func stop() {
    follower.stop()
    (handles, objects, departed) = ([:], [:], [])
  }

  // MARK: Local writes

  /// Begins the session with the tree as it is.
  func begin() throws {
    var operations = Operations(self)
    let items = follower.all
    for (entry, contents) in items {
      operations.make(entry, contents, isRoot: entry === items[0].entry)
    }
    for (entry, contents) in items { operations.fill(entry, contents) }
    if let obstacle = operations.obstacle { throw MirrorError(obstacle) }
    session.begin(with: operations.all)
  }

  /// Adds a number to the one under a key, for all processes: their additions all count (A4).
  func add(_ amount: MirrorValue, to key: DeepChange.Key, of object: AnyObject) throws {
    let writing = TreeWriting(object)
    guard let first = writing.value(key).flatMap({ MirrorValue(number: ChangeValue($0)) }),
      let last = first.adding(amount)
    else { throw MirrorError("'\(key)' of \(type(of: object)) is no number") }
    do { try writing.store(ChangeValue(last), under: key) } catch {
      throw MirrorError("'\(key)' of \(type(of: object)) cannot be \(last): \(error)")
    }
    var sum = sums[ObjectIdentifier(object)]?[key] ?? Sum(first: first, last: first)
    // The key was also written otherwise, or the addition was taken back.
    if sum.last != first { sum = Sum(first: first, last: first) }
    sum.last = last
    sum.amounts.append(amount)
    sums[ObjectIdentifier(object), default: [:]][key] = sum
  }

  func collect() {
    defer { sums = [:] }
    guard let written = follower.take() else { return }
    if let refusal = session.refusal {
      restore(written)
      return onError(MirrorError("\(refusal); the write was taken back"))
    }
    var operations = Operations(self)
    for (entry, contents) in written.came { operations.make(entry, contents) }
    for (entry, contents) in written.came { operations.fill(entry, contents) }
    for (entry, old, new) in written.changed { operations.change(entry, from: old, to: new) }
    if let obstacle = operations.obstacle {
      for (entry, _) in written.came { forget(entry) }
      restore(written)
      return onError(MirrorError("\(obstacle); the write was taken back"))
    }
    for entry in written.left { forget(entry) }
    session.wrote(operations.all, size: 40 * operations.all.count)
    statusDidChange()
  }

  private func forget(_ entry: TreeEntry) {
    if let handle = handles.removeValue(forKey: entry) { departed.append(handle) }
  }

  private func didChange() {
    if session.unconfirmed == 0 {
      for handle in departed where session.document.node(ofHandle: handle)?.isInTree != true {
        objects[handle] = nil
      }
      departed = []
    }
  }

  /// Gives the objects the contents back that they had before refused writes.
  private func restore(_ written: TreeFollower.Written) {
    func plain(_ value: TreeValue) -> Any? {
      switch value {
      case .object(let entry): entry.object
      case .plain(let value): value
      }
    }
    // An object that comes back gets another entry.
    var left: [ObjectIdentifier: Int] = [:]
    for entry in written.left {
      if let object = entry.object, let handle = handles.removeValue(forKey: entry) {
        left[ObjectIdentifier(object)] = handle
      }
    }
    follower.batch {
      for (entry, old, new) in written.changed {
        guard let object = entry.object else { continue }
        let writing = TreeWriting(object)
        switch old.shape {
        case .array: try? writing.setElements(old.list.compactMap(plain))
        case .set: try? writing.setMembers(Array(old.members.values))
        default:
          for key in TreeContents.differingKeys(old, new) {
            try? writing.store(old.fields[key].flatMap(plain), under: key)
          }
        }
      }
    }
    for (entry, _) in follower.take()?.came ?? [] {
      handles[entry] = entry.object.flatMap { left[ObjectIdentifier($0)] }
    }
  }

  /// Operations that make local writes, as they are collected.
  private struct Operations {
    private let tree: ObjectTree
    private var document: MirrorDocument { tree.session.document }
    private(set) var all: [MirrorOperation] = []
    /// The first value that cannot be mirrored.
    private(set) var obstacle: String?

    init(_ tree: ObjectTree) { self.tree = tree }

    mutating func make(_ entry: TreeEntry, _ contents: TreeContents, isRoot: Bool = false) {
      guard let object = entry.object else { return }
      let (kind, model): (MirrorNode.Kind, String) =
        switch contents.shape {
        case .array: (.array, "")
        case .dictionary: (.dictionary, "")
        case .set: (.set, "")
        case .model(let name): (.plain, isRoot ? "" : name)
        case .table: (.plain, "")
        }
      let node = makeNode(kind, model)
      tree.handles[entry] = node.handle
      tree.objects[node.handle] = object
    }

    private mutating func makeNode(_ kind: MirrorNode.Kind, _ model: String = "") -> MirrorNode {
      tree.lastHandle += 1
      let node = document.makeNode(kind, model: Array(model.utf8), handle: tree.lastHandle)
      all.append(.make(node))
      return node
    }

    private func node(of entry: TreeEntry) -> MirrorNode? {
      tree.handles[entry].flatMap { document.node(ofHandle: $0) }
    }

    mutating func fill(_ entry: TreeEntry, _ contents: TreeContents) {
      guard let node = node(of: entry) else { return }
      var list: [MirrorValue] = []
      for (index, element) in contents.list.enumerated() {
        if let value = value(element, of: contents, "\(index + 1)") { list.append(value) }
      }
      var fields: [MirrorKey: MirrorValue] = [:]
      for (key, field) in contents.fields {
        if let value = value(field, of: contents, "\(key)") { fields[MirrorKey(key)] = value }
      }
      for member in contents.members.values {
        if let key = self.key(member, of: contents) { fields[key] = .boolean(true) }
      }
      all.append(.contents(node, list, fields))
    }

    mutating func change(_ entry: TreeEntry, from old: TreeContents, to new: TreeContents) {
      guard let node = node(of: entry) else { return }
      let sums = entry.object.flatMap { tree.sums[ObjectIdentifier($0)] }
      for key in TreeContents.differingKeys(old, new) {
        func number(_ contents: TreeContents) -> MirrorValue? {
          guard case .plain(let value)? = contents.fields[key] else { return nil }
          return MirrorValue(number: value)
        }
        if let sum = sums?[key], sum.first == number(old), sum.last == number(new) {
          all += sum.amounts.map { .add(node, MirrorKey(key), $0) }
          continue
        }
        var stored: MirrorValue?
        if let field = new.fields[key] { stored = value(field, of: new, "\(key)") }
        all.append(.set(node, MirrorKey(key), stored))
      }
      for (name, member) in old.members where new.members[name] == nil {
        if let key = key(member, of: new) { all.append(.set(node, key, nil)) }
      }
      for (name, member) in new.members where old.members[name] == nil {
        if let key = key(member, of: new) { all.append(.set(node, key, .boolean(true))) }
      }
      changeList(node, from: old, to: new)
    }

    /// Adds the fields that an object has and the document does not.
    mutating func complete(_ node: MirrorNode, _ contents: TreeContents) {
      guard node.kind == .plain else { return }
      for (key, field) in contents.fields where node.fields[MirrorKey(key)] == nil {
        if let value = value(field, of: contents, "\(key)") {
          all.append(.set(node, MirrorKey(key), value))
        }
      }
    }

    private mutating func changeList(
      _ node: MirrorNode, from old: TreeContents, to new: TreeContents
    ) {
      let script = EditScript(from: old.list.count, to: new.list.count) { from, to in
        let (before, after): (TreeValue, TreeValue) = (old.list[from], new.list[to])
        return TreeValue.areSame(before, after)
      }
      // Data among the elements is known by its place only.
      var present = node.list
      for step in script.steps {
        switch step {
        case .insert(let at, let index):
          guard let value = value(new.list[index], of: new, "\(index + 1)") else { return }
          all.append(.insert(node, at: at == present.count ? MirrorOperation.end : at, value))
          present.insert(value, at: at)
        case .remove(let at, _):
          all.append(.remove(node, at: at, old: present.remove(at: at)))
        case .replace(let at, _, let index):
          guard let value = value(new.list[index], of: new, "\(index + 1)") else { return }
          all.append(.replace(node, at: at, old: present[at], with: value))
          present[at] = value
        }
      }
    }

    private mutating func key(_ member: ChangeValue, of contents: TreeContents) -> MirrorKey? {
      guard let value = value(.plain(member), of: contents, "a member") else { return nil }
      return MirrorKey(value)
    }

    private mutating func value(
      _ value: TreeValue, of contents: TreeContents, _ key: String
    ) -> MirrorValue? {
      switch value {
      case .object(let entry):
        if let node = node(of: entry) { return .node(node) }
        return refuse("an object that is no part of the tree", contents, key)
      case .plain(let value): return data(value, contents, key)
      }
    }

    private mutating func data(
      _ value: ChangeValue, _ contents: TreeContents, _ key: String
    ) -> MirrorValue? {
      switch value {
      case .boolean(let value): return .boolean(value)
      case .integer(let value): return .integer(Int64(value))
      case .number(let value): return .number(value)
      case .text(let value): return .text(Array(value.utf8))
      case .list(let values):
        let node = makeNode(.plain)
        let list = values.compactMap { data($0, contents, key) }
        all.append(.contents(node, list, [:]))
        return .node(node)
      case .map(let values):
        let node = makeNode(.plain)
        var fields: [MirrorKey: MirrorValue] = [:]
        for (name, value) in values { fields[.text(Array(name.utf8))] = data(value, contents, key) }
        all.append(.contents(node, [], fields))
        return .node(node)
      case .native(let value):
        return refuse("a value of type \(type(of: value))", contents, key)
      }
    }

    private mutating func refuse(
      _ what: String, _ contents: TreeContents, _ key: String
    ) -> MirrorValue? {
      if obstacle == nil {
        let owner = if case .model(let name) = contents.shape { name } else { "a collection" }
        obstacle = "'\(key)' of \(owner) holds \(what), which a mirror does not carry"
      }
      return nil
    }
  }

  // MARK: The changes of others

  func perform(_ step: MirrorStep, from writer: String) {
    collect()
    made = [:]
    var failure: Unfit?
    func attempt(_ node: MirrorNode, _ body: () throws -> Void) {
      do { try body() } catch {
        failure = failure ?? error as? Unfit ?? Unfit(node: node.id, key: nil, reason: "\(error)")
      }
    }
    for node in step.came { claim(node) }
    follower.batch(RemoteOrigin(name: name)) {
      for node in step.came {
        if let object = objects[node.handle] { attempt(node) { try bring(node, object) } }
      }
      step.forEachChange { node, list, keys in
        guard let object = objects[node.handle] else {
          return attempt(node) { try storeAnew(node) }
        }
        attempt(node) { try write(node, object, list: list != nil, keys: keys) }
      }
    }
    for node in step.left {
      if let entry = objects[node.handle].flatMap({ follower.entry(of: $0) }),
        handles[entry] == node.handle
      {
        forget(entry)
      } else {
        departed.append(node.handle)
      }
    }
    note(follower.take())
    made = [:]
    didChange()
    if let failure {
      session.failToPerform(
        on: session.document.known(failure.node), under: failure.key, failure.reason)
    }
  }

  /// A change of another process that does not fit an object of this tree.
  private struct Unfit: Error {
    let node: NodeID
    let key: MirrorKey?
    let reason: String
  }

  /// Lets an object that was here before come back, unless it has come back under another name.
  private func claim(_ node: MirrorNode) {
    guard let object = objects[node.handle] else { return }
    let entry = follower.entry(of: object)
    let owner = made[ObjectIdentifier(object)] ?? entry.flatMap { handles[$0] }
    if let owner, owner != node.handle {
      objects[node.handle] = nil
    } else {
      made[ObjectIdentifier(object)] = node.handle
      if let entry { handles[entry] = node.handle }
    }
  }

  /// Names the objects that came.
  private func note(_ written: TreeFollower.Written?) {
    guard let written else { return }
    var unknown: [TreeFollower.Item] = []
    for (entry, contents) in written.came {
      guard let object = entry.object else { continue }
      if let handle = made[ObjectIdentifier(object)] {
        handles[entry] = handle
      } else {
        unknown.append((entry, contents))
      }
    }
    for entry in written.left where handles[entry] != nil { forget(entry) }
    if session.refusal != nil { return }
    // Objects and values that `init(from:)` added are changes of this process.
    var operations = Operations(self)
    for (entry, contents) in unknown { operations.make(entry, contents) }
    for (entry, contents) in unknown { operations.fill(entry, contents) }
    for (entry, contents) in written.came where handles[entry].map({ $0 < 0 }) == true {
      guard let node = session.document.node(ofHandle: handles[entry]!) else { continue }
      operations.complete(node, contents)
    }
    if operations.obstacle == nil, !operations.all.isEmpty {
      session.wrote(operations.all, size: 40 * operations.all.count)
    }
  }

  /// Makes an object equal to its contents in the document.
  private func bring(_ node: MirrorNode, _ object: AnyObject) throws {
    let writing = TreeWriting(object)
    // A property that is not optional keeps its value.
    for key in writing.keys where node.fields[MirrorKey(key)] == nil {
      try? writing.store(nil, under: key)
    }
    try write(node, object, list: node.kind == .array, keys: Array(node.fields.keys))
  }

  private func write(
    _ node: MirrorNode, _ object: AnyObject, list: Bool, keys: [MirrorKey]
  ) throws {
    let writing = TreeWriting(object)
    switch node.kind {
    case .set:
      try writing.setMembers(
        node.fields.keys.map { ChangeValue(MirrorValue($0)) ?? .boolean(true) })
    case .array:
      let elements = try node.list.enumerated().map { index, value in
        try self.value(value, under: .index(index + 1), writing)
      }
      try writing.setElements(elements)
    case .plain, .dictionary:
      if list, !node.list.isEmpty {
        throw TreeWriting.Refusal(description: "\(type(of: object)) has no elements")
      }
      for key in keys {
        do {
          let name = DeepChange.Key(key)
          let value = try node.fields[key].map { try self.value($0, under: name, writing) }
          if let value, let present = writing.value(name), !(value is ChangeValue),
            present as AnyObject === value as AnyObject
          {
            continue
          }
          try writing.store(value, under: name)
        } catch { throw Unfit(node: node.id, key: key, reason: "\(error)") }
      }
    }
  }

  /// The value to store: an object that is here or is made, or data.
  private func value(
    _ value: MirrorValue, under key: DeepChange.Key, _ writing: TreeWriting
  ) throws -> Any {
    guard let node = value.node else { return ChangeValue(value) ?? .boolean(false) }
    if let object = objects[node.handle] { return object }
    var seen: Set<ObjectIdentifier> = []
    let made = try writing.made(of: try data(of: node, &seen, depth: 0), under: key)
    guard !(made is ChangeValue) else { return made }
    var fresh: [(MirrorNode, AnyObject)] = []
    adopt(made as AnyObject, as: node, &fresh)
    // The data has left out objects that are here, and further ways to the same ones.
    for (node, object) in fresh { try bring(node, object) }
    return made
  }

  /// Names an object that was made from data, and the objects in it.
  private func adopt(
    _ object: AnyObject, as node: MirrorNode, _ fresh: inout [(MirrorNode, AnyObject)]
  ) {
    objects[node.handle] = object
    made[ObjectIdentifier(object)] = node.handle
    fresh.append((node, object))
    let writing = TreeWriting(object)
    func descend(_ value: MirrorValue, _ key: DeepChange.Key) {
      guard let child = value.node, objects[child.handle] == nil,
        let inner = writing.value(key), TreeWriting.isObject(inner),
        made[ObjectIdentifier(inner as AnyObject)] == nil
      else { return }
      adopt(inner as AnyObject, as: child, &fresh)
    }
    for (index, value) in node.list.enumerated() { descend(value, .index(index + 1)) }
    for (key, value) in node.fields { descend(value, DeepChange.Key(key)) }
  }

  /// The contents of an object as data, without objects that are here and without cycles.
  private func data(
    of node: MirrorNode, _ seen: inout Set<ObjectIdentifier>, depth: Int
  ) throws -> ChangeValue {
    // Decoding is recursive, and so is the release of objects that own each other.
    guard depth < 200 else {
      throw TreeWriting.Refusal(description: "data is nested more than 200 levels deep")
    }
    seen.insert(ObjectIdentifier(node))
    func value(_ value: MirrorValue) throws -> ChangeValue? {
      guard let child = value.node else { return ChangeValue(value) }
      if objects[child.handle] != nil || seen.contains(ObjectIdentifier(child)) { return nil }
      return try data(of: child, &seen, depth: depth + 1)
    }
    switch node.kind {
    case .array:
      // If an element is left out, `bring` sets the whole list: data is matched by position.
      let elements = try node.list.map(value)
      return .list(elements.contains { $0 == nil } ? [] : elements.compactMap { $0 })
    case .set: return .list(node.fields.keys.compactMap { ChangeValue(MirrorValue($0)) })
    case .plain where node.fields.isEmpty && !node.list.isEmpty:
      return .list(try node.list.compactMap(value))
    case .plain, .dictionary:
      var map: [String: ChangeValue] = [:]
      for (key, field) in node.fields { map[DeepChange.Key(key).description] = try value(field) }
      for (index, element) in node.list.enumerated() { map["\(index + 1)"] = try value(element) }
      return .map(map)
    }
  }

  /// Stores data again that has changed inside.
  private func storeAnew(_ node: MirrorNode) throws {
    guard let (owner, key) = node.place, let above = session.document.known(owner) else { return }
    guard let object = objects[above.handle] else { return try storeAnew(above) }
    try write(above, object, list: above.kind == .array, keys: [key])
  }

  // MARK: Reports

  func rejected(_ rejections: MirrorRejections) {
    func plain(_ value: MirrorValue?) -> Any? {
      guard let value else { return nil }
      if let node = value.node { return objects[node.handle] }
      return ChangeValue(value)
    }
    onRejected(
      rejections.all.map { rejection in
        let kind: DeepChange.Kind =
          switch rejection.kind {
          case .set: .set
          case .insert: .insert
          case .remove: .remove
          case .move: .move
          }
        let now = objects[rejection.node.handle].flatMap {
          TreeWriting($0).value(DeepChange.Key(rejection.key))
        }
        return RejectedChange(
          path: (rejection.path + [rejection.key]).map { DeepChange.Key($0) }, kind: kind,
          old: plain(rejection.old), new: plain(rejection.new), now: now)
      })
  }

  func statusDidChange() {
    didChange()
    onStatus()
  }

  func report(_ error: MirrorError) { onError(error) }
  func warn(_ text: String) { onWarning(text) }
}

extension MirrorValue {
  /// The number that data is; nil for other data.
  fileprivate init?(number value: ChangeValue) {
    switch value {
    case .integer(let value): self = .integer(Int64(value))
    case .number(let value): self = .number(value)
    default: return nil
    }
  }
}

extension MirrorKey {
  init(_ key: DeepChange.Key) {
    switch key {
    case .name(let name): self = .text(Array(name.utf8))
    case .index(let index): self = .integer(Int64(index))
    case .number(let number): self = .number(number)
    case .boolean(let flag): self = .boolean(flag)
    }
  }
}

extension DeepChange.Key {
  init(_ key: MirrorKey) {
    switch key {
    case .text(let name): self = .name(String(decoding: name, as: UTF8.self))
    case .integer(let index): self = .index(Int(index))
    case .number(let number): self = .number(number)
    case .boolean(let flag): self = .boolean(flag)
    }
  }
}

extension ChangeValue {
  /// A value that is no object; nil for an object.
  fileprivate init?(_ value: MirrorValue) {
    switch value {
    case .boolean(let value): self = .boolean(value)
    case .integer(let value): self = .integer(Int(value))
    case .number(let value): self = .number(value)
    case .text(let value): self = .text(String(decoding: value, as: UTF8.self))
    case .node: return nil
    }
  }
}
