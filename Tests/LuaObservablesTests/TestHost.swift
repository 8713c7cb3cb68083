import CLua
import Lua
import LuaObservables
import Observables

/// A host on a separate loop, in virtual time, that keeps its reports.
final class TestHost {
  let loop: Loop
  let host: LuaHost
  private(set) var reports: [LuaReport] = []

  convenience init() throws {
    try self.init { loop in try LuaHost(loop: loop) }
  }

  init(_ make: (Loop) throws -> LuaHost) throws {
    loop = Loop(clock: .virtual)
    host = try make(loop)
    host.onError = { [unowned self] report in reports.append(report) }
    loop.onError = { [unowned self] error in host.report(error) }
  }

  /// Gives scripts a function in C.
  func define(_ name: String, _ function: @escaping lua_CFunction) throws {
    try host.state.withStack { L throws(LuaError) in
      lua_pushcclosure(L.pointer, function, 0)
      lua_setglobal(L.pointer, name)
    }
  }

  /// The message of the error that ends a script, or "no error".
  func message(_ script: String) -> String {
    do {
      try host.run(script)
      return "no error"
    } catch { return error.message }
  }

  /// Two full collections (L6), and the turns that they cause.
  func collect() throws {
    for _ in 1...2 {
      try host.state.collectGarbage()
      while host.step() {}
    }
  }

  /// The elements of the script's global list `name`, as text.
  func log(_ name: String = "log") throws -> [String] {
    guard case .table(let list) = host[name] else { return [] }
    return try (0..<list.length).map { "\(try list.get($0 + 1, as: LuaValue.self).text)" }
  }
}

extension LuaValue {
  /// The text as in a log.
  var text: String {
    switch self {
    case .nil: "nil"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let value): value.text ?? "?"
    default: typeName
    }
  }
}
