internal import CLua
import Lua
import Testing

private struct Failure: Error {}

@Suite struct `Out of memory` {
  /// Calls everything in the public interface that allocates.
  private func program(_ state: LuaState, _ count: Probe.Count) throws {
    let table = try state.makeTable(elements: 2, fields: 2)
    try table.set("list", to: [1, 2, 3])
    try table.set("fields", to: ["a": "text that is longer than forty bytes, so it isn't interned"])
    try state.globals.set("t", to: table)
    let probe = Probe(count)
    let call = try state.function("call") {
      (function: LuaFunction, text: String) throws -> String in
      try withExtendedLifetime(probe) {
        try count.frame { try function.call(text + "!", as: String.self) }
      }
    }
    try state.globals.set("call", to: call)
    let fail = try state.function("fail") { () throws -> Void in throw Failure() }
    try state.globals.set("fail", to: fail)
    let results = try state.run(
      """
      local parts = {}
      for i = 1, 20 do
        parts[i] = call(function(s) return s .. i end, "some text " .. i)
        local co = coroutine.wrap(function() return call(string.upper, "in a coroutine") end)
        parts[#parts + 1] = co()
      end
      return #parts, table.concat(parts, ", "), parts, function() return parts end
      """)
    #expect(results.count == 4)
    for value in results {
      guard case .table(let table) = value else { continue }
      try table.forEach { _, _ in }
      _ = try table.length
    }
    do { try state.run("call(function() fail() end, '')") } catch {
      guard error.underlying is Failure else { throw error }
    }
    do { try state.run("error(setmetatable({}, {__tostring = function() return 'x' end}))") } catch
    {
      guard error.message == "x" else { throw error }
    }
    _ = try state.loadFile("/dev/null")
    try state.collectGarbage()
  }

  /// Runs the program with `times` refused requests, from the `n`th on.
  private func attempt(_ n: UInt64, times: UInt64) throws -> Bool {
    let count = Probe.Count()
    var failed = false
    do {
      let state = try LuaState(libraries: .all, memoryLimit: nil, refusing: nil)
      let height = state.stack.height
      state.refuseAllocations(from: n, count: times)
      do { try count.frame { try program(state, count) } } catch {
        failed = true
        // Some errors lose their code on the way: `coroutine.wrap` puts a position in front of the
        // message.
        let lacksMemory = "\(error)".contains(/not enough memory|whose __tostring failed/)
        #expect(lacksMemory, "allocation \(n): \(error)")
      }
      state.refuseAllocations(from: 0, count: 0)
      #expect(state.stack.height == height)
      #expect(try state.run("return 1 + 1", as: Int.self) == 2)
      state.close()
    }
    #expect(count.livingNow == 0, "allocation \(n)")
    return failed
  }

  @Test func `at any allocation is an error, and the state stays usable`() throws {
    // After the first refusal Lua collects garbage and tries again, so one refusal alone may go
    // unnoticed.
    for times: UInt64 in [2, .max] {
      var n: UInt64 = 1
      while try attempt(n, times: times) || n < 400 { n += n < 300 ? 1 : 7 }
      #expect(n > 300)
    }
  }

  @Test func `at any allocation of its making is an error`() throws {
    var failures = 0
    for n: UInt64 in 1...2000 {
      do throws(LuaError) {
        _ = try LuaState(libraries: .all, memoryLimit: nil, refusing: n...UInt64.max)
        break
      } catch {
        #expect(error.code == .memory)
        failures += 1
      }
    }
    #expect(failures > 100)
  }

  @Test func `by a limit is an error of the script, which may continue`() throws {
    let state = try LuaState(memoryLimit: 4 << 20)
    #expect(state.memoryLimit == 4 << 20)
    let error = #expect(throws: LuaError.self) { try state.run("return ('x'):rep(1 << 30)") }
    #expect(error?.code == .memory)
    #expect(error?.message == "not enough memory")
    let caught = try state.run("return pcall(string.rep, 'x', 1 << 30)")
    #expect(caught == [false, "not enough memory"])
    #expect(throws: LuaError.self) { try state.load(String(repeating: "x = 1;", count: 1 << 20)) }
    #expect(throws: LuaError.self) { try state.makeTable(elements: 1 << 30) }
    #expect(throws: LuaError.self) {
      try state.globals.set("x", to: String(repeating: "x", count: 8 << 20))
    }
    #expect(state.memoryInUse < 4 << 20)
    state.memoryLimit = nil
    #expect(try state.run("return #('x'):rep(1 << 23)") == [8_388_608])
  }
}
