/// Applies changes to a tree of Swift objects.
///
/// References to objects of the state before are resolved first. Keys are written at once, and
/// restored if a later change does not fit. Lists are changed in a copy, which is stored at the
/// end: references to objects of the final state can only be resolved after the last change.
struct ChangePlan {
  let root: AnyObject
  private var former: [Int: AnyObject] = [:]
  private var formerOld: [Int: AnyObject] = [:]
  /// Actions that restore the written keys.
  private var undo: [() -> Void] = []
  private var lists: [ObjectIdentifier: List] = [:]
  /// Objects that left a key, and their paths after the last change.
  private var leaving: [(index: Int, object: AnyObject?, path: [DeepChange.Key])] = []
  /// Keys whose object is only known after the last change.
  private var later: [Place: (index: Int, path: [DeepChange.Key], owner: AnyObject)] = [:]

  /// The reason why a change does not fit.
  struct Misfit: Error { let reason: String }

  private struct Place: Hashable {
    let owner: ObjectIdentifier
    let key: DeepChange.Key
  }

  fileprivate struct List {
    let array: any DynamicArray
    let order: Int
    var slots: [Slot]
  }

  /// An element of a changed list.
  fileprivate enum Slot {
    case value(Any)
    /// The object at a path after the last change.
    case later([DeepChange.Key], index: Int)
  }

  private init(_ root: AnyObject) { self.root = root }

  /// Makes the changes; returns the number of skipped ones.
  static func apply(_ changes: [DeepChange], to root: AnyObject, force: Bool) throws -> Int {
    var skipped: Set<Int> = []
    while true {
      var plan = ChangePlan(root)
      do {
        try plan.make(changes, skipping: &skipped, force: force)
        return skipped.count
      } catch let late as Misfits {
        for back in plan.undo.reversed() { back() }
        let known = skipped.count
        for (index, _) in late.all { skipped.insert(index) }
        guard force, skipped.count > known else {
          let (index, reason) = late.all[0]
          let change = changes[index]
          throw ChangeError(index: index, path: change.path, kind: change.kind, reason: reason)
        }
        // The other changes are made again.
      }
    }
  }

  /// The changes that do not fit; not empty.
  private struct Misfits: Error {
    var all: [(index: Int, reason: String)] = []
  }

  private mutating func make(
    _ changes: [DeepChange], skipping skipped: inout Set<Int>, force: Bool
  ) throws {
    for (index, change) in changes.enumerated() {
      if case .before(let path)? = change.reference { former[index] = try? object(path) }
      if case .before(let path)? = change.oldReference { formerOld[index] = try? object(path) }
    }
    for (index, change) in changes.enumerated() where !skipped.contains(index) {
      do { try make(change, index) } catch let misfit as Misfit {
        guard force else { throw Misfits(all: [(index, misfit.reason)]) }
        skipped.insert(index)
        leaving.removeAll { $0.index == index }
      }
    }
    try finish()
  }

  /// Stores objects that are known only after all changes were made.
  private mutating func finish() throws {
    var misfits = Misfits()
    func checked<Result>(_ index: Int, _ body: () throws -> Result) throws -> Result? {
      do { return try body() } catch let misfit as Misfit {
        misfits.all.append((index, misfit.reason))
        return nil
      }
    }
    for (index, present, path) in leaving {
      _ = try checked(index) {
        guard let present, try object(path) === present else {
          throw Misfit(reason: "another object was there")
        }
      }
    }
    var objects: [(owner: AnyObject, key: DeepChange.Key, object: AnyObject, index: Int)] = []
    for (place, entry) in later {
      guard let found = try checked(entry.index, { try object(entry.path) }) else { continue }
      objects.append((entry.owner, place.key, found, entry.index))
    }
    var arrays: [(array: any DynamicArray, elements: [Any])] = []
    for list in lists.values.sorted(by: { $0.order < $1.order }) {
      let elements = try list.slots.compactMap { slot -> Any? in
        switch slot {
        case .value(let value): return value
        case .later(let path, let index):
          return try checked(index) { try list.array.element(for: try object(path)) }
        }
      }
      arrays.append((list.array, elements))
    }
    for (owner, key, object, index) in objects.sorted(by: { $0.index < $1.index })
    where misfits.all.isEmpty {
      let access = TreeAccess(owner)
      let present = (try? access.value(key)) ?? nil
      if try checked(index, { try access.store(object, key) }) != nil {
        undo.append { try? access.store(present, key) }
      }
    }
    if !misfits.all.isEmpty { throw misfits }
    for (array, elements) in arrays { array.dynamicSet(elements) }
  }

