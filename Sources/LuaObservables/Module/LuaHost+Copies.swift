internal import CLua
internal import Lua
internal import Observables

/// Public copies of collections (C11).
extension LuaHost {
  /// copy_of(target, name, path, getter): `path` leads to all of the collection that `getter` copies.
  func declareCopy(_ L: OpaquePointer) throws -> CInt {
    lua_settop(L, 4)
    lua_pushvalue(L, 1)
    let root = try tables.node(L)
    engine.settleWhenIdle(root)
    let source = try path(at: 3, of: L, "copy_of", argument: 3)
    lua_pushvalue(L, 2)
    lua_pushvalue(L, 4)
    try state.check(clua_try_node_lazy(L, TableKind.table(root)), L)
    let receiver = CopyReceiver(self, name: state.bytes(at: 2, of: L))
    // It compares, so it hears of each write at once, also inside a batch; nobody counts it (W1).
    let watcher = engine.makeWatcher(root: root, receiver: receiver, flags: [.comparing, .probing])
    do {
      try engine.add(source, to: watcher)
    } catch {
      engine.stop(watcher)
      throw error
    }
    engine.runHooks()
    return 0
  }

  /// The collection changed: its copy goes, and the watchers of the copy are told.
  fileprivate func dropCopy(_ name: [UInt8], of root: NodeRef) {
    let L = state.pointer
    guard !isClosed, !root.isDead, lua_checkstack(L, 16) != 0 else { return }
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    let table = TableKind.table(root)
    clua_node_pushtable(L, table)
    guard lua_type(L, -1) == LUA_TTABLE, (try? state.push(bytes: name, to: L)) != nil else {
      return
    }
    lua_pushvalue(L, -1)
    clua_inheritedget(L, height + 1)
    clua_node_invalidate(L, table, height + 2)
    lua_pushnil(L)
    var write = clua_write()
    write.node = table
    write.slot = clua_node_slot(L, table, height + 2)
    write.every = root.pointee.every.map {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: clua_slot.self)
    }
    (write.table, write.key, write.old, write.new_) = (
      height + 1, height + 2, height + 3, height + 4
    )
    if write.slot != nil || write.every != nil { withUnsafePointer(to: write) { written(L, $0) } }
  }
}

/// Hears of every change of a collection that a property copies.
final class CopyReceiver: Receiver {
  unowned(unsafe) let host: LuaHost
  private let name: [UInt8]

  init(_ host: LuaHost, name: [UInt8]) {
    (self.host, self.name) = (host, name)
    super.init()
  }

  override func isEqual(_ watcher: WatcherRef, _ change: Change) -> Bool {
    if !change.isSame, let root = watcher.pointee.root { host.dropCopy(name, of: root) }
    // Nobody is to be called for it.
    return true
  }
}
