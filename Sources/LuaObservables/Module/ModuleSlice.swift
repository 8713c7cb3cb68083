internal import Lua
internal import Observables

/// Tables of functions within the table `core` of the prelude.
enum FunctionGroup: String, CaseIterable {
  /// Functions of the module `obs`, without a wrapper.
  case module
  /// The methods of a kind of handle.
  case watcher, timer, handler
  /// Functions for one part of the prelude.
  case tasks, printing, io, luv
}

/// A slice of the module `obs`: functions of one concern, and their state.
///
/// The host's module owns the slice, and so do the slice's functions, which Lua owns until the
/// state closes.
class ModuleSlice {
  // The host is not retained: it owns its module.
  private let reference: Unmanaged<LuaHost>
  final let state: LuaState
  final let engine: Engine
  final let calls: ScriptCalls

  init(_ host: LuaHost) {
    reference = .passUnretained(host)
    (state, engine, calls) = (host.state, host.engine, host.calls)
  }

  final var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }
  final var arguments: Arguments { Arguments(host) }
  final var observed: ObservedObjects { ObservedObjects(host) }

  /// The functions that the prelude calls.
  var functions: [NamedFunction] { [] }

  /// Reserves instructions and stack for the code that later closes a scope, before it is opened.
  /// [-0, +0, -]
  final func spareRoomToClose(_ L: LuaStack) throws(LuaError) {
    guard L.hasRoom(for: 100) else { throw L.noRoom() }
    state.interrupter.spare()
  }

  /// Adds other things that the prelude needs to the table on top of the stack. [-0, +0, -]
  func complete(_ L: LuaStack) throws(LuaError) {}

  /// Called after the prelude has run; the table at `core` has the values that Swift needs. [-0,
  /// +0, -]
  func preludeDidRun(_ core: CInt, _ L: LuaStack) throws(LuaError) {}

  /// Called when the host closes.
  func end() {}

  /// Called when the sandbox of this number closes.
  func end(of sandbox: UInt32) {}
}
