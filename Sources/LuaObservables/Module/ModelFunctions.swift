internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Functions that the prelude needs for models.
final class ModelFunctions: ModuleSlice {
  override var functions: [NamedFunction] {
    [.init("nearest", nearest)]
  }

  /// Sets the functions that make models in the table on top of the stack. [-0, +0, -]
  override func complete(_ L: LuaStack) throws(LuaError) {
    let functions: [(String, lua_CFunction)] = [
      ("make_model", clua_model_make), ("model_of", clua_model_of),
      ("model_record", clua_model_record), ("is_declared", clua_model_isdeclared),
      ("inherited", clua_lazyinherited), ("lazy_keys", clua_lazykeys),
      ("element_count", clua_elementcount), ("freeze", clua_freeze), ("absorb", clua_absorbtable),
    ]
    for (name, function) in functions {
      clua_pushlightfunction(L.pointer, function)
      try state.setField(name, of: L)
    }
  }

  /// nearest(name, names) → the name in a list that a misspelt one most likely meant, or nil.
  ///
  /// Keys that are not strings are neither misspelt nor suggested.
  private func nearest(_ L: LuaStack) throws -> CInt {
    L.height = 2
    guard L.isString(at: 1) else { return 0 }
    var names: [String] = []
    for position in stride(from: 1, through: L.ownLength(at: 2), by: 1) {
      if L.rawGet(index: position, at: 2) == .string { names.append(state.text(at: -1, of: L)) }
      L.pop()
    }
    guard let name = nearestName(to: state.text(at: 1, of: L), among: names) else { return 0 }
    try state.push(text: name, to: L)
    return 1
  }
}
