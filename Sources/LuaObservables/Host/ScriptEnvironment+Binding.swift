public import Lua
public import Observables

/// Bindings, which copy values from tables to models or back.
extension ScriptEnvironment {
  /// Keeps keys of a script's table equal to the properties of a model that have the same names
  /// (K4).
  ///
  /// The keys are set now, and at the end of each turn in which the properties changed; until then,
  /// other values assigned to the table last. A bound write is an ordinary write, so bindings
  /// chain. Call this on the loop's thread; the table is held weakly. If a value cannot be set
  /// later, this is reported as an error of a watcher.
  ///
  /// - Throws: `ModelError` for a name that the model doesn't have; `LuaError` for a closed state,
  ///   and for errors of metamethods.
  /// - Complexity: O(number of names), also per turn with a change.
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

  /// Keeps properties of a model equal to the keys of a script's table that have the same names
  /// (K4).
  ///
  /// Everything else is as for the other direction; the model is held weakly.
  ///
  /// - Throws: `ModelError` for a name that the model doesn't have; `LuaError` for a read-only
  ///   property, a value that a property doesn't take, and a closed state. Nothing is bound then.
  /// - Complexity: O(number of names), also per turn with a change.
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

  /// Binds names; `push` pushes destination and source.
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
