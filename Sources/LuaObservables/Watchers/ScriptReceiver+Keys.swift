internal import Lua
internal import Observables

/// Objects that are components of paths.
///
/// A path does not keep them alive, as they may lead back to it. The observed object of a watcher
/// does, so they are freed with it, and with every cycle through it (L6).
extension ScriptReceiver {
  /// Adds a path to a watcher, whose observed object keeps the path's components from now on.
  func add(_ path: Path, to watcher: WatcherRef, _ L: LuaStack) throws {
    guard path.hasObjectKeys else { return try engine.wiring.add(path, to: watcher) }
    let name = watcher.identity
    let height = L.height
    defer { L.height = height }
    if host.paths.pushObjectKeys(of: path, to: L) { try keep(height + 1, of: watcher, L) }
    // Finalizers that ran during the allocation may have ended the watcher.
    if let watcher = engine.watchers[name] { try engine.wiring.add(path, to: watcher) }
  }

  /// Adds the keys at an index to a watcher's keys in the observed object.
  private func keep(_ keys: CInt, of watcher: WatcherRef, _ L: LuaStack) throws(LuaError) {
    let name = watcher.identity
    try state.pushTable(fields: 1, to: L)
    guard let watcher = engine.watchers[name], let root = watcher.pointee.root else { return }
    let key = ScriptWatcher.key(watcher, .keys)
    observed.pushKept(key, of: root, to: L)
    if L.isNil(at: -1) {
      L.pop()
      L.pushCopy(at: -1)
      watcher.script.pointee.parts.insert(.keys)
      try observed.keep(key, of: root, L)
    }
    L.pushCopy(at: keys)
    L.push(true)
    try state.rawSet(of: L)
  }

  /// After paths of a watcher were removed, forgets the keys that its other paths don't have.
  func forgetUnusedKeys(of watcher: WatcherRef, _ L: LuaStack) {
    guard watcher.pointee.isActive, watcher.script.pointee.parts.contains(.keys) else { return }
    let (name, paths, height) = (watcher.identity, engine.inspection.paths(of: watcher), L.height)
    defer { L.height = height }
    do {
      try state.pushTable(fields: paths.count, to: L)
      for path in paths where host.paths.pushObjectKeys(of: path, to: L) {
        L.push(true)
        try state.rawSet(of: L)
      }
      guard let watcher = engine.watchers[name], let root = watcher.pointee.root else { return }
      try observed.keep(ScriptWatcher.key(watcher, .keys), of: root, L)
    } catch {
      // Without memory for a new table, the old one stays.
    }
  }
}
