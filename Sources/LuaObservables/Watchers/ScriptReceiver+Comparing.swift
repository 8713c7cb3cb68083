internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Comparisons of scripts (`equals`).
extension ScriptReceiver {
  /// Compares the values of a change with the script's `equals`; returns nil if they are equal.
  func compare(_ change: ImmediateChange, for watcher: WatcherRef) -> ImmediateChange? {
    let hasValues =
      switch change {
      case .written(let change): change.values != nil
      case .saved(let saved): saved is SavedChange
      }
    let L = state.stack
    guard hasValues, let root = watcher.pointee.root, L.hasRoom(for: 24) else {
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

  /// Compares values computed from collections with the script's `equals`.
  func compare(_ old: Operand, _ new: Operand, for watcher: WatcherRef) -> Bool {
    let L = state.stack
    guard let root = watcher.pointee.root, L.hasRoom(for: 24) else { return false }
    let isEqual = try? isEqual(for: watcher, of: root, L) { () throws(LuaError) in
      try state.push(LuaValue(old), to: L)
      try state.push(LuaValue(new), to: L)
    }
    return isEqual ?? false
  }

  /// Calls a watcher's `equals` with the two values that `pushValues` pushes.
  ///
  /// If it fails, the error is reported, and the values count as different.
  private func isEqual(
    for watcher: WatcherRef, of root: NodeRef, _ L: LuaStack,
    pushValues: () throws(LuaError) -> Void
  ) throws(LuaError) -> Bool {
    let height = L.height
    defer { L.height = height }
    let identity = pushIdentity(of: watcher, L)
    observed.pushKept(ScriptWatcher.key(watcher, .equals), of: root, to: L)
    let status = try hooks.running { () throws(LuaError) in
      try pushValues()
      return clua_watchercall(L.pointer, 2, 1)
    }
    if status != LUA_OK {
      let (name, site) = title(of: identity, L)
      host.reports.reportError(status, L, .watcher, name: name, site: site)
      return false
    }
    return L.boolean(at: -1)
  }

  /// The write of a script that is under way.
  private func write(of change: ImmediateChange) -> UnsafePointer<clua_write>? {
    guard case .written(let change) = change, observed.isTable(change.node) else { return nil }
    return change.values?.assumingMemoryBound(to: clua_write.self)
  }

  /// Compares each element that a list operation changed, until one counts as a change, which is
  /// then delivered to the watcher.
  private func acceptEdit(
    _ change: ImmediateChange, _ write: UnsafePointer<clua_write>, for watcher: WatcherRef,
    of root: NodeRef, _ L: LuaStack
  ) -> ImmediateChange? {
    guard case .written(let whole) = change else { return change }
    let height = L.height
    defer { L.height = height }
    var element = write.pointee
    element.details = nil
    var key = lua_Integer.min
    while watcher.pointee.isActive, clua_write_nextchange(L.pointer, write, &key) {
      (element.key, element.old, element.new_) = (height + 1, height + 2, height + 3)
      let accepted = withUnsafePointer(to: element) { element -> ImmediateChange? in
        let part = Change(
          node: whole.node, slot: whole.slot, every: whole.every, isSame: false,
          values: UnsafeRawPointer(element))
        return compare(.written(part), for: watcher).map { _ in .saved(saved(.written(part))) }
      }
      if let accepted { return accepted }
      L.height = height
    }
    return nil
  }
}
