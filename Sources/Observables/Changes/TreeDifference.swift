/// Computes the changes from one state of a tree to another (X2).
///
/// Objects of both states are *kept*; the others are *removed* or *new*. Kept and removed objects
/// are processed from the deepest on, each at its old path: everything on this path is unchanged
/// until the object's own turn. From a removed object, everything that must stay is taken out
/// first; then the object is removed as data. A new object is inserted as data; then shared objects
/// are inserted into it. So the list can be applied from its first change on, and the reversed list
/// is the inverse.
struct TreeDifference {
  /// One of the two states.
  struct Side {
    let walk: TreeWalk
    let contents: (TreeEntry) -> TreeContents
    /// The objects that exist only in this state.
    let only: Set<TreeEntry>
    let moves = Moves()

    /// The key of an object in its owner.
    func key(of entry: TreeEntry) -> DeepChange.Key? {
      guard let (owner, key) = walk.place(of: entry) else { return nil }
      let contents = contents(owner)
      if contents[key]?.entry === entry { return key }
      return moves.key(of: entry, in: owner, contents) ?? key
    }

    func path(to entry: TreeEntry) -> [DeepChange.Key] {
      var (path, entry): ([DeepChange.Key], TreeEntry) = ([], entry)
      while let owner = walk.place(of: entry)?.owner, let key = key(of: entry) {
        path.append(key)
        entry = owner
      }
      return path.reversed()
    }

    /// Whether an object is added or removed together with the change of this key.
    func isInner(_ entry: TreeEntry, _ key: DeepChange.Key, in owner: TreeEntry) -> Bool {
      only.contains(entry) && walk.place(of: entry)?.owner === owner
        && self.key(of: entry) == key
    }

    /// The maximum nesting of data: it is released recursively, and tables can be nested deeper.
    private static var greatestDepth: Int { 200 }

    /// Whether an object comes or leaves as part of the data of its owner, which is at a depth.
    ///
    /// Other objects have changes of their own: the data does not say which model or collection a
    /// table is, and a property of a class does not say that its value is a table.
    func isData(
      _ entry: TreeEntry, _ key: DeepChange.Key, in owner: TreeEntry, at depth: Int
    ) -> Bool {
      guard isInner(entry, key, in: owner) else { return false }
      let inner = contents(entry)
      guard contents(owner).isTable else { return !inner.isTable }
      return inner.shape == .table && (depth + 1) % Side.greatestDepth != 0
    }

    /// Whether an object holds objects that its data leaves out.
    func leavesParts(_ entry: TreeEntry, at depth: Int) -> Bool {
      var result = false
      contents(entry).forEachObject { key, child in
        result = result || !isData(child, key, in: entry, at: depth)
      }
      return result
    }

    /// The object as data, including the objects that belong to its data.
    ///
    /// `depth` is the length of its path.
    func data(_ root: TreeEntry, at depth: Int) -> ChangeValue {
      // The nesting of Swift objects that own each other is limited by their recursive release.
      let contents = contents(root)
      func value(_ value: TreeValue, at key: DeepChange.Key) -> ChangeValue? {
        switch value {
        case .plain(let value): value
        case .object(let entry):
          isData(entry, key, in: root, at: depth) ? data(entry, at: depth + 1) : nil
        }
      }
      switch contents.shape {
      case .array,
        .table where contents.fields.isEmpty && !contents.list.isEmpty:
        return .list(
          contents.list.enumerated().compactMap { value($0.element, at: .index($0.offset + 1)) })
      case .set:
        return .list(contents.sortedMembers)
      case .model, .dictionary, .table:
        var fields: [String: ChangeValue] = [:]
        for (key, field) in contents.keyed { fields[key.description] = value(field, at: key) }
        return .map(fields)
      }
    }
  }

  /// The present keys of all objects in each owner in which an object has moved since the walk.
  final class Moves {
    private var keys: [TreeEntry: [TreeEntry: DeepChange.Key]] = [:]
    /// How often contents were searched, for tests.
    private(set) var searchCount = 0

    /// The first key of an object in the contents of its owner.
    ///
    /// - Complexity: O(contents) for the first object of an owner, O(1) for the others.
    func key(
      of entry: TreeEntry, in owner: TreeEntry, _ contents: TreeContents
    ) -> DeepChange.Key? {
      if let known = keys[owner] { return known[entry] }
      var found: [TreeEntry: DeepChange.Key] = [:]
      contents.forEachObject { key, entry in
        if found[entry] == nil { found[entry] = key }
      }
      searchCount += 1
      keys[owner] = found
      return found[entry]
    }
  }

  let before: Side
  let after: Side
  private(set) var changes: [DeepChange] = []

