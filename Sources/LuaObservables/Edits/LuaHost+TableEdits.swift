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
    _ table: LuaTable, immediate: Bool = false,
    options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, [CollectionEdit<LuaValue>]) -> Void
  ) throws -> TableWatcher {
    try observeEdits(table, immediate, options, file, line, listEdit, callback)
  }

  /// Calls `callback` at the end of each turn in which keys of `table` changed, with the value
  /// before and the one now of each.
  ///
  /// The table is used as a map, an `obs.dictionary`, or an `obs.set_of`, whose members are keys
  /// and values. As `observe` otherwise.
  ///
  /// - Throws: `PathError` for a table that keeps no journal, `LuaError` for a closed state.
  @discardableResult
  public func observeKeyedEdits(
    _ table: LuaTable, immediate: Bool = false,
    options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, [KeyedEdit<LuaValue, LuaValue>]) -> Void
  ) throws -> TableWatcher {
    try observeEdits(table, immediate, options, file, line, keyedEdit, callback)
  }

  private func observeEdits<Edit>(
    _ table: LuaTable, _ immediate: Bool, _ options: WatcherOptions, _ file: StaticString,
    _ line: UInt, _ edit: @escaping (ScriptEdit) -> Edit?,
    _ callback: @escaping (LuaTable, [Edit]) -> Void
  ) throws -> TableWatcher {
    var isFirst = options.initial
    let watcher = TableWatcher(host: self, options: options, file: file, line: line) {
      [unowned self] table, watcher, _ in
      let edits = watcher.activeRecord.flatMap { record in
        engine.takeEdits(of: record) { node, since in
          // All that is there includes what has just come.
          scriptEdits { L throws(LuaError) in
            if isFirst {
              try pushInserts(of: node, to: L)
            } else {
              try pushEdits(of: node, since: since, to: L)
            }
          }
        }
      }
      isFirst = false
      callback(table, (edits ?? []).compactMap(edit))
    }
    return try begin(watcher, of: table, options, immediate ? .immediate : []) {
      try engine.addEdits(to: $0)
    }
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

  /// What a script would be told by what `push` pushes; nothing where there is no memory for it.
  private func scriptEdits(_ push: (OpaquePointer) throws(LuaError) -> Void) -> [ScriptEdit] {
    let result = try? state.withStack { L throws(LuaError) in
      try push(L)
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
