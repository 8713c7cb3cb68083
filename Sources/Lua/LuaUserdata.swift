internal import CLua

/// A full userdata of Lua, kept alive by this handle.
///
/// Use it where its state is used; it may be released anywhere. Two handles are equal if they refer
/// to the same userdata.
public struct LuaUserdata: Sendable, Hashable {
  package let pin: LuaPin

  package init(pin: LuaPin) { self.pin = pin }

  /// The metatable, or nil if the userdata has none.
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
