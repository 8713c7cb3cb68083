internal import CLua
public import Lua
public import Observables

/// Edits of tables of a script, told to Swift (C10).
extension LuaHost {
  /// Calls `callback` at the end of each turn in which the list in `table` changed, with the edits
  /// that turn its state at the last call into this one, the oldest first.
  ///
  /// The table is a plain list or an `obs.array`; positions count from 0. As `observe` otherwise.
  ///
  /// - Throws: `PathError` for a table that keeps no journal, `LuaError` for a closed state.
  /// - Complexity: O(elements), once.
  @discardableResult
  public func observeEdits(
    _ table: LuaTable, immediate: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, [CollectionEdit<LuaValue>]) -> Void
  ) throws -> TableWatcher {
    try observeEdits(table, immediate, once, "\(file):\(line)", listEdit, callback)
  }

  /// Calls `callback` at the end of each turn in which keys of `table` changed, with the value before and
  /// the one now of each.
  ///
  /// The table is used as a map, an `obs.dictionary`, or an `obs.set_of`, whose members are keys and values.
  /// As `observe` otherwise.
  ///
  /// - Throws: `PathError` for a table that keeps no journal, `LuaError` for a closed state.
  @discardableResult
  public func observeKeyedEdits(
    _ table: LuaTable, immediate: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, [KeyedEdit<LuaValue, LuaValue>]) -> Void
  ) throws -> TableWatcher {
    try observeEdits(table, immediate, once, "\(file):\(line)", keyedEdit, callback)
  }

  private func observeEdits<Edit>(
    _ table: LuaTable, _ immediate: Bool, _ once: Bool, _ name: String,
    _ edit: @escaping (ScriptEdit) -> Edit?, _ callback: @escaping (LuaTable, [Edit]) -> Void
  ) throws -> TableWatcher {
    let watcher = TableWatcher(host: self, name: name) { [unowned self] table, record in
      let edits = engine.takeEdits(of: record) { self.edits(of: $0, since: $1) } ?? []
      callback(table, edits.compactMap(edit))
    }
    try begin(watcher, of: table, immediate, once) { try engine.addEdits(to: $0) }
    return watcher
  }

  /// An edit as scripts are told it.
  private struct ScriptEdit {
    let kind: String
    let at: LuaValue
    let from: LuaValue
    let old: LuaValue
    let new: LuaValue
  }

  private func listEdit(_ edit: ScriptEdit) -> CollectionEdit<LuaValue>? {
    guard case .integer(let at) = edit.at else { return nil }
    let position = Int(at) - 1
    switch edit.kind {
    case "insert": return .insert(edit.new, at: position)
    case "remove": return .remove(edit.old, at: position)
    case "replace": return .replace(edit.old, with: edit.new, at: position)
    default:
      guard case .integer(let from) = edit.from else { return nil }
      return .move(edit.new, from: Int(from) - 1, at: position)
    }
  }

  private func keyedEdit(_ edit: ScriptEdit) -> KeyedEdit<LuaValue, LuaValue>? {
    func value(_ value: LuaValue) -> LuaValue? { value == .nil ? Optional.none : value }
    return KeyedEdit(key: edit.at, old: value(edit.old), new: value(edit.new))
  }

  /// What a script would be told; nothing where there is no memory for it.
  private func edits(of node: NodeRef, since position: Int) -> [ScriptEdit] {
    let result = try? state.withStack { L throws(LuaError) in
      try pushEdits(of: node, since: position, to: L)
      var edits: [ScriptEdit] = []
      let list = lua_gettop(L)
      guard lua_type(L, list) == LUA_TTABLE else { return edits }
      func field(_ name: String) throws(LuaError) -> LuaValue {
        try state.check(clua_try_getfield(L, -1, name, name.utf8.count), L)
        defer { clua_pop(L, 1) }
        return try state.value(at: -1, of: L)
      }
      for index in 0..<clua_rawlen(L, list) {
        lua_rawgeti(L, list, lua_Integer(index + 1))
        try state.check(clua_try_getfield(L, -1, "kind", 4), L)
        let kind = state.text(at: -1, of: L)
        clua_pop(L, 1)
        edits.append(
          ScriptEdit(
            kind: kind, at: try field("at"), from: try field("from"), old: try field("old"),
            new: try field("new")))
        clua_pop(L, 1)
      }
      return edits
    }
    return result ?? []
  }
}
