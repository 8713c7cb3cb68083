internal import Lua
internal import Observables

/// The hooks of `on_observed`.
extension ScriptReceiver {
  /// Calls the hook of `on_observed` for a key of a table.
  func callObservedHook(_ slot: SlotRef, name: String, isObserved: Bool) {
    callObservedHook(of: slot.pointee.node, slot, name: name, isObserved: isObserved)
  }

  /// Calls the hook of `on_observed`.
  func callObservedHook(
    of root: NodeRef, _ slot: SlotRef? = nil, name: String, isObserved: Bool
  ) {
    let L = state.stack
    guard L.hasRoom(for: 24) else { return }
    let height = L.height
    defer { L.height = height }
    observed.pushKept(ScriptWatcher.hookKey, of: root, to: L)
    guard L.isFunction(at: -1) else { return }
    inHook {
      observed.push(root, to: L)
      if let slot, root.kind === tables, !slot.pointee.isEvery {
        // A key that is a string is pushed itself, as it may contain any bytes.
        TableKind.pushKey(of: slot, to: L)
      } else {
        L.pushNil()
      }
      if !L.isString(at: -1) {
        L.pop()
        guard (try? state.push(text: name, to: L)) != nil else { return }
      }
      L.push(isObserved)
      let site = host.sources.text(host.sources.definition(height + 1, L))
      do throws(LuaError) { try state.tracedCall(arguments: 3, L) } catch {
        host.reports.report(error, .hook, name: "on_observed", site: site)
      }
    }
  }
}
