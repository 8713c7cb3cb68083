internal import Lua

/// A binding that keeps keys of a table and properties of a model equal.
///
/// It ends with `stop()`, with the table or the model, or with the host. Dropping it does not end
/// it (L1). Confined to the loop's thread.
public final class ScriptBinding {
  private let watcher: LuaUserdata

  init(_ watcher: LuaUserdata) { self.watcher = watcher }

  /// Whether values are still copied.
  public var isActive: Bool {
    let value = try? withWatcher { state, L throws(LuaError) in
      try state.pushField("active", of: L)
      return L.boolean(at: -1)
    }
    return value ?? false
  }

  /// Ends the binding; the values stay as they are.
  ///
  /// Does nothing when the binding has ended.
  public func stop() {
    _ = try? withWatcher { state, L throws(LuaError) in
      try state.pushField("stop", of: L)
      L.pushCopy(at: -2)
      try state.tracedCall(arguments: 1, L)
    }
  }

  private func withWatcher<Result>(
    _ body: (LuaState, LuaStack) throws(LuaError) -> Result
  ) throws(LuaError) -> Result {
    let state = try watcher.pin.state
    return try state.withStack { L throws(LuaError) in
      try state.push(watcher.pin, to: L)
      return try body(state, L)
    }
  }
}
