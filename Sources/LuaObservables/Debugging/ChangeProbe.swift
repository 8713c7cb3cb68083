internal import CLua
internal import Lua
internal import Observables

/// Shows writes as they happen (W3).
final class ChangeProbe: Receiver {
  // The host is not retained: it owns this object through its module.
  unowned(unsafe) private let host: LuaHost

  init(_ host: LuaHost) {
    self.host = host
    super.init()
  }

  override func save(_ change: Change) -> AnyObject? { host.receiver.saved(.written(change)) }

  override func deliver(_ watcher: WatcherRef, _ change: ImmediateChange, path: Path) {
    let state = host.state
    let L = state.stack
    let saved = host.receiver.saved(change)
    guard L.hasRoom(for: 24) else { return }
    func text(_ value: LuaValue) -> String {
      guard (try? state.push(value, to: L)) != nil else { return "?" }
      defer { L.pop() }
      if L.isString(at: -1) { return "\"\(state.text(at: -1, of: L))\"" }
      guard clua_try_tostring(L.pointer, -1) == LUA_OK else {
        L.pop()
        return "?"
      }
      defer { L.pop() }
      return state.text(at: -1, of: L)
    }
    var lines = [
      "\(host.programName): break on change of '\(path)'",
      "  key \(text(saved.key)): \(text(saved.old)) -> \(text(saved.new))",
    ]
    if clua_try_traceback(L.pointer, 0) == LUA_OK { lines.append(state.text(at: -1, of: L)) }
    L.pop()
    writeError(lines.joined(separator: "\n") + "\n")
    host.module.debugging.openPrompt(L)
  }
}
