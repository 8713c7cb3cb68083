internal import Lua
internal import Observables

/// The functions by which the prelude hears of origins, and names its own (X2, X3).
final class OriginFunctions: ModuleSlice, ChangeOrigins.Listener {
  /// The functions of the prelude that are called before and after an origin writes; nil until it
  /// has a watcher of changes.
  private var prelude: (begin: LuaFunction, end: LuaFunction)?

  override var functions: [NamedFunction] {
    [
      .init("follow_origins", follow), .init("begin_origin", begin), .init("end_origin", end),
      .init(
        "current_turn",
        { [self] L in
          L.push(engine.reports.statistics.turns + 1)
          return 1
        }
      ),
    ]
  }

  override func end() {
    engine.origins.remove(self)
    prelude = nil
  }

  /// follow_origins(begin, end): from now on these are called with an origin that is going to
  /// write, and with whether its writes stay.
  private func follow(_ L: LuaStack) throws -> CInt {
    if prelude != nil { return 0 }
    prelude = (
      LuaFunction(pin: try state.pin(at: 1, of: L)), LuaFunction(pin: try state.pin(at: 2, of: L))
    )
    engine.origins.add(self)
    return 0
  }

  /// begin_origin(origin): it writes until `end_origin`.
  private func begin(_ L: LuaStack) throws -> CInt {
    // A sandbox could use any name to hide from the program what it writes.
    let isOfProgram = host.sandboxes.current.number == 0
    engine.origins.begin(try origin(L)) { isOfProgram || $0 === self }
    return 0
  }

  /// end_origin(is_made): the innermost origin has written; its writes stay, or were taken back.
  private func end(_ L: LuaStack) -> CInt {
    engine.origins.end(isMade: L.boolean(at: 1))
    return 0
  }

  /// The origin at index 1; numbers, booleans and text are those of Swift.
  private func origin(_ L: LuaStack) throws -> AnyHashable {
    let value = try state.value(at: 1, of: L)
    return switch value {
    case .boolean(let value): AnyHashable(value)
    case .integer(let value): AnyHashable(Int(value))
    case .number(let value): AnyHashable(value)
    case .string(let string): string.text.map { AnyHashable($0) } ?? AnyHashable(value)
    default: AnyHashable(value)
    }
  }

  // MARK: ChangeOrigins.Listener

  func willApply(from origin: AnyHashable) {
    guard let prelude else { return }
    call(prelude.begin) { L throws(LuaError) in
      if let value = origin.base as? LuaValue { return try state.push(value, to: L) }
      do { try host.objects.push(value: origin.base, to: L) } catch {
        try state.push(text: "\(origin.base)", to: L)
      }
    }
  }

  func didApply(isMade: Bool) {
    guard let prelude else { return }
    call(prelude.end) { L in L.push(isMade) }
  }

  private func call(
    _ function: LuaFunction, _ pushArgument: (LuaStack) throws(LuaError) -> Void
  ) {
    if host.isClosed { return }
    host.module.transactions.exempted {
      try? state.withStack { L throws(LuaError) in
        try state.push(function.pin, to: L)
        try pushArgument(L)
        try state.tracedCall(arguments: 1, results: 0, L)
      }
    }
  }
}
