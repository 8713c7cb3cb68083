internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Changes, as immediate watchers of scripts get them.
extension ScriptReceiver {
  /// Pushes {path, key, old, new}. [-0, +1, -]
  func pushChange(
    _ change: ImmediateChange, _ path: Path, to L: LuaStack
  ) throws(LuaError) {
    try state.push(bytes: path.text, to: L)
    try push(.key, of: change, to: L)
    try push(.old, of: change, to: L)
    try push(.new, of: change, to: L)
    try state.check(clua_try_makechange(L.pointer), L)
  }

  /// Pushes a part of a change. [-0, +1, -]
  func push(
    _ part: ChangePart, of change: ImmediateChange, to L: LuaStack
  ) throws(LuaError) {
    switch change {
    case .written(let change): try push(part, of: change, to: L)
    case .saved(let saved as SavedChange): try state.push(saved[part], to: L)
    case .saved(let saved as SavedWrite): try push(part, of: saved.write, to: L)
    case .saved: L.pushNil()
    }
  }

  /// Pushes a part of a write that is under way. [-0, +1, -]
  private func push(
    _ part: ChangePart, of change: Change, to L: LuaStack
  ) throws(LuaError) {
    guard let values = change.values else { return L.pushNil() }
    guard observed.isTable(change.node) else {
      return try push(part, of: ModelWrite(change), to: L)
    }
    let write = values.assumingMemoryBound(to: clua_write.self).pointee
    let index =
      switch part {
      case .key: write.key
      case .old: write.old
      case .new: write.new_
      }
    // Values that no slot wanted are missing.
    if index == 0 { L.pushNil() } else { L.pushCopy(at: index) }
  }

  /// Pushes a part of a write of a Swift object. [-0, +1, -]
  private func push(
    _ part: ChangePart, of write: ModelWrite, to L: LuaStack
  ) throws(LuaError) {
    switch part {
    case .key: try host.objects.push(key: write, to: L)
    case .old: try host.objects.push(value: write.old, to: L)
    case .new: try host.objects.push(value: write.new, to: L)
    }
  }

  /// The values of a change as Lua values.
  func saved(_ change: ImmediateChange) -> SavedChange {
    if case .saved(let saved as SavedChange) = change { return saved }
    let L = state.stack
    let height = L.height
    defer { L.height = height }
    func value(_ part: ChangePart) -> LuaValue {
      guard (try? push(part, of: change, to: L)) != nil else { return .nil }
      return (try? state.value(at: -1, of: L)) ?? .nil
    }
    return SavedChange(key: value(.key), old: value(.old), new: value(.new))
  }

  /// Moves the values of a change to the observed object of a paused watcher, which may be one of
  /// them or lie below them.
  ///
  /// Returns the change itself if memory is short.
  func kept(_ saved: AnyObject, by watcher: WatcherRef, isDerived: Bool) -> AnyObject {
    let L = state.stack
    guard let change = saved as? SavedChange, let root = watcher.pointee.root, !root.isDead,
      !host.isClosed, L.hasRoom(for: 16)
    else { return saved }
    let (key, height) = (ScriptWatcher.key(ofMissed: watcher), L.height)
    defer { L.height = height }
    let first = isDerived ? 4 : 1
    do throws(LuaError) {
      observed.pushKept(key, of: root, to: L)
      if !L.isTable(at: -1) {
        try state.pushTable(elements: 6, to: L)
        for index in 1...6 {
          L.push(false)
          L.rawSet(index: index, at: -2)
        }
        L.pushCopy(at: -1)
        try observed.keep(key, of: root, L)
      }
      for (index, value) in [change.key, change.old, change.new].enumerated() {
        try state.push(value, to: L)
        L.rawSet(index: first + index, at: -2)
      }
      return SavedChange.Kept(first: first)
    } catch {
      return saved
    }
  }

  /// The change that `kept` has moved; nil if the object is gone.
  func taken(_ saved: AnyObject, of watcher: WatcherRef) -> AnyObject? {
    guard let kept = saved as? SavedChange.Kept else { return saved }
    let L = state.stack
    guard let root = watcher.pointee.root, !root.isDead, !host.isClosed, L.hasRoom(for: 16)
    else { return nil }
    let height = L.height
    defer { L.height = height }
    observed.pushKept(ScriptWatcher.key(ofMissed: watcher), of: root, to: L)
    guard L.isTable(at: -1) else { return nil }
    func value(_ index: Int) -> LuaValue {
      L.rawGet(index: lua_Integer(kept.first + index), at: height + 1)
      let value = (try? state.value(at: -1, of: L)) ?? .nil
      L.push(false)
      L.rawSet(index: kept.first + index, at: height + 1)
      return value
    }
    return SavedChange(key: value(0), old: value(1), new: value(2))
  }
}
