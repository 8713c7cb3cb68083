public import Lua

/// Values for people.
extension ScriptEnvironment {
  /// A value as the prompt of `obs-lua` shows it: a table with its keys in order, and marks for
  /// observed and computed ones.
  ///
  /// ```swift
  /// print(try host.describe(host["config"]))
  /// ```
  ///
  /// Nothing is computed for it, and of the code of scripts only `__tostring` runs, on the account
  /// of the sandbox. Long tables are shortened. On the loop's thread.
  ///
  /// - Parameters:
  ///   - value: what is shown.
  ///   - columns: how wide lines may be.
  ///   - isColoured: whether the text has colours for a terminal.
  /// - Throws: `LuaError` for a closed state, no memory, and time that is up.
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
      return state.text(at: -1, of: L)
    }
  }
}
