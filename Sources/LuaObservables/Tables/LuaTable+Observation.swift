public import Lua
public import Observables

/// A property of a Swift model may hold a table of a script; key paths go on into it.
extension LuaTable: ObservableReference {
  /// Where the table is observed; nil if its state is closed or has no host on that loop.
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
