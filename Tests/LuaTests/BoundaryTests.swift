internal import CLua
import Lua
import Testing

private struct Failure: Error {}

/// An entry point, called with values that make it fail.
private struct EntryPoint: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let run: @Sendable (LuaState, LuaTable) throws -> Void
}

private let entryPoints: [EntryPoint] = [
  EntryPoint(testDescription: "load") { state, _ in _ = try state.load("x = = 1") },
  EntryPoint(testDescription: "load bytes") { state, _ in
    _ = try state.load([27, 76], name: "=b")
  },
  EntryPoint(testDescription: "loadFile") { state, _ in _ = try state.loadFile("/no/file") },
  EntryPoint(testDescription: "run") { state, _ in try state.run("error({})") },
  EntryPoint(testDescription: "run as") { state, _ in
    _ = try state.run("error('x')", as: Int.self)
  },
  EntryPoint(testDescription: "runFile") { state, _ in try state.runFile("/") },
  EntryPoint(testDescription: "call") { state, _ in
    try state.run("return error", as: LuaFunction.self).call("x", 2)
  },
  EntryPoint(testDescription: "call as") { state, bad in
    _ = try state.run("return error", as: LuaFunction.self).call(bad, as: Int.self)
  },
  EntryPoint(testDescription: "call with arguments") { state, bad in
    try state.run("return error", as: LuaFunction.self).call(arguments: [.table(bad)])
  },
  EntryPoint(testDescription: "call with too many arguments") { state, _ in
    try state.load("return ...").call(arguments: Array(repeating: 1, count: 1_100_000))
  },
  EntryPoint(testDescription: "wrong result") { state, _ in
    _ = try state.run("return 1", as: LuaTable.self)
  },
  EntryPoint(testDescription: "subscript") { _, bad in _ = try bad["key"] },
  EntryPoint(testDescription: "get") { _, bad in _ = try bad.get("key", as: Int.self) },
  EntryPoint(testDescription: "set") { _, bad in try bad.set("key", to: 1) },
  EntryPoint(testDescription: "set nil") { state, _ in
    try state.globals.set(LuaValue.nil, to: 1)
  },
  EntryPoint(testDescription: "set NaN") { state, _ in
    try state.globals.set(Double.nan, to: 1)
  },
  EntryPoint(testDescription: "length") { _, bad in _ = try bad.length },
  EntryPoint(testDescription: "forEach") { state, _ in
    try state.run("return {1}", as: LuaTable.self).forEach { _, _ throws(LuaError) in
      throw LuaError("enough")
    }
  },
  EntryPoint(testDescription: "forEach over a table that changes") { state, _ in
    let table = try state.run("return {a = 1, b = 2}", as: LuaTable.self)
    try table.forEach { key, _ throws(LuaError) in
      try table.set(key, to: LuaValue.nil)
      for number in 1...100 { try table.set(number, to: number) }
      try state.collectGarbage()
    }
    throw Failure()
  },
  EntryPoint(testDescription: "array") { state, bad in
    _ = try state.load("return ...").call(bad, as: [Int].self)
  },
  EntryPoint(testDescription: "dictionary with NaN") { state, _ in
    _ = try state.load("return ...").call([Double.nan: 1])
  },
  EntryPoint(testDescription: "typed function") { state, _ in
    try state.function("f") { (_: Int) in }.call("x")
  },
  EntryPoint(testDescription: "throwing function") { state, _ in
    try state.function("f") { throw Failure() }.call()
  },
  EntryPoint(testDescription: "variadic function") { state, _ in
    try state.variadicFunction("f") { _ in throw LuaError("x") }.call()
  },
  EntryPoint(testDescription: "too many results") { state, _ in
    try state.variadicFunction("f") { _ in Array(repeating: 1, count: 1_100_000) }.call()
  },
  EntryPoint(testDescription: "metatable of another state") { state, bad in
    try LuaState(libraries: []).globals.setMetatable(bad)
  },
  EntryPoint(testDescription: "raising finalizer") { state, _ in
    try state.run("setmetatable({}, {__gc = function() error('x') end})")
    try state.collectGarbage()
    throw Failure()
  },
]

