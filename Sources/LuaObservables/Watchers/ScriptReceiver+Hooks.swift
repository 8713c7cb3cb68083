internal import CLua
internal import Lua
internal import Observables

/// The hooks of `on_observed`.
extension ScriptReceiver {
  /// Tells the hook of `on_observed` about a key of a table.
  func callObservedHook(_ slot: SlotRef, name: String, isObserved: Bool) {
    callObservedHook(of: slot.pointee.node, slot, name: name, isObserved: isObserved)
  }

  /// Tells the hook of `on_observed`.
  func callObservedHook(
    of root: NodeRef, _ slot: SlotRef? = nil, name: String, isObserved: Bool
  ) {
    let L = state.stack
    guard lua_checkstack(L.pointer, 24) != 0 else { return }
    let height = lua_gettop(L.pointer)
    defer { lua_settop(L.pointer, height) }
    observed.pushKept(ScriptWatcher.hookKey, of: root, to: L)
    guard lua_type(L.pointer, -1) == LUA_TFUNCTION else { return }
    inHook {
      observed.push(root, to: L)
      if let slot, root.kind === tables, !slot.pointee.isEvery {
        // The key itself where it is a string: any bytes may be in it.
        clua_node_pushkey(
          L.pointer, TableKind.table(root),
          UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self))
      } else {
        lua_pushnil(L.pointer)
      }
      if lua_type(L.pointer, -1) != LUA_TSTRING {
        clua_pop(L.pointer, 1)
        guard (try? state.push(text: name, to: L)) != nil else { return }
      }
      lua_pushboolean(L.pointer, isObserved ? 1 : 0)
      let site = host.sources.text(host.sources.definition(height + 1, L))
      let status = clua_tracedcall(L.pointer, 3, 0)
      if status != LUA_OK {
        host.reports.reportError(status, L, .hook, name: "on_observed", site: site)
      }
    }
  }
}
