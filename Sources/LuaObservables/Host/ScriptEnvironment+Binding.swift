public import Lua
public import Observables

/// Bindings between tables and models, which copy values from one to the other.
extension ScriptEnvironment {
  /// Keeps keys of a table of a script equal to the properties of the same names of a model (K4).
  ///
  /// They are set now, and at the end of each turn in which those of the model became others; what
  /// is assigned to the table meanwhile lasts until then. A bound write is a write as any other, so
  /// bindings chain. On the loop's thread; the table is held weakly. A value that cannot be set
  /// later is reported as an error of a watcher.
  ///
  /// - Throws: `ModelError` for a name that the model doesn't have; `LuaError` for a closed state,
  ///   and what a metamethod raises.
  /// - Complexity: O(number of names), per turn with a change, too.
  @discardableResult
  public func bind(
    _ table: LuaTable, _ names: [String], to model: some ObservableModel
  ) throws -> ScriptBinding {
    let properties = type(of: model).properties
    for name in names { _ = try properties.slot(of: name) }
    return try bind(names) { host, L throws(LuaError) in
      try host.state.push(table.pin, to: L)
      try host.objects.push(model, to: L)
    }
  }

  /// Keeps properties of a model equal to the keys of the same names of a table of a script (K4).
  ///
  /// All else is as for the other direction; the model is held weakly.
  ///
  /// - Throws: `ModelError` for a name that the model doesn't have; `LuaError` for a property that
  ///   is read-only, a value that it doesn't take, and a closed state. Nothing is bound then.
  /// - Complexity: O(number of names), per turn with a change, too.
  @discardableResult
  public func bind(
    _ model: some ObservableModel, _ names: [String], to table: LuaTable
  ) throws -> ScriptBinding {
    let properties = type(of: model).properties
    for name in names { _ = try properties.slot(of: name) }
    return try bind(names) { host, L throws(LuaError) in
      try host.objects.push(model, to: L)
      try host.state.push(table.pin, to: L)
    }
  }

  /// `push` pushes destination and source.
  private func bind(
    _ names: [String], _ push: (LuaHost, LuaStack) throws(LuaError) -> Void
  ) throws(LuaError) -> ScriptBinding {
    precondition(!names.isEmpty, "A binding needs at least one name")
    return try scriptScope().call("bind", results: 1) { host, L throws(LuaError) in
      try push(host, L)
      try host.state.push(names, to: L)
      return 3
    } result: { host, L throws(LuaError) in
      ScriptBinding(LuaUserdata(pin: try host.state.pin(at: -1, of: L)))
    }
  }
}
