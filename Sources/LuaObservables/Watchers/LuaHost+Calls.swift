internal import CLua
internal import Lua
internal import Observables

/// Calling the callbacks of watchers.
extension LuaHost {
  /// Calls the callback of a watcher with (observed, observer), and a change for an immediate one.
  func call(_ watcher: WatcherRef, change: (ImmediateChange, Path)?) {
    let L = state.pointer
    guard let root = watcher.pointee.root else { return }
    guard lua_checkstack(L, 24) != 0 else {
      report(
        LuaError("stack overflow: no room to call a watcher"),
        change == nil ? .watcher : .immediate, of: watcher)
      return
    }
    let height = lua_gettop(L)
    if !breakingCalls.isEmpty, breakingCalls.contains(watcher.pointee.id) {
      breakOnCall(of: watcher, L)
    }
    let identity = pushIdentity(of: watcher, L)
    let cause = watcher.script.pointee.cause
    let status: CInt
    if change == nil, isTable(root), root.pointee.context != 0, watcher.script.pointee.isPlain {
      // The usual case in one step: the anchor knows the table, and the table its callbacks.
      status = clua_callkept(
        L, anchors.reference, CInt(root.pointee.context), ScriptWatcher.key(watcher, .callback))
    } else {
      status = call(watcher, of: root, change, L)
    }
    if status != LUA_OK {
      let (name, site) = title(of: identity, L)
      reportError(
        status, L, change == nil ? .watcher : .immediate, name: name, site: site,
        cause: cause.line > 0 ? sources.text(cause) : nil)
    }
    lua_settop(L, height)
  }

  /// What a report needs of a watcher whose own code may end it.
  private struct WatcherIdentity {
    let site: Site
    /// Where its name is on the stack; 0 where it has none.
    let name: CInt
  }

  /// Pushes the name of a watcher, if it has one. [-0, +(0|1), -]
  private func pushIdentity(of watcher: WatcherRef, _ L: OpaquePointer) -> WatcherIdentity {
    let site = watcher.script.pointee.site
    guard watcher.script.pointee.hasName, let root = watcher.pointee.root else {
      return WatcherIdentity(site: site, name: 0)
    }
    pushKept(ScriptWatcher.key(watcher, .name), of: root, to: L)
    return WatcherIdentity(site: site, name: lua_gettop(L))
  }

  private func title(
    of watcher: WatcherIdentity, _ L: OpaquePointer
  ) -> (name: String, site: String) {
    let site = sources.text(watcher.site)
    guard watcher.name > 0, lua_type(L, watcher.name) == LUA_TSTRING else { return (site, site) }
    return (state.text(at: watcher.name, of: L), site)
  }

  /// Reports an error of a watcher that was met outside its callback.
  func report(_ error: LuaError, _ kind: LuaReport.Kind, of watcher: WatcherRef) {
    report(
      error, kind, name: title(of: watcher).name, site: sources.text(watcher.script.pointee.site),
      cause: cause(of: watcher))
  }

  /// "file:line" of the write that made a watcher of a script pending last.
  func cause(of watcher: WatcherRef) -> String? {
    guard watcher.pointee.receiver.toOpaque() == Unmanaged.passUnretained(receiver).toOpaque(),
      watcher.script.pointee.cause.line > 0
    else { return nil }
    return sources.text(watcher.script.pointee.cause)
  }

  /// As `clua_tracedcall`, whatever the root and the arguments are. [-0, +(0|1), -]
  private func call(
    _ watcher: WatcherRef, of root: NodeRef, _ change: (ImmediateChange, Path)?,
    _ L: OpaquePointer
  ) -> CInt {
    let script = watcher.script
    let height = lua_gettop(L)
    if script.pointee.hasDriver { pushKept(ScriptWatcher.key(watcher, .driver), of: root, to: L) }
    pushKept(ScriptWatcher.key(watcher, .callback), of: root, to: L)
    pushObject(of: root, to: L)
    do {
      if script.pointee.hasEdits { try pushEdits(for: watcher, to: L) }
      if script.pointee.hasObserver {
        pushObserver(of: watcher, to: L)
      } else {
        lua_pushnil(L)
      }
      if let (change, path) = change, !script.pointee.hasEdits {
        try pushChange(change, path, to: L)
      }
    } catch {
      state.pushError(error, to: L)
      return LUA_ERRRUN
    }
    return clua_watchercall(L, lua_gettop(L) - height - 1, 0)
  }

  /// The file:line that is running becomes the cause of the next call of a watcher of a script;
  /// none where Swift writes, and no script has called it.
  func noteCause(of watcher: WatcherRef) {
    let L = state.pointer
    // A write in Swift may come from anywhere.
    guard !isClosed, lua_checkstack(L, 8) != 0 else { return }
    watcher.script.pointee.cause = sources.current(L)
  }

