public import Lua

/// Readable descriptions of values.
extension ScriptEnvironment {
  /// Describes a value as the prompt of `obs-lua` does: a table with its keys in order, and marks
  /// for observed and computed keys.
  ///
  /// ```swift
  /// print(try host.describe(host["config"]))
  /// ```
  ///
  /// This computes nothing; of the scripts' code, only `__tostring` runs, on the account of the
  /// sandbox. Long tables are shortened. Call this on the loop's thread.
  ///
  /// - Parameters:
  ///   - value: the value to describe.
  ///   - columns: the maximum width of lines.
  ///   - isColoured: whether the text has colours for a terminal.
  /// - Throws: `LuaError` for a closed state, no memory, and a time limit.
  public func describe(
    _ value: LuaValue, columns: Int = 80, isColoured: Bool = false
  ) throws(LuaError) -> String {
    let scope = try scriptScope()
    let state = scope.host.state
    return try state.withStack { L throws(LuaError) in
      let base = L.height
      defer { L.height = base }
      try state.push(value, to: L)
      try scope.entered { () throws(LuaError) in
        try scope.host.describeValues(above: base, columns: columns, isColoured: isColoured, L)
      }
      return state.wholeText(at: -1, of: L)
    }
  }
}
