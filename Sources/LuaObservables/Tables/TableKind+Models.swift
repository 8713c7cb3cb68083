internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Instances of models that scripts made: their names are declared (P9).
extension TableKind {
  /// Checks that the name on top of the stack can be observed on a table, and makes a lazy property
  /// exist. [-0, +0, -]
  func checkName(
    of table: OpaquePointer, _ step: Int, _ path: Path, _ L: LuaStack
  ) throws {
    switch clua_node_name(L.pointer, table, -1) {
    case CLUA_NAME_LAZY:
      L.pushCopy(at: -1)
      try state.check(clua_try_node_declare(L.pointer, table), L)
    case CLUA_NAME_METHOD:
      let (model, name) = (modelName(of: table, L), state.keyName(at: -1, of: L))
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "'\(name)' is a method of \(model), not a property")
    case CLUA_NAME_UNKNOWN:
      let (model, name) = (modelName(of: table, L), state.keyName(at: -1, of: L))
      let nearest = nearestProperty(to: name, of: table, L)
      throw PathError(
        .unknownName, path: path.description, component: step + 1,
        detail: "\(model) has no property '\(name)'" + didYouMean(nearest),
        suggestion: nearest)
    default: break
    }
  }

  /// Declares the lazy property for the key at an index on an instance, if it does not exist. [-0,
  /// +0, -]
  ///
  /// If this fails, reading the key fails again.
  func declare(forKeyAt index: CInt, of table: OpaquePointer, _ L: LuaStack) {
    guard clua_node_name(L.pointer, table, index) == CLUA_NAME_LAZY else { return }
    L.pushCopy(at: index)
    if clua_try_node_declare(L.pointer, table) != LUA_OK { L.pop() }
  }

  /// The name of the model whose instance is the table of a node. [-0, +0, -]
  private func modelName(of table: OpaquePointer, _ L: LuaStack) -> String {
    let height = L.height
    defer { L.height = height }
    guard pushRecordField("name", of: table, L) == .string else { return "the model" }
    return state.text(at: -1, of: L)
  }

  /// The nearest of the names that the model of a node's table declares. [-0, +0, -]
  private func nearestProperty(
    to name: String, of table: OpaquePointer, _ L: LuaStack
  ) -> String? {
    let height = L.height
    defer { L.height = height }
    guard pushRecordField("declared", of: table, L) == .table else { return nil }
    return state.nearest(to: name, amongEntriesAt: L.height, of: L)
  }

  /// Pushes a field of the model's record for a node's table; nil without a model. [-0, +any, -]
  private func pushRecordField(
    _ name: String, of table: OpaquePointer, _ L: LuaStack
  ) -> LuaType {
    clua_node_pushtable(L.pointer, table)
    guard clua_pushmodelof(L.pointer, -1), (try? state.push(text: name, to: L)) != nil else {
      return .nil
    }
    return L.getOwn(at: -2)
  }
}