  /// Pushes {path, key, old, new}. [-0, +1, -]
  private func pushChange(
    _ change: ImmediateChange, _ path: Path, to L: OpaquePointer
  ) throws(LuaError) {
    try state.check(clua_try_createtable(L, 0, 4), L)
    try state.push(bytes: path.text, to: L)
    try state.check(clua_try_setfield(L, -2, "path", 4), L)
    for (name, part) in [("key", ChangePart.key), ("old", .old), ("new", .new)] {
      try push(part, of: change, to: L)
      try state.check(clua_try_setfield(L, -2, name, 3), L)
    }
  }

  /// Pushes a part of a change. [-0, +1, -]
  private func push(
    _ part: ChangePart, of change: ImmediateChange, to L: OpaquePointer
  ) throws(LuaError) {
    switch change {
    case .written(let change): try push(part, of: change, to: L)
    case .saved(let saved as SavedChange): try state.push(saved[part], to: L)
    case .saved(let saved as SavedWrite): try push(part, of: saved.write, to: L)
    case .saved: lua_pushnil(L)
    }
  }

  /// Pushes a part of a write that is under way. [-0, +1, -]
  private func push(
    _ part: ChangePart, of change: Change, to L: OpaquePointer
  ) throws(LuaError) {
    guard let values = change.values else { return lua_pushnil(L) }
    guard isTable(change.node) else { return try push(part, of: ModelWrite(change), to: L) }
    let write = values.assumingMemoryBound(to: clua_write.self).pointee
    let index =
      switch part {
      case .key: write.key
      case .old: write.old
      case .new: write.new_
      }
    // What nobody asked for is not there.
    if index == 0 { lua_pushnil(L) } else { lua_pushvalue(L, index) }
  }

  /// Pushes a part of a write of a Swift object. [-0, +1, -]
  private func push(
    _ part: ChangePart, of write: ModelWrite, to L: OpaquePointer
  ) throws(LuaError) {
    switch part {
    case .key: try objects.push(key: write, to: L)
    case .old: try objects.push(value: write.old, to: L)
    case .new: try objects.push(value: write.new, to: L)
    }
  }

  /// What a change holds, as values of Lua.
  func saved(_ change: ImmediateChange) -> SavedChange {
    if case .saved(let saved as SavedChange) = change { return saved }
    let L = state.pointer
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    func value(_ part: ChangePart) -> LuaValue {
      guard (try? push(part, of: change, to: L)) != nil else { return .nil }
      return (try? state.value(at: -1, of: L)) ?? .nil
    }
    return SavedChange(key: value(.key), old: value(.old), new: value(.new))
  }

  // MARK: Comparing

  /// The script's own comparison (`equals`).
  func accept(_ change: ImmediateChange, for watcher: WatcherRef) -> ImmediateChange? {
    let hasValues =
      switch change {
      case .written(let change): change.values != nil
      case .saved(let saved): saved is SavedChange
      }
    let L = state.pointer
    guard hasValues, let root = watcher.pointee.root, lua_checkstack(L, 24) != 0 else {
      return change.isSame ? nil : change
    }
    if let write = write(of: change) {
      if write.pointee.uncompared { return change }
      if write.pointee.details != nil, !write.pointee.same {
        return acceptEdit(change, write, for: watcher, of: root, L)
      }
    }
    do {
      let isEqual = try isEqual(for: watcher, of: root, L) { () throws(LuaError) in
        try push(.old, of: change, to: L)
        try push(.new, of: change, to: L)
      }
      return isEqual ? nil : change
    } catch {
      return change.isSame ? nil : change
    }
  }

  /// The same of values that are computed of collections.
  func isEqual(_ old: Operand, _ new: Operand, for watcher: WatcherRef) -> Bool {
    let L = state.pointer
    guard let root = watcher.pointee.root, lua_checkstack(L, 24) != 0 else { return false }
    let isEqual = try? isEqual(for: watcher, of: root, L) { () throws(LuaError) in
      try state.push(LuaValue(old), to: L)
      try state.push(LuaValue(new), to: L)
    }
    return isEqual ?? false
  }

  /// Asks the comparison of a watcher about the two values that `pushValues` pushes.
  ///
  /// An error in it is reported, and the values count as different.
  private func isEqual(
    for watcher: WatcherRef, of root: NodeRef, _ L: OpaquePointer,
    pushValues: () throws(LuaError) -> Void
  ) throws(LuaError) -> Bool {
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    let identity = pushIdentity(of: watcher, L)
    pushKept(ScriptWatcher.key(watcher, .equals), of: root, to: L)
    hookDepth += 1
    defer { hookDepth -= 1 }
    try pushValues()
    let status = clua_watchercall(L, 2, 1)
    if status != LUA_OK {
      let (name, site) = title(of: identity, L)
      reportError(status, L, .watcher, name: name, site: site)
      return false
    }
    return lua_toboolean(L, -1) != 0
  }

