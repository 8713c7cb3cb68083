internal import Lua
internal import Observables

/// Scopes: lists that collect the handles that scripts make while the scope is open.
final class ScopeFunctions: ModuleSlice {
  /// The sandboxes that opened the open scopes, innermost last.
  @exclusivity(unchecked) private var sandboxes: [UInt32] = []
  /// The registry reference of the scopes' lists.
  @exclusivity(unchecked) private var lists: CInt = 0

  override var functions: [NamedFunction] {
    [.init("open_scope", open), .init("close_scope", close)]
  }

  override func complete(_ L: LuaStack) throws(LuaError) { lists = try state.makeReference(L) }

  override func end() { sandboxes = [] }

  /// open_scope(list) → the number of the running sandbox, whose handles are added to the list from
  /// now on.
  private func open(_ L: LuaStack) throws -> CInt {
    L.height = 1
    try spareRoomToClose(L)
    L.pushReference(lists)
    L.push(sandboxes.count + 1)
    L.pushCopy(at: 1)
    try state.rawSet(of: L)
    sandboxes.append(host.sandboxes.current.number)
    L.push(Int(host.sandboxes.current.number))
    return 1
  }

  /// close_scope(height): closes the innermost scopes until `height` scopes are open.
  private func close(_ L: LuaStack) -> CInt {
    let height = Int(L.integer(at: 1) ?? 0)
    L.pushReference(lists)
    while sandboxes.count > height {
      L.pushNil()
      L.rawSet(index: sandboxes.count, at: -2)
      sandboxes.removeLast()
    }
    return 0
  }

  /// Adds the handle on top of the stack to the innermost open scope of the running sandbox, if
  /// any. [-0, +0, -]
  ///
  /// The innermost scope of all may belong to another sandbox whose code caused this call.
  func add(_ L: LuaStack) throws(LuaError) {
    if sandboxes.isEmpty { return }
    let sandbox = host.sandboxes.current.number
    guard let index = sandboxes.lastIndex(of: sandbox) else { return }
    L.pushReference(lists)
    L.rawGet(index: index + 1, at: -1)
    L.push(L.rawLength(at: -1) + 1)
    L.pushCopy(at: -4)
    try state.rawSet(of: L)
    L.pop(2)
  }
}
