public import Lua
public import Observables

/// Swift watchers of the edits of script tables (C10).
extension ScriptEnvironment {
  /// Calls `callback` at the end of each turn in which the list in `table` changed, with the edits
  /// since the last call, oldest first.
  ///
  /// The table is a plain list or an `obs.array`; positions count from 0. Everything else is as for
  /// `observe`.
  ///
  /// - Throws: `PathError` for a table that keeps no journal, `LuaError` for a closed state.
  /// - Complexity: O(elements), once.
  @discardableResult
  public func observeEdits(
    _ table: LuaTable, immediate: Bool = false,
    options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, [CollectionEdit<LuaValue>]) throws -> Void
  ) throws -> Watcher {
    try observeEdits(table, immediate, options, file, line, \.listEdit, callback)
  }

  /// Calls `callback` at the end of each turn in which keys of `table` changed, with the old and
  /// the new value of each key.
  ///
  /// The table is a plain map, an `obs.dictionary`, or an `obs.set_of`, whose members are both keys
  /// and values. Everything else is as for `observe`.
  ///
  /// - Throws: `PathError` for a table that keeps no journal, `LuaError` for a closed state.
  @discardableResult
  public func observeKeyedEdits(
    _ table: LuaTable, immediate: Bool = false,
    options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (LuaTable, [KeyedEdit<LuaValue, LuaValue>]) throws -> Void
  ) throws -> Watcher {
    try observeEdits(table, immediate, options, file, line, \.keyedEdit, callback)
  }

  private func observeEdits<Edit>(
    _ table: LuaTable, _ immediate: Bool, _ options: WatcherOptions, _ file: StaticString,
    _ line: UInt, _ edit: @escaping (ScriptEdit) -> Edit?,
    _ callback: @escaping (LuaTable, [Edit]) throws -> Void
  ) throws -> Watcher {
    var isFirst = options.initial
    let host = Unmanaged.passUnretained(try scriptScope().host)
    return try watch(
      table, options, isImmediate: immediate, file, line,
      { table, watcher, _ in
        // A watcher ends with its host.
        let taken = host._withUnsafeGuaranteedRef { host in
          watcher.activeRecord.flatMap { record in
            host.engine.members.takeEdits(of: record) { node, since in
              // The insertions of all elements include the latest edits.
              host.edits.edits { L throws(LuaError) in
                if isFirst {
                  try host.edits.pushInserts(of: node, to: L)
                } else {
                  try host.edits.pushEdits(of: node, since: since, to: L)
                }
              }
            }
          }
        }
        isFirst = false
        try callback(table, (taken ?? []).compactMap(edit))
      }
    ) { engine, record in try engine.members.addEdits(to: record) }
  }
}