  init(before: Side, after: Side, of entries: [TreeEntry]) {
    (self.before, self.after) = (before, after)
    var depths = Depths(before.walk)
    let items = entries.compactMap { entry -> (entry: TreeEntry, path: [DeepChange.Key])? in
      if before.only.contains(entry), !before.leavesParts(entry, at: depths[entry]) { return nil }
      return (entry, before.path(to: entry))
    }
    let deepestFirst = items.enumerated().sorted { a, b in
      let (first, second) = (a.element.path.count, b.element.path.count)
      return first == second ? a.offset < b.offset : first > second
    }
    for (_, item) in deepestFirst {
      if before.only.contains(item.entry) {
        strip(item.entry, item.path)
      } else {
        compare(item.entry, item.path)
      }
    }
  }

  /// A whole tree as data, with changes for the references that the data leaves out.
  static func snapshot(of root: TreeEntry, _ side: Side) -> ChangeSnapshot {
    var made = TreeDifference(before: side, after: side, of: [])
    made.complete(root, [])
    return ChangeSnapshot(value: side.data(root, at: 0), references: made.changes)
  }

  /// Adds the change of one key, with the old and the new value.
  private mutating func add(
    _ kind: DeepChange.Kind, _ path: [DeepChange.Key], _ owner: TreeEntry,
    old: (TreeValue, DeepChange.Key)?, new: (TreeValue, DeepChange.Key)?, completes: Bool = true
  ) {
    var change = DeepChange(path: path, kind: kind)
    var split: DeepChange?
    if case (let value, let key)? = old {
      switch value {
      case .plain(let value): change.old = value
      case .object(let entry) where before.isInner(entry, key, in: owner):
        let contents = before.contents(entry)
        (change.old, change.model, change.type) = (
          before.data(entry, at: path.count), contents.model, contents.type
        )
      case .object(let entry):
        change.oldReference =
          before.only.contains(entry)
          ? .before(before.path(to: entry)) : .after(after.path(to: entry))
      }
    }
    if case (let value, let key)? = new {
      switch value {
      case .plain(let value): change.new = value
      case .object(let entry) where after.isInner(entry, key, in: owner):
        let contents = after.contents(entry)
        if change.old != nil, change.model != contents.model || change.type != contents.type {
          split = change
          change = DeepChange(path: path, kind: kind == .set ? .set : .insert)
        }
        (change.new, change.model, change.type) = (
          after.data(entry, at: path.count), contents.model, contents.type
        )
      case .object(let entry):
        change.reference =
          after.only.contains(entry)
          ? .after(after.path(to: entry)) : .before(before.path(to: entry))
      }
    }
    if let split { changes.append(split) }
    changes.append(change)
    if completes, case (.object(let entry), let key)? = new, after.isInner(entry, key, in: owner) {
      complete(entry, path)
    }
  }

  /// Inserts the references that the data of a new object left out, into the object and the objects
  /// in it.
  private mutating func complete(_ root: TreeEntry, _ path: [DeepChange.Key]) {
    // Paths are made only when they are needed: for deeply nested tables, all of them would not fit
    // into memory.
    typealias Item = (entry: TreeEntry, owner: Int, key: DeepChange.Key, depth: Int)
    var work: [Item] = [(root, -1, .index(0), path.count)]
    func place(_ index: Int) -> [DeepChange.Key] {
      var (keys, index): ([DeepChange.Key], Int) = ([], index)
      while work[index].owner >= 0 {
        keys.append(work[index].key)
        index = work[index].owner
      }
      return path + keys.reversed()
    }
    var next = 0
    while next < work.count {
      let (owner, index) = (work[next], next)
      next += 1
      let contents = after.contents(owner.entry)
      var inner: [Item] = []
      var cut: [(DeepChange.Key, TreeEntry)] = []
      contents.forEachObject { key, entry in
        if after.isData(entry, key, in: owner.entry, at: owner.depth) {
          inner.append((entry, index, key, owner.depth + 1))
        } else {
          cut.append((key, entry))
        }
      }
      for (key, entry) in cut {
        add(
          contents.isPosition(key) ? .insert : .set, place(index) + [key], owner.entry, old: nil,
          new: (.object(entry), key), completes: false)
        if after.isInner(entry, key, in: owner.entry) {
          work.append((entry, index, key, owner.depth + 1))
        }
      }
      work += inner
    }
  }

  /// Takes everything out of a removed object that is not removed with it.
  private mutating func strip(_ owner: TreeEntry, _ path: [DeepChange.Key]) {
    let contents = before.contents(owner)
    var cut: [(DeepChange.Key, TreeEntry)] = []
    contents.forEachObject { key, entry in
      if !before.isData(entry, key, in: owner, at: path.count) { cut.append((key, entry)) }
    }
    for (key, entry) in cut.reversed() {
      add(
        contents.isPosition(key) ? .remove : .set, path + [key], owner,
        old: (.object(entry), key), new: nil)
    }
  }