  /// The value under a key of an object, after the changes so far.
  private func value(_ key: DeepChange.Key, of owner: AnyObject, _ depth: Int) throws -> Any? {
    if let list = lists[ObjectIdentifier(owner)] {
      guard case .index(let position) = key, list.slots.indices.contains(position - 1) else {
        return nil
      }
      switch list.slots[position - 1] {
      case .value(let value): return value
      case .later(let path, _): return try object(path, depth + 1)
      }
    }
    if let entry = later[Place(owner: ObjectIdentifier(owner), key: key)] {
      return try object(entry.path, depth + 1)
    }
    return try TreeAccess(owner).value(key)
  }

  private func object(_ path: [DeepChange.Key], _ depth: Int = 0) throws -> AnyObject {
    guard depth < 100 else { throw Misfit(reason: "its reference leads through itself") }
    var object = root
    for (count, key) in path.enumerated() {
      guard let next = try value(key, of: object, depth).flatMap({ flattened($0) }),
        isTreeObject(next)
      else {
        let text = path[...count].map(\.description).joined(separator: ".")
        throw Misfit(reason: "there is no object at '\(text)'")
      }
      object = next as AnyObject
    }
    return object
  }

  private mutating func make(_ change: DeepChange, _ index: Int) throws {
    if change.kind != .set, change.kind != .move, change.reference == nil,
      change.oldReference == nil, change.model == nil, change.type ?? .set == .set,
      change.type == .set || !change.path.endsInPosition,
      let set = try object(change.path) as? any DynamicSet
    {
      return try changeMember(change, of: set)
    }
    guard let key = change.path.last else { throw Misfit(reason: "its path is empty") }
    let owner = try object(Array(change.path.dropLast()))
    if let array = owner as? any DynamicArray {
      return try changeList(change, index, key, array)
    }
    guard change.kind == .set else { throw Misfit(reason: "'\(key)' is not an array position") }
    try setKey(change, index, key, TreeAccess(owner))
  }

  private mutating func changeList(
    _ change: DeepChange, _ index: Int, _ key: DeepChange.Key, _ array: any DynamicArray
  ) throws {
    if let source = array.source { throw Misfit(reason: source.refusal) }
    let id = ObjectIdentifier(array)
    let order = lists.count
    var list =
      lists[id]
      ?? List(
        array: array, order: order,
        slots: array.dynamicEntries.map { .value($0.value as Any) })
    let position = try list.position(key, upTo: change.kind == .insert ? 1 : 0)
    func slot() throws -> Slot {
      if case .after(let path)? = change.reference { return .later(path, index: index) }
      let access = TreeAccess(array)
      guard let value = try value(change, index, access, key) else {
        throw Misfit(reason: "no value is given")
      }
      return .value(try array.element(for: value))
    }
    if change.kind == .set || change.kind == .remove, case .value(let value) = list.slots[position]
    {
      try check(change, index, flattened(value))
    }
    switch change.kind {
    case .insert: list.slots.insert(try slot(), at: position)
    case .remove: list.slots.remove(at: position)
    case .set: list.slots[position] = try slot()
    case .move:
      let from = try list.position(.index(change.from ?? 0), upTo: 0)
      list.slots.insert(list.slots.remove(at: from), at: position)
    }
    lists[id] = list
  }

