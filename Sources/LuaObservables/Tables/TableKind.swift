internal import CLua
internal import Lua
internal import Observables

/// How Lua tables are observed, in place.
final class TableKind: NodeKind {
  // Not retained: the host owns its kinds. On the way of a write without a reference count.
  let reference: Unmanaged<LuaHost>
  private var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }

  init(_ host: LuaHost) {
    reference = .passUnretained(host)
    super.init()
  }

  private var L: OpaquePointer { host.state.pointer }
  /// Where the objects that digits follow were seen last.
  private var positions: [Int: lua_Integer] = [:]
  private var lastElement = 0

  /// The node of the table on top of the stack, made when it isn't there. [-1, +0, -]
  func node(_ L: OpaquePointer) throws(LuaError) -> NodeRef {
    if let node = clua_node_at(L, -1), let owner = clua_node_owner(node) {
      clua_pop(L, 1)
      return owner.assumingMemoryBound(to: Node.self)
    }
    var made: OpaquePointer?
    let status = clua_try_node_make(L, -1, &made)
    // Also where it failed: a loop that goes on would take the table for its key.
    defer { clua_pop(L, 1) }
    try host.state.check(status, L)
    return node(of: made!)
  }

  /// The engine's node of an observed table, made when it isn't there.
  func node(of table: OpaquePointer) -> NodeRef {
    if let owner = clua_node_owner(table) { return owner.assumingMemoryBound(to: Node.self) }
    let node = host.engine.makeNode(kind: self, object: UnsafeMutableRawPointer(table))
    clua_node_setowner(table, node)
    return node
  }

  static func table(_ node: NodeRef) -> OpaquePointer { OpaquePointer(node.pointee.object) }

  override func slot(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> SlotRef {
    let L = L
    switch component.kind {
    case .every:
      return try everySlot(of: node, L)
    case .operation:
      guard component.bytes.elementsEqual("count".utf8) else {
        throw PathError(
          .unsupported, path: path.description, component: step + 1,
          detail: "a plain table has no operator '\(component)', only '@count'")
      }
      return try everySlot(of: node, L)
    case .member:
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "'\(component)' names a member of a set, and this is a table")
    case .name where component.isMetamethodName:
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "names that begin with '__' are metamethods to Lua and cannot be observed")
    case .name, .key, .slot, .element:
      return try keySlot(of: node, step, path)
    }
  }

  private func keySlot(of node: NodeRef, _ step: Int, _ path: Path) throws -> SlotRef {
    let L = L
    let table = TableKind.table(node)
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    try host.paths.pushKey(step, of: path, to: L)
    if let slot = clua_node_slot(L, table, -1) {
      return UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self)
    }
    let slot = host.engine.makeSlot(on: node, key: 0)
    let status = clua_try_node_watch(
      L, table, UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self))
    guard status == LUA_OK else {
      host.engine.discard(slot)
      throw host.state.takeError(status, L)
    }
    return slot
  }

  private func everySlot(of node: NodeRef, _ L: OpaquePointer) throws(LuaError) -> SlotRef {
    if let every = node.pointee.every { return every }
    let slot = host.engine.makeSlot(on: node, key: 0, isEvery: true)
    let status = clua_try_node_watchevery(
      L, TableKind.table(node),
      UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self))
    guard status == LUA_OK else {
      host.engine.discard(slot)
      throw host.state.takeError(status, L)
    }
    return slot
  }

  // MARK: Digits

  /// P2: digits mean the object at n of a list, or else the key n; where nothing is, `#n` was meant.
  override func element(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> Element {
    let L = L
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    clua_node_pushtable(L, TableKind.table(node))
    try host.paths.pushKey(step, of: path, to: L)
    let position = lua_tointegerx(L, -1, nil)
    guard lua_type(L, height + 1) == LUA_TTABLE, clua_rawget(L, height + 1) != LUA_TNIL else {
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "the table has nothing at \(component) (write '#\(component)' to watch the slot)")
    }
    if position < 1 || UInt64(position) > clua_rawlen(L, height + 1) {
      return .key(try keySlot(of: node, step, path))
    }
    let list = try everySlot(of: node, L)
    lastElement += 1
    let anchor = lastElement
    // The list holds it, not the registry: it may hold the list itself.
    try host.keep(TableKind.elementKey(anchor), of: node, L)
    positions[anchor] = position
    return .object(list, anchor: anchor)
  }

  /// Under which key a list keeps an object that is followed.
  private static func elementKey(_ anchor: Int) -> lua_Integer { -1 - lua_Integer(anchor) }

  override func holds(_ anchor: Int, in node: NodeRef) -> Bool {
    let L = L
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    guard let position = positions[anchor], lua_checkstack(L, 12) != 0 else { return false }
    host.pushKept(TableKind.elementKey(anchor), of: node, to: L)
    clua_node_pushtable(L, TableKind.table(node))
    guard lua_type(L, -1) == LUA_TTABLE else { return true }
    let found = clua_find(L, height + 2, height + 1, position)
    if found > 0 { positions[anchor] = found }
    return found > 0
  }

  override func child(of anchor: Int, in node: NodeRef) -> Child {
    let L = L
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    host.pushKept(TableKind.elementKey(anchor), of: node, to: L)
    return observable(L)
  }

  override func departure(
    _ anchor: Int, at step: Int, of path: Path, from node: NodeRef
  ) -> AnyObject? {
    let L = L
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    host.pushKept(TableKind.elementKey(anchor), of: node, to: L)
    let old = (try? host.state.value(at: -1, of: L)) ?? .nil
    return SavedChange(
      key: .integer(lua_Integer(positions[anchor] ?? 0)), old: old, new: .nil)
  }

  override func releaseElement(_ anchor: Int, of node: NodeRef) {
    positions[anchor] = nil
    if !host.isClosed { host.forget(TableKind.elementKey(anchor), of: node, L) }
  }

  override func child(_ node: NodeRef, at step: Int, of path: Path) -> Child {
    let L = L
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    clua_node_pushtable(L, TableKind.table(node))
    guard lua_type(L, -1) == LUA_TTABLE, (try? host.paths.pushKey(step, of: path, to: L)) != nil
    else { return .none }
    clua_inheritedget(L, -2)
    return observable(L)
  }

  /// Where the value on top of the stack is observed, if it can be.
  func observable(_ L: OpaquePointer) -> Child {
    switch lua_type(L, -1) {
    case LUA_TTABLE:
      lua_pushvalue(L, -1)
      // Without memory for a node the path is silent beyond here; the allocation that failed is
      // reported where a script makes one.
      guard let node = try? node(L) else { return .none }
      return .node(node)
    case LUA_TUSERDATA:
      guard let object = host.objects.object(at: -1, of: L) else { return .none }
      return observedNode(of: object, in: host.engine)
    default:
      return .none
    }
  }

  override func forEachChild(_ node: NodeRef, _ visit: (NodeRef) -> Void) {
    let L = L
    let height = lua_gettop(L)
    defer { lua_settop(L, height) }
    guard lua_checkstack(L, 12) != 0 else { return }
    clua_node_pushtable(L, TableKind.table(node))
    guard lua_type(L, -1) == LUA_TTABLE else { return }
    lua_pushnil(L)
    while clua_next(L, height + 1) != 0 {
      if case .node(let child) = observable(L) { visit(child) }
      clua_pop(L, 1)
    }
  }

  override func derivedValue(_ component: Path.Component, of node: NodeRef) -> Int? {
    guard component.kind == .operation else { return nil }
    let L = L
    clua_node_pushtable(L, TableKind.table(node))
    defer { clua_pop(L, 1) }
    guard lua_type(L, -1) == LUA_TTABLE else { return nil }
    return Int(clamping: clua_rawlen(L, -1))
  }

  // MARK: Lifetime

  override func anchor(_ node: NodeRef) { reference._withUnsafeGuaranteedRef { $0.anchor(node) } }

  override func release(_ node: NodeRef) { reference._withUnsafeGuaranteedRef { $0.release(node) } }

  override func forget(_ slot: SlotRef) {
    clua_node_unwatch(
      L, TableKind.table(slot.pointee.node),
      UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self))
  }

  override func settle(_ node: NodeRef) -> Bool {
    let L = L
    let table = TableKind.table(node)
    let height = lua_gettop(L)
    clua_node_setowner(table, nil)
    // The slots went one by one; a failure leaves the table as it is: a script can't tell.
    _ = clua_try_node_settle(L, table)
    lua_settop(L, height)
    return true
  }

  /// The state closes: nothing that its finalizers do may reach the engine.
  func abandonAll() {
    host.engine.forEachNode { node in
      guard node.pointee.kind.toOpaque() == Unmanaged.passUnretained(self).toOpaque() else {
        return
      }
      clua_node_setowner(TableKind.table(node), nil)
      host.engine.end(node)
    }
  }

  // MARK: Names

  override func name(of slot: SlotRef) -> String {
    if slot.pointee.isEvery { return "*" }
    let L = L
    clua_node_pushkey(
      L, TableKind.table(slot.pointee.node),
      UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self))
    defer { clua_pop(L, 1) }
    return host.keyName(at: -1, of: L)
  }

  override func noteCause(of watcher: WatcherRef) {
    reference._withUnsafeGuaranteedRef { $0.noteCause(of: watcher) }
  }

  override func observedChanged(_ slot: SlotRef, name: String, isObserved: Bool) {
    host.callObservedHook(slot, name: name, isObserved: isObserved)
  }
}

