internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// A function written in Swift: it takes its arguments from index 1 of the stack, and returns the
/// number of results it pushed.
typealias ModuleFunction = (LuaStack) throws -> CInt

/// A module function, and the name of its field.
///
/// This is not a tuple: a generic list would wrap the function each time it is passed on, and every
/// call would go through all the wrappers.
struct NamedFunction {
  /// The table within the prelude's `core` that gets the function; nil for `core` itself.
  let group: FunctionGroup?
  let name: String
  /// The most arguments that the function takes, without the object of a method.
  ///
  /// More are an error; nil if the prelude checks them.
  let most: CInt?
  let function: ModuleFunction

  init(_ name: String, most: CInt? = nil, _ function: @escaping ModuleFunction) {
    (group, self.name, self.most, self.function) = (nil, name, most, function)
  }

  init(
    _ group: FunctionGroup, _ name: String, most: CInt? = nil, _ function: @escaping ModuleFunction
  ) {
    (self.group, self.name, self.most, self.function) = (group, name, most, function)
  }
}

/// The calls by which scripts enter Swift, each in the calling coroutine.
final class ScriptCalls {
  private let state: LuaState

  init(_ state: LuaState) { self.state = state }

  /// Runs `body` for a C function that was called in the coroutine `L`.
  @inline(__always)
  func entered<Result, Failure: Error>(
    _ L: LuaStack, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outer = state.stack
    state.stack = L
    defer { state.stack = outer }
    return try body()
  }

  /// Runs a module function in the coroutine `L`; any error it throws is raised in Lua after the
  /// call.
  @inline(__always)
  func call(_ L: LuaStack, _ body: () throws -> CInt) -> CInt {
    entered(L) {
      let height = L.height
      do {
        if L.hasLost { state.recoverLost(L) }
        if clua_isunheard() { try hear(L) }
        state.collectDue(L)
        return try body()
      } catch {
        L.height = height
        state.pushError(error, to: L)
        return CInt(CLUA_RAISE)
      }
    }
  }

  /// Reports earlier writes of C modules (M1).
  private func hear(_ L: LuaStack) throws(LuaError) {
    try state.check(clua_try_hear(L.pointer), L)
  }

  /// The object that a function holds; owned by Lua.
  private final class Entry {
    // The object is not retained: the host owns it, and the state ends with the host.
    unowned(unsafe) let calls: ScriptCalls
    let function: ModuleFunction

    init(_ calls: ScriptCalls, _ function: @escaping ModuleFunction) {
      (self.calls, self.function) = (calls, function)
    }
  }

  /// Sets functions in the table on top of the stack. [-0, +0, -]
  func set(_ functions: [NamedFunction], in L: LuaStack) throws(LuaError) {
    for function in functions {
      try push(function.function, to: L)
      try state.setField(function.name, of: L)
    }
  }

  /// Pushes a Lua function that calls `function`. [-0, +1, -]
  func push(_ function: @escaping ModuleFunction, to L: LuaStack) throws(LuaError) {
    let entry = Unmanaged.passRetained(Entry(self, function))
    let status = clua_try_pushfunction(
      L.pointer,
      { L, context in
        Unmanaged<Entry>.fromOpaque(context!)._withUnsafeGuaranteedRef { entry in
          let L = LuaStack(L!)
          return entry.calls.call(L) { () throws in try entry.function(L) }
        }
      }, entry.toOpaque(), { Unmanaged<Entry>.fromOpaque($0!).release() })
    guard status == LUA_OK else {
      entry.release()
      throw state.takeError(status, L)
    }
  }
}
