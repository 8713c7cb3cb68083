internal import CLua
internal import Lua
internal import Observables

/// Functions that the prelude needs for deep changes: reading the stored properties of Swift
/// objects, and making Swift values from data.
final class ChangeFunctions: ModuleSlice {
  override var functions: [NamedFunction] {
    [
      .init("host_class", hostClass), .init("stored_names", storedNames),
      .init("has_stored", hasStored),
      .init("is_optional", isOptional), .init("is_settable", isSettable),
      .init("make_host", makeHost),
      .init("edit_steps", editSteps), .init("idle", idle), .init("take_written", takeWritten),
      .init("follow", follow), .init("unfollow", unfollow), .init("note_whole_tree", noteWholeTree),
    ]
  }

  private func watcher(_ L: LuaStack, _ function: String) throws -> WatcherRef? {
    try host.module.watchers.watcher(at: 1, of: L, function).0
  }

  /// follow(watcher, object): calls the watcher for writes to this object, too.
  private func follow(_ L: LuaStack) throws -> CInt {
    guard let watcher = try watcher(L, "follow") else { return 0 }
    let node = try arguments.observed(at: 2, of: L, "changes")
    try engine.wiring.follow(node, by: watcher)
    return 0
  }

  /// take_written(watcher) → a list of the followed objects that were written since the last call,
  /// or nil if none were; and true if the watcher has ended.
  private func takeWritten(_ L: LuaStack) throws -> CInt {
    guard let watcher = try watcher(L, "take_written") else {
      L.pushNil()
      L.push(true)
      return 2
    }
    // Make the list first: running out of memory must not lose the written objects.
    let count = engine.wiring.writtenCount(of: watcher)
    if count == 0 {
      L.pushNil()
      return 1
    }
    try state.pushTable(elements: count, to: L)
    // Objects that have left the tree may be garbage.
    let held = clua_holdcollector(L.pointer)
    defer { clua_releasecollector(L.pointer, held) }
    for (index, node) in engine.wiring.takeWritten(of: watcher).enumerated() {
      observed.push(node, to: L)
      L.rawSet(index: index + 1, at: -2)
    }
    return 1
  }

  /// unfollow(watcher, object) → false while a transaction needs the object.
  private func unfollow(_ L: LuaStack) throws -> CInt {
    var isDone = true
    if let watcher = try watcher(L, "unfollow"),
      let node = try arguments.existingNode(at: 2, of: L, "changes")
    {
      isDone = engine.wiring.unfollow(node, by: watcher)
    }
    L.push(isDone)
    return 1
  }

  /// note_whole_tree(watcher): notes that the watcher follows exactly the objects at and below its
  /// root, all of them tables.
  private func noteWholeTree(_ L: LuaStack) throws -> CInt {
    if let watcher = try watcher(L, "note_whole_tree"), !host.tables.hasOpaqueTables {
      engine.wiring.noteWholeTree(of: watcher)
    }
    return 0
  }

  /// idle(): notes that the driver of the running watcher has no reason to call its callback.
  private func idle(_ L: LuaStack) -> CInt {
    engine.delivery.noteIdleCall()
    return 0
  }

  /// host_class(object) → the class name of an object of the host program.
  private func hostClass(_ L: LuaStack) throws -> CInt {
    guard let object = host.objects.object(at: 1, of: L) else {
      throw badArgument(1, of: "host_class", "object of the host program expected")
    }
    try state.push(text: host.objects.typeName(of: object), to: L)
    return 1
  }

  private func properties(_ L: LuaStack) -> ModelProperties? {
    (host.objects.object(at: 1, of: L) as? any ObservableModel).map { type(of: $0).properties }
  }

  /// stored_names(model) → a new list of the names of the stored properties.
  private func storedNames(_ L: LuaStack) throws -> CInt {
    let properties = properties(L)
    try state.pushTable(elements: properties?.names.count ?? 0, to: L)
    var count = 0
    for (slot, name) in (properties?.names ?? []).enumerated() {
      guard properties?.plainRead(slot) != nil else { continue }
      count += 1
      try state.push(text: name, to: L)
      L.rawSet(index: count, at: -2)
    }
    return 1
  }

  /// The slot of the stored property named at index 2, in the model at index 1.
  private func slot(_ L: LuaStack) -> Int? {
    guard L.isString(at: 2), let properties = properties(L),
      let slot = try? properties.slot(of: state.text(at: 2, of: L)),
      properties.plainRead(slot) != nil
    else { return nil }
    return slot
  }