  private mutating func setKey(
    _ change: DeepChange, _ index: Int, _ key: DeepChange.Key, _ access: TreeAccess
  ) throws {
    let place = Place(owner: ObjectIdentifier(access.object), key: key)
    let present = try access.value(key)
    if later[place] == nil { try check(change, index, present) }
    later[place] = nil
    if case .after(let path)? = change.reference {
      later[place] = (index, path, access.object)
      return
    }
    let new = try value(change, index, access, key)
    try access.store(new, key)
    undo.append { try? access.store(present, key) }
  }

  private mutating func changeMember(_ change: DeepChange, of set: any DynamicSet) throws {
    let data = change.kind == .insert ? change.new : change.old
    guard let member = data.flatMap({ set.fit($0.candidates) }) else {
      throw Misfit(reason: "the set has members of another type")
    }
    if change.kind == .insert {
      guard set.dynamicInsert(member) else { throw Misfit(reason: "the member is in the set") }
      undo.append { _ = set.dynamicRemove(member) }
    } else {
      guard set.dynamicRemove(member) else { throw Misfit(reason: "the member is not in the set") }
      undo.append { _ = set.dynamicInsert(member) }
    }
  }

  /// The value that a change stores; nil if the key is to be removed.
  private func value(
    _ change: DeepChange, _ index: Int, _ access: TreeAccess, _ key: DeepChange.Key
  ) throws -> Any? {
    switch change.reference {
    case .before:
      guard let object = former[index] else {
        throw Misfit(reason: "its reference leads to no object")
      }
      return object
    case .after, nil:
      guard let new = change.new else { return nil }
      return try access.made(of: new, key, isObject: change.model != nil || change.type != nil)
    }
  }

  /// The elements of an array that the changes so far have edited.
  private func elements(of array: AnyObject) -> [Any?]? {
    lists[ObjectIdentifier(array)]?.slots.map { slot in
      switch slot {
      case .value(let value): flattened(value)
      case .later(let path, _): try? object(path)
      }
    }
  }

  /// Checks what is there before a change.
  private mutating func check(_ change: DeepChange, _ index: Int, _ present: Any?) throws {
    switch change.oldReference {
    case .before:
      guard let old = formerOld[index], old === present as AnyObject? else {
        throw Misfit(reason: "another object was there")
      }
      return
    case .after(let path):
      leaving.append((index, present as AnyObject?, path))
      return
    case nil: break
    }
    let plan = self
    let data = present.map { TreeAccess.data(of: $0) { plan.elements(of: $0) } }
    if change.old == nil, present == nil || change.kind == .remove { return }
    guard let old = change.old, let data, old == data else {
      throw Misfit(reason: "something else was there")
    }
  }
}

extension ChangePlan.List {
  /// Converts a position to an index; `extra` is the number of allowed positions after the end.
  fileprivate func position(_ key: DeepChange.Key, upTo extra: Int) throws -> Int {
    guard case .index(let position) = key else {
      throw ChangePlan.Misfit(reason: "'\(key)' is not an array position")
    }
    guard position >= 1, position <= slots.count + extra else {
      throw ChangePlan.Misfit(
        reason: "position \(position) is out of range, the array has \(slots.count) elements")
    }
    return position - 1
  }
}

extension [DeepChange.Key] {
  fileprivate var endsInPosition: Bool { if case .index? = last { true } else { false } }
}

extension DynamicArray {
  /// The element that a value of a change, or an object, is in this array.
  ///
  /// - Throws: `ChangePlan.Misfit` for a value of another type.
  func element(for value: Any) throws -> Any {
    guard let element = fit((value as? ChangeValue)?.candidates ?? [value]) else {
      throw ChangePlan.Misfit(reason: "the array has elements of type \(elementType)")
    }
    return element
  }
}
