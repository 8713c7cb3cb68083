import Lua
import Testing

/// Lua skips a finalizer if there is no room for one more nested call.
@Suite struct `Skipped finalizers` {
  private struct Failure: Error { let probe: Probe }

  private let count = Probe.Count()
  private let state: LuaState

  init() throws {
    state = try LuaState()
    let make = try state.function("make") { [count, unowned state] () -> LuaFunction in
      let probe = Probe(count)
      return try state.function("made") { withExtendedLifetime(probe) {} }
    }
    try state.globals.set("make", to: make)
    let fail = try state.function("fail") { [count] in throw Failure(probe: Probe(count)) }
    try state.globals.set("fail", to: fail)
    try state.globals.set("nothing", to: try state.function("nothing") {})
    try state.run(
      """
      -- Nothing is collected but there, neither now nor on the way.
      collectgarbage "stop"
      function make_many() for _ = 1, 100 do make() pcall(fail) end end
      function collect_at_the_limit(times)
        local function deep()
          if not pcall(deep) then for _ = 1, times do collectgarbage() end end
        end
        deep()
      end
      """)
  }

  @Test func `leave nothing retained, and nothing released twice`() throws {
    try state.run("make_many()")
    #expect(count.livingNow == 200)
    try state.run("collect_at_the_limit(1)")
    #expect(count.livingNow == 200)
    try state.run("collect_at_the_limit(1) nothing()")
    #expect(count.livingNow == 0)
    var memory: [Int] = []
    for _ in 1...3 {
      try state.run("make_many() collect_at_the_limit(2)")
      try state.collectGarbage()
      #expect(count.livingNow == 0)
      memory.append(state.memoryInUse)
    }
    #expect(count.madeSoFar == 800)
    #expect(memory[2] == memory[1])
  }

  @Test func `leave objects in use untouched`() throws {
    try state.run("make_many() kept = make() collect_at_the_limit(3) nothing() kept()")
    #expect(count.livingNow == 1)
    try state.run("kept = nil")
    try state.collectGarbage()
    #expect(count.livingNow == 0)
  }

  @Test(arguments: 0...3) func `lose nothing when the state closes`(collections: Int) throws {
    try state.run("make_many() collect_at_the_limit(\(collections))")
    #expect(count.livingNow == 200)
    state.close()
    #expect(count.livingNow == 0)
  }
}