  /// has_stored(model, name) → whether the model has a stored property of this name.
  private func hasStored(_ L: LuaStack) throws -> CInt {
    L.push(slot(L) != nil)
    return 1
  }

  /// is_optional(model, name) → whether the property can be nil.
  private func isOptional(_ L: LuaStack) throws -> CInt {
    let name = L.isString(at: 2) ? state.text(at: 2, of: L) : ""
    let type = try? properties(L)?.valueType(of: name)
    L.push(type.map { unwrapped($0) != $0 } ?? false)
    return 1
  }

  /// is_settable(model, name) → whether a stored property has a setter.
  private func isSettable(_ L: LuaStack) throws -> CInt {
    L.push(slot(L).flatMap { properties(L)?.isWritable($0) } ?? false)
    return 1
  }

  /// make_host(owner, key, data, class) → a Swift value made from data, to be stored in an object
  /// of the host program; nil if the data is stored unchanged; or nil and an error message.
  private func makeHost(_ L: LuaStack) throws -> CInt {
    L.height = 4
    let name = L.isString(at: 4) ? state.text(at: 4, of: L) : nil
    guard let type = try expectedType(name, L) else {
      L.pushNil()
      return 1
    }
    guard type is AnyClass else {
      L.pushNil()
      return 1
    }
    guard type is any Decodable.Type else {
      L.pushNil()
      if !(type is any KeyPathObservable.Type) { return 1 }
      try state.push(
        text: "\(type) cannot be made from data: it has no init(from:)", to: L)
      return 2
    }
    do {
      try host.objects.push(value: try host.objects.take(type, at: 3, of: L), to: L)
      return 1
    } catch let misfit as Misfit {
      L.pushNil()
      try state.push(text: "\(type) cannot be made from this data: \(misfit.reason)", to: L)
      return 2
    }
  }

  /// The type of the value under the key at index 2 in the object at index 1.
  ///
  /// This is the type without an optional around it. If the owner is not a Swift object, this is
  /// the class called `name` that scripts have met. A sandbox cannot name a class, because it would
  /// reach methods of objects that only other scripts were given (S5).
  private func expectedType(_ name: String?, _ L: LuaStack) throws -> Any.Type? {
    guard let owner = host.objects.object(at: 1, of: L) else {
      guard host.sandboxes.current === host.sandboxes.main else { return nil }
      return name.flatMap { host.objects.knownClass(named: $0) }
    }
    if let collection = owner as? any DynamicCollection {
      return unwrapped(collection.elementType)
    }
    guard let model = owner as? any ObservableModel, L.isString(at: 2) else { return nil }
    return unwrapped(
      try type(of: model).properties.valueType(of: state.text(at: 2, of: L)))
  }

  /// edit_steps(old, count, new, count, limit) → the steps of a shortest edit script from one list
  /// of integers to another.
  ///
  /// Each step is four values: kind, position, index in the old list, index in the new list. An
  /// index that does not exist is 0. The search for a shortest script ends at `limit` steps.
  private func editSteps(_ L: LuaStack) throws -> CInt {
    func numbers(_ index: CInt) -> [Int] {
      (0..<max(0, Int(L.integer(at: index + 1) ?? 0))).map { position in
        L.rawGet(index: position + 1, at: index)
        defer { L.pop() }
        return Int(L.integer(at: -1) ?? 0)
      }
    }
    L.height = 5
    let (old, new) = (numbers(1), numbers(3))
    let limit = L.integer(at: 5).map { Int($0) } ?? EditScript.limit
    let script = EditScript(from: old, to: new, limit: limit)
    try state.pushTable(elements: 4 * script.steps.count, to: L)
    var position = 0
    for step in script.steps {
      let values: (String, Int, Int, Int) =
        switch step {
        case .insert(let at, let new): ("insert", at + 1, 0, new + 1)
        case .remove(let at, let old): ("remove", at + 1, old + 1, 0)
        case .replace(let at, let old, let new): ("replace", at + 1, old + 1, new + 1)
        }
      try state.push(text: values.0, to: L)
      L.rawSet(index: position + 1, at: -2)
      for value in [values.1, values.2, values.3] {
        position += 1
        L.push(value)
        L.rawSet(index: position + 1, at: -2)
      }
      position += 1
    }
    return 1
  }
}
