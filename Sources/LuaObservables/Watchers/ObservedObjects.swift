internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// The root objects of scripts' watchers, Lua tables and objects of the host program: each keeps
/// the callbacks of its watchers.
struct ObservedObjects {
  // The host is not retained: it outlives all users of this value.
  private let reference: Unmanaged<LuaHost>

  init(_ host: LuaHost) { reference = .passUnretained(host) }

  /// Whether the node belongs to a Lua table, not a Swift model.
  func isTable(_ node: NodeRef) -> Bool {
    reference._withUnsafeGuaranteedRef { $0.tables.isKind(of: node) }
  }

  /// Pushes the value that `root` keeps under `key`. [-0, +1, -]
  func pushKept(_ key: lua_Integer, of root: NodeRef, to L: LuaStack) {
    if isTable(root) {
      clua_node_pushkept(L.pointer, TableKind.table(root), key)
    } else {
      reference._withUnsafeGuaranteedRef { $0.objects.pushKept(key, of: root, to: L) }
    }
  }

  /// Pops a value and keeps it as long as the object of `root` lives. [-1, +0, -]
  func keep(_ key: lua_Integer, of root: NodeRef, _ L: LuaStack) throws(LuaError) {
    let host = reference.takeUnretainedValue()
    if isTable(root) {
      try host.state.check(clua_try_node_keep(L.pointer, TableKind.table(root), key), L)
    } else {
      try host.objects.keep(key, of: root, L)
    }
  }

  /// Makes the node end before Lua frees its kept values, so that `on_end` can be called.
  func noticeEnding(of root: NodeRef, _ L: LuaStack) throws(LuaError) {
    guard isTable(root) else { return }
    let state = reference._withUnsafeGuaranteedRef { $0.state }
    try state.check(clua_try_node_noticeending(L.pointer, TableKind.table(root)), L)
  }

  func forget(_ key: lua_Integer, of root: NodeRef, _ L: LuaStack) {
    if isTable(root) {
      clua_node_forget(L.pointer, TableKind.table(root), key)
    } else {
      reference._withUnsafeGuaranteedRef { $0.objects.forget(key, of: root, L) }
    }
  }

  /// Pushes the observed object as scripts see it. [-0, +1, -]
  func push(_ root: NodeRef, to L: LuaStack) {
    if isTable(root) {
      clua_node_pushtable(L.pointer, TableKind.table(root))
    } else {
      reference._withUnsafeGuaranteedRef { $0.objects.push(root, to: L) }
    }
  }
}
