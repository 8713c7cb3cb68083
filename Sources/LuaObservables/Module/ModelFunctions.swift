internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Functions that the prelude needs for models.
final class ModelFunctions: ModuleSlice {
  override var functions: [NamedFunction] {
    [
      .init(
        "nearest",
        { [self] L in
          guard let nearest = nearest(L) else { return 0 }
          try state.push(text: nearest, to: L)
          return 1
        }
      ),
      .init("hint", hint),
    ]
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

  /// nearest(name, names) → the name that a misspelt one most likely meant, or nil.
  ///
  /// `names` is a list, or a table with names as keys. Values that are not strings are neither
  /// misspelt nor suggested.
  private func nearest(_ L: LuaStack) -> String? {
    guard L.isString(at: 1) else { return nil }
    return state.nearest(to: state.text(at: 1, of: L), amongEntriesAt: 2, of: L)
  }

  /// hint(name, names, otherwise) → the end of a message about a misspelt name: the nearest name,
  /// or `otherwise` if there is none, or nothing.
  private func hint(_ L: LuaStack) throws -> CInt {
    L.height = 3
    guard let nearest = nearest(L) else {
      if L.isNil(at: 3) { try state.push(text: "", to: L) }
      return 1
    }
    try state.push(text: didYouMean(nearest), to: L)
    return 1
  }
}
