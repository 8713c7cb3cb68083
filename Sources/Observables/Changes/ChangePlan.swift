/// Applies changes to a tree of Swift objects.
///
/// References to what is there before are resolved first. Each change is checked, and made at once;
/// where one does not fit, those before it are taken back, the last first.
struct ChangePlan {
  let root: AnyObject
  private var former: [Int: AnyObject] = [:]
  private var formerOld: [Int: AnyObject] = [:]
  /// How to take back what was written.
  private var undo: [() -> Void] = []
  /// Keys whose object is only there after the last change.
  private var later: [(index: Int, path: [DeepChange.Key], store: (AnyObject) throws -> Void)] = []

  /// Why a change does not fit.
  struct Misfit: Error { let reason: String }

  private init(_ root: AnyObject) { self.root = root }

  /// Makes the changes; returns how many were skipped.
  static func apply(_ changes: [DeepChange], to root: AnyObject, force: Bool) throws -> Int {
    var plan = ChangePlan(root)
    for (index, change) in changes.enumerated() {
      if case .before(let path)? = change.reference { plan.former[index] = try? plan.object(path) }
      if case .before(let path)? = change.oldReference {
        plan.formerOld[index] = try? plan.object(path)
      }
    }
    var skipped = 0
    func fail(_ index: Int, _ misfit: Misfit) throws {
      if force {
        skipped += 1
      } else {
        for back in plan.undo.reversed() { back() }
        let change = changes[index]
        throw ChangeError(
          index: index, path: change.path, kind: change.kind, reason: misfit.reason)
      }
    }
    for (index, change) in changes.enumerated() {
      do { try plan.make(change, index) } catch let misfit as Misfit { try fail(index, misfit) }
    }
    for (index, path, store) in plan.later {
      do { try store(plan.object(path)) } catch let misfit as Misfit { try fail(index, misfit) }
    }
    return skipped
  }

  private func object(_ path: [DeepChange.Key]) throws -> AnyObject {
    var object = root
    for (count, key) in path.enumerated() {
      guard let next = try TreeAccess(object).value(key).flatMap({ $0 as AnyObject? }),
        isTreeObject(next)
      else {
        let text = path[...count].map(\.description).joined(separator: ".")
        throw Misfit(reason: "there is no object at '\(text)'")
      }
      object = next
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
    let access = TreeAccess(owner)
    switch change.kind {
    case .set: try setKey(change, index, key, access)
    case .insert:
      let array = try access.array(key, upTo: 1)
      let value = try self.value(change, index, access, key)
      guard let value = try array.element(value) else { throw Misfit(reason: "no value is given") }
      array.array.dynamicInsert([value], at: array.index)
      undo.append { _ = array.array.dynamicRemove(at: array.index) }
    case .remove:
      let array = try access.array(key, upTo: 0)
      try check(change, index, array.array.dynamicElement(at: array.index))
      guard let old = array.array.dynamicRemove(at: array.index) else { return }
      undo.append {
        if let old = array.array.fit([old]) { array.array.dynamicInsert([old], at: array.index) }
      }
    case .move:
      let array = try access.array(key, upTo: 0)
      guard let from = change.from, from >= 1, from <= array.array.valueCount else {
        throw Misfit(reason: "position \(change.from ?? 0) is out of range")
      }
      array.array.move(from: from - 1, to: array.index)
      undo.append { array.array.move(from: array.index, to: from - 1) }
    }
  }

  private mutating func setKey(
    _ change: DeepChange, _ index: Int, _ key: DeepChange.Key, _ access: TreeAccess
  ) throws {
    let present = try access.value(key)
    try check(change, index, present)
    if case .after(let path)? = change.reference, (try? object(path)) == nil {
      // The object comes with a later change.
      later.append((index, path, { try access.store($0, key) }))
      undo.append { try? access.store(present, key) }
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

  /// The value that a change stores; nil where a key is to go.
  private func value(
    _ change: DeepChange, _ index: Int, _ access: TreeAccess, _ key: DeepChange.Key
  ) throws -> Any? {
    switch change.reference {
    case .before:
      guard let object = former[index] else {
        throw Misfit(reason: "its reference leads to no object")
      }
      return object
    case .after(let path): return try object(path)
    case nil:
      guard let new = change.new else { return nil }
      return try access.made(of: new, key, isObject: change.model != nil || change.type != nil)
    }
  }

  /// Checks what is there before a change.
  private func check(_ change: DeepChange, _ index: Int, _ present: Any?) throws {
    if case .before? = change.oldReference {
      guard let old = formerOld[index], old === present as AnyObject? else {
        throw Misfit(reason: "another object was there")
      }
      return
    }
    if change.oldReference != nil { return }
    let data = present.map { TreeAccess.data(of: $0) }
    if change.old == nil, present == nil || change.kind == .remove { return }
    guard let old = change.old, let data, old == data else {
      throw Misfit(reason: "something else was there")
    }
  }
}

extension [DeepChange.Key] {
  fileprivate var endsInPosition: Bool { if case .index? = last { true } else { false } }
}