  private mutating func compare(_ owner: TreeEntry, _ path: [DeepChange.Key]) {
    let (old, new) = (before.contents(owner), after.contents(owner))
    switch new.shape {
    case .set:
      let type: DeepChange.CollectionType? = if case .index = path.last { .set } else { nil }
      for member in old.sortedMembers(without: new) {
        changes.append(DeepChange(path: path, kind: .remove, old: member, type: type))
      }
      for member in new.sortedMembers(without: old) {
        changes.append(DeepChange(path: path, kind: .insert, new: member, type: type))
      }
    case .array: compareLists(owner, path, old.list, new.list)
    case .model, .dictionary, .table:
      let areLists = old.shape == .table && new.shape == .table && !old.isSparse && !new.isSparse
      if areLists { compareLists(owner, path, old.list, new.list) }
      let (former, present) = areLists ? (old.fields, new.fields) : (old.keyed, new.keyed)
      for key in TreeContents.differingKeys(former, present) {
        let (first, second) = (former[key], present[key])
        add(.set, path + [key], owner, old: first.map { ($0, key) }, new: second.map { ($0, key) })
      }
    }
  }

  private mutating func compareLists(
    _ owner: TreeEntry, _ path: [DeepChange.Key], _ old: [TreeValue], _ new: [TreeValue]
  ) {
    let steps = EditScript.steps(old, new)
    if let (from, to) = EditScript.move(steps, old: old, new: new, same: TreeValue.areSame) {
      changes.append(DeepChange(path: path + [.index(to + 1)], kind: .move, from: from + 1))
      return
    }
    for step in steps {
      switch step {
      case .insert(let at, let index):
        add(
          .insert, path + [.index(at + 1)], owner, old: nil,
          new: (new[index], .index(index + 1)))
      case .remove(let at, let index):
        add(
          .remove, path + [.index(at + 1)], owner, old: (old[index], .index(index + 1)), new: nil)
      case .replace(let at, let from, let to):
        replace(path + [.index(at + 1)], owner, (old[from], from), (new[to], to))
      }
    }
  }

  private mutating func replace(
    _ path: [DeepChange.Key], _ owner: TreeEntry, _ old: (TreeValue, Int), _ new: (TreeValue, Int)
  ) {
    let (first, second) = (
      (old.0, DeepChange.Key.index(old.1 + 1)),
      (new.0, DeepChange.Key.index(new.1 + 1))
    )
    // In a list, an object and a value of another type need two changes.
    if let a = old.0.entry, let b = new.0.entry, before.contents(a).shape != after.contents(b).shape
    {
      add(.remove, path, owner, old: first, new: nil)
      add(.insert, path, owner, old: nil, new: second)
    } else {
      add(.set, path, owner, old: first, new: second)
    }
  }
}

/// The lengths of the paths of objects, each found once.
private struct Depths {
  private let walk: TreeWalk
  private var known: [TreeEntry: Int] = [:]

  init(_ walk: TreeWalk) { self.walk = walk }

  subscript(entry: TreeEntry) -> Int {
    mutating get {
      var (way, top): ([TreeEntry], TreeEntry) = ([], entry)
      while known[top] == nil, let owner = walk.place(of: top)?.owner {
        way.append(top)
        top = owner
      }
      var depth = known[top] ?? 0
      known[top] = depth
      for entry in way.reversed() {
        depth += 1
        known[entry] = depth
      }
      return depth
    }
  }
}

extension EditScript {
  /// The move that two steps represent, if they do.
  static func move<Element>(
    _ steps: [Step], old: [Element], new: [Element], same: (Element, Element) -> Bool
  ) -> (from: Int, to: Int)? {
    guard steps.count == 2 else { return nil }
    switch (steps[0], steps[1]) {
    case (.remove(let from, let first), .insert(let to, let second))
    where same(old[first], new[second]):
      return (from, to)
    case (.insert(let to, let second), .remove(let from, let first))
    where same(old[first], new[second]):
      return (from - 1, to)
    default: return nil
    }
  }
}

extension TreeContents {
  var sortedMembers: [ChangeValue] {
    members.sorted { "\($0.key)" < "\($1.key)" }.map(\.value)
  }

  func sortedMembers(without other: TreeContents) -> [ChangeValue] {
    members.filter { other.members[$0.key] == nil }.sorted { "\($0.key)" < "\($1.key)" }
      .map(\.value)
  }
}
