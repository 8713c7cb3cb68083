internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Functions that declare and inspect lazy properties of tables (Z14).
final class LazyFunctions: ModuleSlice {
  override var functions: [NamedFunction] {
    [
      .init("forget", forgetLazy), .init("invalidate", invalidateLazy),
      .init(
        "is_computing",
        { [self] L in
          L.push(engine.computing.isUnderWay)
          return 1
        }
      ),
      .init("is_valid", isLazyValid), .init("lazy_names", lazyNames),
      .init("force", forceLazies),
      .init(
        "is_path",
        { L in
          L.push(clua_tohandle(L.pointer, 1, CLUA_HANDLE_PATH) != nil)
          return 1
        }
      ),
      .init("peek", peek),
    ]
  }

  /// Gives the prelude the declaring function and the declaration flags, in the table on top of the
  /// stack. [-0, +0, -]
  override func complete(_ L: LuaStack) throws(LuaError) {
    let status = clua_try_setdeclaring(
      L.pointer,
      { L, context in
        Unmanaged<LazyFunctions>.fromOpaque(context!)._withUnsafeGuaranteedRef { slice in
          let L = LuaStack(L!)
          return slice.calls.call(L) { () throws in try slice.declareLazy(L) }
        }
      }, Unmanaged.passUnretained(self).toOpaque())
    try state.check(status, L)
  }

  /// declare(table, key, declaration, its `get`, its `flags`); the elements of `declaration` are
  /// the dependencies.
  private func declareLazy(_ L: LuaStack) throws -> CInt {
    L.height = 5
    let given = CInt(truncatingIfNeeded: L.integer(at: 5) ?? 0)
    let options = given & CInt(CLUA_LAZY_KEPT)
    if clua_isshared(L.pointer, 1) {
      throw LuaError("scripts share this table, so it cannot have lazy properties")
    }
    // The property's events go to the log of the sandbox whose script declares it.
    if given & CInt(CLUA_LAZY_OFMODEL) == 0, host.sandboxes.current.number != 0 {
      L.push(Int(host.sandboxes.current.number))
      try state.setField("sandbox", at: 3, of: L)
    }
    let module = try host.sandboxes.registering().module
    if given & CInt(CLUA_LAZY_OFMODEL) == 0, module != 0 {
      L.push(Int(module))
      try state.setField("module", at: 3, of: L)
    }
    L.pushCopy(at: 1)
    let root = try host.tables.node(L)
    let table = TableKind.table(root)
    engine.nodes.unobserveWhenIdle(root)
    let slot = try host.tables.slot(forKeyAt: 2, of: root, L)
    let wasPlain = slot.pointee.lazy == nil
    if let lazy = slot.pointee.lazy {
      try checkOwn(lazy)
      if lazy.isComputing {
        throw LuaError("the getter of '\(engine.lazies.name(of: lazy))' redeclared it")
      }
      try host.module.reloading.willReplace(lazy, L)
      // The new declaration's value is compared with the old declaration's value.
      engine.watchers.stop(lazy)
    }
    // The key's present value replaces the flags on the stack.
    L.pushCopy(at: 2)
    L.getOwn(at: 1)
    L.copy(from: -1, to: 5)
    L.height = 5
    if wasPlain { try host.module.reloading.willDeclare(L) }
    L.pushCopy(at: 2)
    L.pushCopy(at: 4)
    L.pushCopy(at: 3)
    let (context, length) = (host.lazies.makeContext(options), clua_node_length(table))
    let status = clua_try_node_lazy(L.pointer, table, options, lua_Integer(context >> 8))
    if status != LUA_OK {
      host.lazies.release(context)
      throw state.takeError(status, L)
    }
    var traits: WatcherRecord.Traits = .mirrored
    if options & CInt(CLUA_LAZY_TRACKED) != 0 { traits.insert(.tracking) }
    if options & CInt(CLUA_LAZY_UNCACHED) != 0 { traits.insert(.uncached) }
    let hadValue = !L.isNil(at: 5)
    // A lazy key in a hole of a list ends the list there.
    let wasElement = wasPlain && (hadValue || clua_node_length(table) != length)
    if wasElement {
      L.pushNil()
      var write = clua_write()
      (write.node, write.was, write.length) = (table, hadValue, clua_node_length(table))
      (write.key, write.old, write.new_) = (2, 5, 6)
      host.tables.record(write, of: root, L)
    }
    // Existing watchers of the key are called if the value differs.
    _ = engine.lazies.make(
      slot, receiver: host.lazies, traits: traits, context: context, isKnown: slot.isLinked,
      wasElement: wasElement)
    engine.hooks.run()
    return 0
  }

