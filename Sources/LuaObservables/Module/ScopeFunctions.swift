internal import Lua
internal import Observables

/// Scopes: lists that collect the handles that scripts make while the scope is open.
final class ScopeFunctions: ModuleSlice {
  /// The lists of the open scopes, innermost last, with the sandboxes that opened them.
  @exclusivity(unchecked) private var lists: [(list: LuaTable, sandbox: UInt32)] = []

  override var functions: [NamedFunction] {
    [.init("open_scope", open), .init("close_scope", close)]
  }

  override func end() { lists = [] }

  /// open_scope(list): adds handles made from now on to the list.
  private func open(_ L: LuaStack) throws -> CInt {
    L.height = 1
    try spareRoomToClose(L)
    lists.append((LuaTable(pin: try state.pin(at: 1, of: L)), host.sandboxes.current.number))
    return 0
  }

  /// close_scope(height): closes the innermost scopes until `height` scopes are open.
  private func close(_ L: LuaStack) -> CInt {
    let height = Int(L.integer(at: 1) ?? 0)
    if lists.count > height { lists.removeLast(lists.count - height) }
    return 0
  }

  /// Adds the handle on top of the stack to the innermost open scope of the running sandbox, if
  /// any. [-0, +0, -]
  ///
  /// The innermost scope of all may belong to another sandbox whose code caused this call.
  func add(_ L: LuaStack) throws(LuaError) {
    if lists.isEmpty { return }
    let sandbox = host.sandboxes.current.number
    guard let (list, _) = lists.last(where: { $0.sandbox == sandbox }) else { return }
    try state.push(list.pin, to: L)
    L.push(L.rawLength(at: -1) + 1)
    L.pushCopy(at: -3)
    try state.rawSet(of: L)
    L.pop()
  }
}
