internal import CLua
internal import CTables

/// A Lua table, kept alive by this handle.
///
/// Use it where its state is used; it may be released anywhere. Two handles are equal if they refer
/// to the same table. Metamethods of a table that the script of a sandbox gave to Swift run on the
/// time and memory of this sandbox; once it is closed, what could call one throws `closed` (S5).
public struct LuaTable: Sendable, Hashable {
  package let pin: LuaPin

  package init(pin: LuaPin) { self.pin = pin }

  /// The value of a key, like `t[key]` in Lua, including metamethods.
  ///
  /// - Throws: `runtime` from a metamethod, `memory`, `closed`, `foreign` for a key of another
  ///   state.
  public subscript(key: some LuaEncodable) -> LuaValue {
    get throws(LuaError) { try get(key) }
  }

  /// The value of a key as a Swift value, like `t[key]` in Lua, including metamethods.
  ///
  /// - Throws: `type` if the value has another type; `runtime` from a metamethod, `memory`,
  ///   `closed`, `foreign`.
  public func get<Value: LuaDecodable>(
    _ key: some LuaEncodable, as type: Value.Type = Value.self
  ) throws(LuaError) -> Value {
    try withScripts { state, L throws(LuaError) in
      try state.push(key, to: L)
      try state.check(clua_try_gettable(L.pointer, -2), L)
      return try state.pull(at: -1, of: L)
    }
  }

  /// Assigns the value of a key, like `t[key] = value` in Lua, including metamethods.
  ///
  /// - Throws: `runtime` for nil and NaN as keys and from a metamethod; `memory`, `closed`,
  ///   `foreign`.
  public func set(
    _ key: some LuaEncodable, to value: some LuaEncodable
  ) throws(LuaError) {
    try withScripts { state, L throws(LuaError) in
      try state.push(key, to: L)
      try state.push(value, to: L)
      try state.check(clua_try_settable(L.pointer, -3), L)
    }
  }

  /// The length, like `#t` in Lua.
  ///
  /// - Throws: `runtime` from a metamethod, `memory`, `closed`.
  public var length: Int {
    get throws(LuaError) {
      try withScripts { state, L throws(LuaError) in
        Int(clamping: try state.length(of: L))
      }
    }
  }

  /// Calls `body` with each key and value, like `next`, without metamethods.
  ///
  /// `body` may assign to existing keys. An error that it throws ends the loop. In contrast, a
  /// `for` loop over the table reads the entries first, and cannot throw.
  ///
  /// - Throws: `runtime` if a key was added during the loop, `memory`, `closed`, and errors of
  ///   `body`.
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

  /// The metatable, or nil if the table has none.
  ///
  /// Assign it with `setMetatable(_:)`.
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

  /// Sets or removes the metatable.
  ///
  /// - Throws: `memory`, `closed`, `foreign`.
  public func setMetatable(_ metatable: LuaTable?) throws(LuaError) {
    try withTable { state, L throws(LuaError) in
      try state.push(metatable.map { .table($0) } ?? .nil, to: L)
      try state.check(clua_try_setmetatable(L.pointer, -2), L)
    }
  }

  /// Runs `body`, which may call metamethods, as code of the table's sandbox if it has any.
  private func withScripts<Result>(
    _ body: (LuaState, LuaStack) throws(LuaError) -> Result
  ) throws(LuaError) -> Result {
    try withTable { state, L throws(LuaError) in
      guard clua_getmetatable(L.pointer, -1) else { return try body(state, L) }
      L.pop()
      return try pin.entered { () throws(LuaError) in try body(state, L) }
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
