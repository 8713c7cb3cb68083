internal import CLua
internal import Lua
internal import Observables

/// Instances of models that a script made: their names are declared (P9).
extension TableKind {
  /// Makes sure that the name on top of the stack may be observed on a table; a lazy property is
  /// there afterwards.
  ///
  /// [-0, +0, -]
  func checkName(
    of table: OpaquePointer, _ step: Int, _ path: Path, _ L: OpaquePointer
  ) throws {
    switch clua_node_name(L, table, -1) {
    case CLUA_NAME_LAZY:
      lua_pushvalue(L, -1)
      try host.state.check(clua_try_node_declare(L, table), L)
    case CLUA_NAME_METHOD:
      let (model, name) = (host.modelName(of: table, L), host.keyName(at: -1, of: L))
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "'\(name)' is a method of \(model), not a property")
    case CLUA_NAME_UNKNOWN:
      let (model, name) = (host.modelName(of: table, L), host.keyName(at: -1, of: L))
      let nearest = nearestName(to: name, among: host.modelNames(of: table, L))
      throw PathError(
        .unknownName, path: path.description, component: step + 1,
        detail: "\(model) has no property '\(name)'"
          + (nearest.map { " (did you mean '\($0)'?)" } ?? ""), suggestion: nearest)
    default: break
    }
  }

  /// Declares the lazy property that the key at an index names on an instance, unless it is there.
  ///
  /// Where that fails, reading it fails again. [-0, +0, -]
  func declare(forKeyAt index: CInt, of table: OpaquePointer, _ L: OpaquePointer) {
    guard clua_node_name(L, table, index) == CLUA_NAME_LAZY else { return }
    lua_pushvalue(L, index)
    if clua_try_node_declare(L, table) != LUA_OK { clua_pop(L, 1) }
  }
}
