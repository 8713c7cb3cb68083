public import Lua
public import Observables

/// Lets key paths continue into a script's table that is stored in a property of a Swift model.
extension LuaTable: ObservableReference {
  /// The table's place in the engine; nil if its state is closed or has no host on that loop.
  @_documentation(visibility: internal)
  public func observationToken(in engine: ObservationCore.Engine) -> ObservationToken? {
    guard let state = try? pin.state, let host = state.attachment as? LuaHost,
      host.engine === engine
    else { return nil }
    let node = try? state.withStack { L throws(LuaError) in
      try state.push(pin, to: L)
      return try host.tables.node(L)
    }
    return node.map { ObservationToken(node: $0) }
  }
}