extension Path.Component {
  /// P11: metamethods are never intercepted.
  fileprivate var isMetamethodName: Bool {
    bytes.count >= 2 && bytes[0] == UInt8(ascii: "_") && bytes[1] == UInt8(ascii: "_")
  }
}

extension LuaHost {
  /// Keeps an observed table alive until its watchers were called (L2).
  func anchor(_ node: NodeRef) {
    let L = state.pointer
    if let write = writing, write.pointee.node == TableKind.table(node) {
      lua_pushvalue(L, write.pointee.table)
    } else {
      clua_node_pushtable(L, TableKind.table(node))
    }
    node.pointee.context = anchors.keep(L)
  }

  func release(_ node: NodeRef) {
    anchors.release(node.pointee.context, state.pointer)
    node.pointee.context = 0
  }

  /// A write that C heard and somebody wants to know of.
  func written(_ L: OpaquePointer, _ write: UnsafePointer<clua_write>) {
    guard let owner = clua_node_owner(write.pointee.node) else { return }
    let node = owner.assumingMemoryBound(to: Node.self)
    let outer = (state.pointer, writing)
    state.pointer = L
    writing = write
    if write.pointee.othercount == 0 {
      engine.written(change(of: node, write))
    } else {
      var changes: [Change] = []
      changes.reserveCapacity(Int(write.pointee.othercount) + 1)
      if write.pointee.every != nil { changes.append(change(of: node, write)) }
      for index in 0..<Int(write.pointee.othercount) {
        changes.append(change(of: node, write.pointee.others + index))
      }
      engine.written(changes)
    }
    (state.pointer, writing) = outer
  }

  @inline(__always)
  private func change(of node: NodeRef, _ write: UnsafePointer<clua_write>) -> Change {
    Change(
      node: node, slot: slot(write.pointee.slot), every: slot(write.pointee.every),
      isSame: write.pointee.same, values: UnsafeRawPointer(write))
  }

  private func slot(_ slot: UnsafeMutablePointer<clua_slot>?) -> SlotRef? {
    slot.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: Slot.self) }
  }

  /// The key at an index as `observed_keys` and reports tell it. [-0, +0, -]
  func keyName(at index: CInt, of L: OpaquePointer) -> String {
    switch lua_type(L, index) {
    case LUA_TSTRING: state.text(at: index, of: L)
    case LUA_TNUMBER:
      lua_isinteger(L, index) != 0
        ? "#\(lua_tointegerx(L, index, nil))" : "\(lua_tonumberx(L, index, nil))"
    case LUA_TBOOLEAN: lua_toboolean(L, index) != 0 ? "true" : "false"
    case LUA_TNIL: "nil"
    default:
      "\(String(cString: lua_typename(L, lua_type(L, index))))"
    }
  }
}
