internal import Lua
internal import Observables

/// An edit as it is delivered to scripts.
struct ScriptEdit {
  let kind: String
  let at: LuaValue
  let from: LuaValue
  let old: LuaValue
  let new: LuaValue

  /// The edit for a Swift watcher of a list: positions count from 0.
  var listEdit: CollectionEdit<LuaValue>? {
    guard case .integer(let at) = at else { return nil }
    let position = Int(at) - 1
    switch kind {
    case "insert": return .insert(new, at: position)
    case "remove": return .remove(old, at: position)
    case "replace": return .replace(old, with: new, at: position)
    default:
      guard case .integer(let from) = from else { return nil }
      return .move(new, from: Int(from) - 1, at: position)
    }
  }

  /// The edit for a Swift watcher of a map.
  var keyedEdit: KeyedEdit<LuaValue, LuaValue>? {
    func value(_ value: LuaValue) -> LuaValue? { value == .nil ? Optional.none : value }
    return KeyedEdit(key: at, old: value(old), new: value(new))
  }
}