  /// The write of a script that is under way.
  private func write(of change: ImmediateChange) -> UnsafePointer<clua_write>? {
    guard case .written(let change) = change, isTable(change.node) else { return nil }
    return change.values?.assumingMemoryBound(to: clua_write.self)
  }

  /// The same for an operation on a list: each element that it changed is asked for, until one
  /// counts, which is what the watcher is told.
  private func acceptEdit(
    _ change: ImmediateChange, _ write: UnsafePointer<clua_write>, for watcher: WatcherRef,
    of root: NodeRef, _ L: OpaquePointer
  ) -> ImmediateChange? {
    guard case .written(let whole) = change else { return change }
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    var element = write.pointee
    element.details = nil
    var key = lua_Integer.min
    while watcher.pointee.isActive, clua_write_nextchange(L, write, &key) {
      (element.key, element.old, element.new_) = (height + 1, height + 2, height + 3)
      let accepted = withUnsafePointer(to: element) { element -> ImmediateChange? in
        let part = Change(
          node: whole.node, slot: whole.slot, every: whole.every, isSame: false,
          values: UnsafeRawPointer(element))
        return accept(.written(part), for: watcher).map { _ in .saved(saved(.written(part))) }
      }
      if let accepted { return accepted }
      lua_settop(L, height)
    }
    return nil
  }

  // MARK: What belongs to a watcher

  /// The node of a Lua table, as against that of a Swift model.
  func isTable(_ node: NodeRef) -> Bool {
    node.pointee.kind.toOpaque() == Unmanaged<NodeKind>.passUnretained(tables).toOpaque()
  }

  /// Pushes what `root` keeps under `key`. [-0, +1, -]
  func pushKept(_ key: lua_Integer, of root: NodeRef, to L: OpaquePointer) {
    if isTable(root) {
      clua_node_pushkept(L, TableKind.table(root), key)
    } else {
      objects.pushKept(key, of: root, to: L)
    }
  }

  /// Pops a value that lives as long as the object of `root`. [-1, +0, -]
  func keep(_ key: lua_Integer, of root: NodeRef, _ L: OpaquePointer) throws(LuaError) {
    if isTable(root) {
      try state.check(clua_try_node_keep(L, TableKind.table(root), key), L)
    } else {
      try objects.keep(key, of: root, L)
    }
  }

  func forget(_ key: lua_Integer, of root: NodeRef, _ L: OpaquePointer) {
    if isTable(root) {
      clua_node_forget(L, TableKind.table(root), key)
    } else {
      objects.forget(key, of: root, L)
    }
  }

  /// Pushes the observed object as scripts know it. [-0, +1, -]
  func pushObject(of root: NodeRef, to L: OpaquePointer) {
    if isTable(root) {
      clua_node_pushtable(L, TableKind.table(root))
    } else {
      objects.push(root, to: L)
    }
  }

  /// Pushes the observer, nil when it is gone; false then. [-0, +1, -]
  @discardableResult
  func pushObserver(of watcher: WatcherRef, to L: OpaquePointer) -> Bool {
    paths.pushObserver(watcher.pointee.index, to: L)
    return lua_type(L, -1) != LUA_TNIL
  }

  /// The name of a watcher, and "file:line" of its registration.
  func title(of watcher: WatcherRef) -> (name: String, site: String) {
    let site = sources.text(watcher.script.pointee.site)
    guard watcher.script.pointee.hasName, let root = watcher.pointee.root, !root.isDead else {
      return (site, site)
    }
    let L = state.pointer
    pushKept(ScriptWatcher.key(watcher, .name), of: root, to: L)
    defer { clua_pop(L, 1) }
    return (lua_type(L, -1) == LUA_TSTRING ? state.text(at: -1, of: L) : site, site)
  }

  // MARK: Endings

  /// The table of `node` was collected.
  ///
  /// The node's user value is on top of the stack; its callbacks go with it, but for those that are
  /// to be told. Runs in a finalizer.
  func ended(_ L: OpaquePointer, _ node: OpaquePointer, _ owner: UnsafeMutableRawPointer?) {
    guard let owner, !isClosed else { return }
    entered(L) { ended(owner.assumingMemoryBound(to: Node.self), L) }
  }

  /// The collector had given the table of `node` up, and its own finalizer may keep it (L8).
  func revived(_ L: OpaquePointer, _ node: OpaquePointer) {
    guard !isClosed, let owner = clua_node_owner(node) else { return }
    entered(L) { engine.revive(owner.assumingMemoryBound(to: Node.self)) }
  }

