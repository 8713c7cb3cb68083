internal import CLua
internal import CTables

/// A table of Lua, kept alive by this handle.
///
/// To be used where its state is used; may be released anywhere. Two handles are equal if they mean
/// the same table.
public struct LuaTable: Sendable, Hashable {
  package let pin: LuaPin

  package init(pin: LuaPin) { self.pin = pin }

  /// The value of a key, as `t[key]` returns it, metamethods included.
  ///
  /// - Throws: `runtime` from a metamethod, `memory`, `closed`, `foreign` for a key of another
  ///   state.
  public subscript(key: some LuaEncodable) -> LuaValue {
    get throws(LuaError) { try get(key) }
  }

  /// The value of a key as a Swift value, as `t[key]` returns it, metamethods included.
  ///
  /// - Throws: `type` if it is another; `runtime` from a metamethod, `memory`, `closed`, `foreign`.
  public func get<Value: LuaDecodable>(
    _ key: some LuaEncodable, as type: Value.Type = Value.self
  ) throws(LuaError) -> Value {
    try withTable { state, L throws(LuaError) in
      try state.push(key, to: L)
      try state.check(clua_try_gettable(L.pointer, -2), L)
      return try state.pull(at: -1, of: L)
    }
  }

  /// Assigns the value of a key, as `t[key] = value` does, metamethods included.
  ///
  /// - Throws: `runtime` for nil and NaN as keys and from a metamethod; `memory`, `closed`,
  ///   `foreign`.
  public func set(
    _ key: some LuaEncodable, to value: some LuaEncodable
  ) throws(LuaError) {
    try withTable { state, L throws(LuaError) in
      try state.push(key, to: L)
      try state.push(value, to: L)
      try state.check(clua_try_settable(L.pointer, -3), L)
    }
  }

  /// The length, as `#t` returns it.
  ///
  /// - Throws: `runtime` from a metamethod, `memory`, `closed`.
  public var length: Int {
    get throws(LuaError) {
      try withTable { state, L throws(LuaError) in
        Int(clamping: try state.length(of: L))
      }
    }
  }

  /// Calls `body` with each key and value, as `next` returns them: metamethods are not called.
  ///
  /// `body` may assign to keys that exist. An error that it throws ends the loop.
  /// - Throws: `runtime` if a key was added meanwhile, `memory`, `closed`, and what `body` throws.
  public func forEach(
    _ body: (LuaValue, LuaValue) throws(LuaError) -> Void
  ) throws(LuaError) {
    try withTable { state, L throws(LuaError) in
      let table = L.height
      L.pushNil()
      while true {
        try state.pushNextEntry(at: table, of: L)
        guard !L.isNil(at: -2) else { return }
        let (key, value) = (try state.value(at: -2, of: L), try state.value(at: -1, of: L))
        L.pop()
        try body(key, value)
      }
    }
  }

  /// The metatable, nil if there is none.
  ///
  /// Assigning is `setMetatable(_:)`.
  ///
  /// - Throws: `memory`, `closed`.
  public var metatable: LuaTable? {
    get throws(LuaError) {
      try withTable { state, L throws(LuaError) in
        guard clua_getmetatable(L.pointer, -1) else { return nil }
        return LuaTable(pin: try state.pin(L))
      }
    }
  }

  /// Gives the table a metatable, or removes it.
  ///
  /// - Throws: `memory`, `closed`, `foreign`.
  public func setMetatable(_ metatable: LuaTable?) throws(LuaError) {
    try withTable { state, L throws(LuaError) in
      try state.push(metatable.map { .table($0) } ?? .nil, to: L)
      try state.check(clua_try_setmetatable(L.pointer, -2), L)
    }
  }

  /// Runs `body` with the table on top of the stack, and restores the stack.
  package func withTable<Result>(
    _ body: (LuaState, LuaStack) throws(LuaError) -> Result
  ) throws(LuaError) -> Result {
    let state = try pin.state
    return try state.withStack { L throws(LuaError) in
      try state.push(pin, to: L)
      return try body(state, L)
    }
  }
}
