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
    try state.check(clua_try_createtable(L.pointer, 0, 4), L)
    try state.push(bytes: path.text, to: L)
    try state.check(clua_try_setfield(L.pointer, -2, "path", 4), L)
    for (name, part) in [("key", ChangePart.key), ("old", .old), ("new", .new)] {
      try push(part, of: change, to: L)
      try state.check(clua_try_setfield(L.pointer, -2, name, 3), L)
    }
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
}