  private func ended(_ root: NodeRef, _ L: OpaquePointer) {
    tables.abandonJournal(of: root)
    if lua_type(L, -1) == LUA_TTABLE, lua_checkstack(L, 8) != 0 {
      var next = root.pointee.firstWatcher
      while let watcher = next {
        next = watcher.pointee.next
        guard watcher.pointee.receiver.toOpaque() == Unmanaged.passUnretained(receiver).toOpaque()
        else { continue }
        guard watcher.script.pointee.hasEnd else { continue }
        // The observer went first: its watchers have ended silently (L3).
        if watcher.script.pointee.hasObserver {
          defer { clua_pop(L, 1) }
          if !pushObserver(of: watcher, to: L) { continue }
        }
        noteEnding(of: watcher, L)
      }
    }
    engine.end(root)
  }

  /// What the finalizer of an observed object leaves of a watcher: the kept values are on top.
  func noteEnding(of watcher: WatcherRef, _ L: OpaquePointer) {
    var name = sources.text(watcher.script.pointee.site)
    let site = name
    if lua_rawgeti(L, -1, ScriptWatcher.key(watcher, .name)) == LUA_TSTRING {
      name = state.text(at: -1, of: L)
    }
    clua_pop(L, 1)
    lua_rawgeti(L, -1, ScriptWatcher.key(watcher, .end))
    endings.append(
      Ending(watcher: watcher.pointee.id, slot: anchors.keep(L), name: name, site: site))
  }

  /// A watcher ended: what the observed object kept for it goes.
  func watcherEnded(_ watcher: WatcherRef, observedDied path: Path?) {
    let data = watcher.script
    let root = data.pointee.root
    if !isClosed {
      let L = state.pointer
      if data.pointee.hasObserver {
        paths.pushObserver(watcher.pointee.index, to: L)
        objects.unshare(L)
        clua_pop(L, 1)
        paths.forgetObserver(watcher.pointee.index, L)
      }
      if path == nil, !root.isDead {
        forget(ScriptWatcher.key(watcher, .callback), of: root, L)
        if data.pointee.hasEquals { forget(ScriptWatcher.key(watcher, .equals), of: root, L) }
        if data.pointee.hasEnd { forget(ScriptWatcher.key(watcher, .end), of: root, L) }
        if data.pointee.hasName { forget(ScriptWatcher.key(watcher, .name), of: root, L) }
        if data.pointee.hasDriver { forget(ScriptWatcher.key(watcher, .driver), of: root, L) }
      }
      if let path, let index = endings.firstIndex(where: { $0.watcher == watcher.pointee.id }) {
        let ending = endings.remove(at: index)
        let text = path.text
        loop.tellNext { [reference] in reference.host?.tell(ending, path: text) }
      }
    }
    data.deallocate()
  }

  private func tell(_ ending: Ending, path: [UInt8]) {
    guard !isClosed else { return }
    try? state.withStack { L throws(LuaError) in
      anchors.push(ending.slot, to: L)
      anchors.release(ending.slot, L)
      try state.push(bytes: path, to: L)
      let status = clua_tracedcall(L, 1, 0)
      if status != LUA_OK {
        reportError(status, L, .hook, name: "on_end of \(ending.name)", site: ending.site)
      }
    }
  }

  /// Tells the hook of `on_observed` about a key of a table.
  func callObservedHook(_ slot: SlotRef, name: String, isObserved: Bool) {
    callObservedHook(of: slot.pointee.node, slot, name: name, isObserved: isObserved)
  }

  /// Tells the hook of `on_observed`.
  func callObservedHook(
    of root: NodeRef, _ slot: SlotRef? = nil, name: String, isObserved: Bool
  ) {
    let L = state.pointer
    guard lua_checkstack(L, 24) != 0 else { return }
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    pushKept(ScriptWatcher.hookKey, of: root, to: L)
    guard lua_type(L, -1) == LUA_TFUNCTION else { return }
    hookDepth += 1
    defer { hookDepth -= 1 }
    pushObject(of: root, to: L)
    if let slot, root.kind === tables, !slot.pointee.isEvery {
      // The key itself where it is a string: any bytes may be in it.
      clua_node_pushkey(
        L, TableKind.table(root),
        UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self))
    } else {
      lua_pushnil(L)
    }
    if lua_type(L, -1) != LUA_TSTRING {
      clua_pop(L, 1)
      guard (try? state.push(text: name, to: L)) != nil else { return }
    }
    lua_pushboolean(L, isObserved ? 1 : 0)
    let site = sources.text(sources.definition(height + 1, L))
    let status = clua_tracedcall(L, 3, 0)
    if status != LUA_OK { reportError(status, L, .hook, name: "on_observed", site: site) }
  }
}