  /// The lazy property under the key at an index, if it is one.
  private func lazy(at index: CInt, of root: NodeRef, _ L: LuaStack) -> WatcherRef? {
    guard let slot = clua_node_slot(L.pointer, TableKind.table(root), index) else { return nil }
    return UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self).pointee.lazy
  }

  /// The lazy properties of the Swift object at an index, if its class can have some.
  private func model(at index: CInt, of L: LuaStack) -> (any LazyHolder)? {
    host.objects.object(at: index, of: L).flatMap { lazyHolder($0) }
  }

  /// - Throws: an error for a property that another sandbox has declared.
  private func checkOwn(_ lazy: WatcherRef) throws(LuaError) {
    if host.isOwn(lazy) { return }
    throw LuaError("another script has declared the property '\(engine.lazies.name(of: lazy))'")
  }

  /// forget(table, key): turns the key into a plain one without a value.
  private func forgetLazy(_ L: LuaStack) throws -> CInt {
    L.height = 2
    guard let root = try arguments.existingNode(at: 1, of: L, "forget"), observed.isTable(root),
      let lazy = lazy(at: 2, of: root, L)
    else { return 0 }
    try checkOwn(lazy)
    let isKnownAsNil = engine.deliveredValues.hasDelivered(lazy, { isNil(lazy, isBase: $0, L) })
    if lazy.pointee.isPending {
      L.pushNil()
    } else {
      clua_lazy_pushvalue(L.pointer, lazy.number, false)
    }
    engine.watchers.stop(lazy)
    let table = TableKind.table(root)
    clua_node_unlazy(L.pointer, table, 2)
    // The value goes with the declaration; notify watchers and dependents of that.
    L.pushNil()
    var write = clua_write()
    write.node = table
    write.slot = clua_node_slot(L.pointer, table, 2)
    write.every = root.pointee.every.map {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: clua_slot.self)
    }
    (write.key, write.old, write.new_) = (2, 3, 4)
    write.same = isKnownAsNil
    write.length = clua_node_length(table)
    withUnsafePointer(to: write) { host.tables.written(L, $0) }
    engine.hooks.run()
    return 0
  }

  private func isNil(_ lazy: WatcherRef, isBase: Bool, _ L: LuaStack) -> Bool {
    clua_lazy_pushvalue(L.pointer, lazy.number, isBase)
    defer { L.pop() }
    return L.isNil(at: -1)
  }

  /// invalidate(object, key) → whether the key is a lazy property.
  private func invalidateLazy(_ L: LuaStack) throws -> CInt {
    L.height = 2
    if let model = model(at: 1, of: L) {
      try model.invalidate(arguments.propertyName(at: 2, of: L, "invalidate"))
      L.push(true)
      return 1
    }
    guard let root = try arguments.existingNode(at: 1, of: L, "invalidate"), observed.isTable(root),
      let lazy = lazy(at: 2, of: root, L), let slot = lazy.slot
    else {
      L.push(false)
      return 1
    }
    engine.lazies.invalidate(explicitly: lazy, by: host.lazies.change(at: slot))
    L.push(true)
    return 1
  }

  private func isLazyValid(_ L: LuaStack) throws -> CInt {
    L.height = 2
    var isValid = false
    if let model = model(at: 1, of: L) {
      isValid = try model.isValid(arguments.propertyName(at: 2, of: L, "is_valid"))
    } else if let root = try arguments.existingNode(at: 1, of: L, "is_valid"),
      observed.isTable(root),
      let lazy = lazy(at: 2, of: root, L)
    {
      isValid = lazy.slot?.pointee.isValid ?? false
    }
    L.push(isValid)
    return 1
  }

  /// lazy_names(object, valid) → the keys of the valid or invalid lazy properties, or of all for
  /// nil, in order of declaration.
  private func lazyNames(_ L: LuaStack) throws -> CInt {
    L.height = 2
    let isAll = L.isNil(at: 2)
    let isWanted = L.boolean(at: 2)
    if let model = model(at: 1, of: L) {
      let names =
        isAll
        ? model.validNames + model.invalidNames : isWanted ? model.validNames : model.invalidNames
      try state.push(names, to: L)
      return 1
    }
    var lazies: [WatcherID] = []
    if let root = try arguments.existingNode(at: 1, of: L, "valid_names"), observed.isTable(root) {
      lazies = engine.lazies.all(of: root).filter { lazy in
        if lazy.pointee.traits.contains(.uncached) { return isAll }
        return isAll || lazy.slot!.pointee.isValid == isWanted
      }.map(\.identity)
    }
    try state.pushTable(elements: lazies.count, to: L)
    var count = 0
    // A finalizer that runs while the table is made can end a declaration.
    for name in lazies {
      guard let slot = engine.watchers[name]?.slot else { continue }
      TableKind.pushKey(of: slot, to: L)
      count += 1
      L.rawSet(index: count, at: -2)
    }
    return 1
  }

  /// force(object): computes all invalid lazy properties, then raises the first error (Z8).
  private func forceLazies(_ L: LuaStack) throws -> CInt {
    L.height = 1
    if let model = model(at: 1, of: L) {
      try model.force()
      return 0
    }
    guard let root = try arguments.existingNode(at: 1, of: L, "force"), observed.isTable(root)
    else { return 0 }
    let names = engine.lazies.all(of: root).map(\.identity)
    var hasFailed = false
    for name in names {
      try state.checkStop()
      guard let lazy = engine.watchers[name], lazy.pointee.isPending,
        !engine.settling.settle(lazy), !hasFailed, let lazy = engine.watchers[name]
      else { continue }
      hasFailed = true
      host.lazies.pushError(of: lazy, to: L)
    }
    return hasFailed ? CInt(CLUA_RAISE) : 0
  }

  /// peek(object, key) → the stored value; computes and tracks nothing.
  private func peek(_ L: LuaStack) throws -> CInt {
    L.height = 2
    if let model = model(at: 1, of: L) {
      try host.objects.push(
        value: model.peekAny(arguments.propertyName(at: 2, of: L, "peek")), to: L)
      return 1
    }
    if let root = try arguments.existingNode(at: 1, of: L, "peek"), observed.isTable(root),
      let lazy = lazy(at: 2, of: root, L)
    {
      guard lazy.slot?.pointee.isValid == true else { return 0 }
      clua_lazy_pushvalue(L.pointer, lazy.number, false)
      return 1
    }
    guard L.isTable(at: 1) else { return 0 }
    L.pushCopy(at: 2)
    L.getOwn(at: 1)
    return 1
  }
}
