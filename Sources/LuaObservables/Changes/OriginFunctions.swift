internal import Lua
internal import Observables

/// Origins of changes for the prelude: it is notified of origins that other code applies, and
/// reports its own (X2, X3).
final class OriginFunctions: ModuleSlice, ChangeOrigins.Listener {
  /// The sandbox that is applying an origin now; 0 for the program.
  private var sandbox: UInt32 = 0
  /// The prelude functions that are called before and after an origin writes; nil until the prelude
  /// has a watcher of changes.
  private var prelude: (begin: LuaFunction, end: LuaFunction)?

  override var functions: [NamedFunction] {
    [
      .init("follow_origins", follow), .init("begin_origin", begin), .init("end_origin", end),
      .init(
        "current_turn",
        { [self] L in
          L.push(engine.reports.currentTurn)
          return 1
        }
      ),
    ]
  }

  override func end() {
    engine.origins.remove(self)
    prelude = nil
  }

  /// follow_origins(begin, end): from now on, `begin` is called with an origin that is about to
  /// write and the sandbox that applies it, and `end` with whether its writes stay.
  private func follow(_ L: LuaStack) throws -> CInt {
    if prelude != nil { return 0 }
    prelude = (
      LuaFunction(pin: try state.pin(at: 1, of: L)), LuaFunction(pin: try state.pin(at: 2, of: L))
    )
    engine.origins.add(self)
    return 0
  }

  /// begin_origin(origin): the origin writes until `end_origin`.
  private func begin(_ L: LuaStack) throws -> CInt {
    let origin = try origin(L)
    // The code that ends the origin needs instructions and stack, too.
    try spareRoomToClose(L)
    sandbox = host.sandboxes.current.number
    defer { sandbox = 0 }
    // A sandbox could otherwise hide its writes from the program by using any name.
    engine.origins.begin(origin) { sandbox == 0 || $0 === self }
    return 0
  }

  /// end_origin(is_made): the innermost origin has written; its writes stay, or were taken back.
  private func end(_ L: LuaStack) -> CInt {
    engine.origins.end(isMade: L.boolean(at: 1))
    return 0
  }

  /// The origin at index 1; numbers, booleans and text become Swift values.
  private func origin(_ L: LuaStack) throws -> AnyHashable {
    try state.value(at: 1, of: L).swiftValue
  }

  // MARK: ChangeOrigins.Listener

  func willApply(from origin: AnyHashable) {
    guard let prelude else { return }
    call(prelude.begin) { L throws(LuaError) in
      if let value = origin.base as? LuaValue {
        try state.push(value, to: L)
      } else {
        do { try host.objects.push(value: origin.base, to: L) } catch {
          try state.push(text: "\(origin.base)", to: L)
        }
      }
      L.push(Int(sandbox))
      return 2
    }
  }

  func didApply(isMade: Bool) {
    guard let prelude else { return }
    call(prelude.end) { L in
      L.push(isMade)
      return 1
    }
  }

  private func call(
    _ function: LuaFunction, _ pushArguments: (LuaStack) throws(LuaError) -> CInt
  ) {
    if host.isClosed { return }
    host.module.transactions.exempted {
      try? state.withStack { L throws(LuaError) in
        try state.push(function.pin, to: L)
        try state.tracedCall(arguments: try pushArguments(L), results: 0, L)
      }
    }
  }
}
