internal import CLua

/// A full userdata of Lua, kept alive by this handle.
///
/// To be used where its state is used; may be released anywhere. Two handles are equal if they mean
/// the same userdata.
public struct LuaUserdata: Sendable, Hashable {
  package let pin: LuaPin

  package init(pin: LuaPin) { self.pin = pin }

  /// The metatable, nil if there is none.
  ///
  /// - Throws: `memory`, `closed`.
  public var metatable: LuaTable? {
    get throws(LuaError) {
      let state = try pin.state
      return try state.withStack { L throws(LuaError) in
        try state.push(pin, to: L)
        guard clua_plaingetmetatable(L.pointer, -1) != 0 else { return nil }
        return LuaTable(pin: try state.pin(L))
      }
    }
  }
}