// B3: no error, of script or host, ever jumps over a Swift frame.
@Suite struct `At the border` {
  let state: LuaState
  let bad: LuaTable
  let count = Probe.Count()

  init() throws {
    state = try LuaState()
    bad = try state.run(
      """
      local function raise() error(setmetatable({}, {__tostring = error})) end
      return setmetatable({}, {__index = raise, __newindex = raise, __len = raise, __call = raise})
      """, as: LuaTable.self)
  }

  @Test(arguments: entryPoints)
  private func `an error leaves nothing behind`(entry: EntryPoint) throws {
    let heavy = entry.testDescription.contains("too many")
    let rounds = heavy ? 3 : 100
    let height = state.stack.height
    for _ in 0..<rounds {
      #expect(throws: (any Error).self) { try count.frame { try entry.run(state, bad) } }
      #expect(state.stack.height == height)
    }
    #expect(count.deferredSoFar == rounds)
    #expect(count.livingNow == 0)
  }

  @Test(arguments: entryPoints)
  private func `an error in a Swift function that Lua called leaves nothing behind`(
    entry: EntryPoint
  ) throws {
    let rounds = entry.testDescription.contains("too many") ? 3 : 50
    let enter = try state.function("enter") { [unowned state, bad, count] in
      let height = state.stack.height
      try count.frame {
        defer { #expect(state.stack.height == height) }
        try entry.run(state, bad)
      }
    }
    let failed = try state.load(
      """
      local enter, rounds = ...
      local failed = 0
      for i = 1, rounds do
        if not pcall(enter) then failed = failed + 1 end
        if not coroutine.resume(coroutine.create(enter)) then failed = failed + 1 end
      end
      return failed
      """)
    let height = state.stack.height
    #expect(try failed.call(enter, rounds, as: Int.self) == 2 * rounds)
    #expect(state.stack.height == height)
    #expect(count.deferredSoFar == 2 * rounds)
    #expect(count.livingNow == 0)
  }

  @Test func `a call leaves the stack unchanged`() throws {
    let height = state.stack.height
    func check(_ body: () throws -> Void, line: Int = #line) rethrows {
      try body()
      #expect(state.stack.height == height, "line \(line)")
    }
    var table = try state.makeTable(elements: 3, fields: 3)
    try check { table = try state.makeTable(elements: -1, fields: -1) }
    try check { try table.set("a", to: ["x": [1, 2]]) }
    try check { _ = try table["a"] }
    try check { _ = try table.get("a", as: [String: [Int]].self) }
    try check { _ = try table.length }
    try check { try table.forEach { _, _ in } }
    try check { try table.setMetatable(table) }
    try check { _ = try table.metatable }
    try check { _ = try state.globals }
    try check { _ = try state.run("return 1, 2, {}, print, io.stdout, coroutine.running()") }
    try check { _ = try state.run("return 1", as: Int.self) }
    try check { _ = try state.variadicFunction("f") { $0 }.call(1, "x", table, 2.5) }
    try check { _ = try state.load("return ...").call(arguments: [.table(table)]) }
    try check { _ = try state.run("return io.stdout", as: LuaUserdata.self).metatable }
    try check { try state.collectGarbage() }
  }

  @Test func `values that a Swift function captures are released with the function`() throws {
    try state.globals.set("f", to: try makeFunction())
    #expect(count.livingNow == 1)
    try state.run("f() f = nil")
    try state.collectGarbage()
    try state.collectGarbage()
    #expect(count.livingNow == 0)
  }

  private func makeFunction() throws -> LuaFunction {
    let probe = Probe(count)
    return try state.function("f") { withExtendedLifetime(probe) {} }
  }
}
