public import Lua
public import Observables

/// Reading key paths from Swift.
extension ScriptEnvironment {
  /// Returns the value at the end of a path that starts at a script's table; nil if the end is not
  /// reachable.
  ///
  /// A Swift path counts from 0. Collection operators are evaluated, or read if they are observed
  /// (C9); a union is a new table.
  ///
  /// - Throws: `LuaError` for a path with many values, an operator over a value that it cannot
  ///   take, an error of a metamethod, and a closed state.
  /// - Complexity: O(length of the path), and O(elements) for each operator that is not observed.
  public func value(of table: LuaTable, at path: Path) throws(LuaError) -> LuaValue {
    try scriptScope().call("get", results: 1) { host, L throws(LuaError) in
      try host.state.push(table.pin, to: L)
      try host.module.observing.push(path, to: L)
      return 2
    } result: { host, L throws(LuaError) in
      try host.state.value(at: -1, of: L)
    }
  }
}
