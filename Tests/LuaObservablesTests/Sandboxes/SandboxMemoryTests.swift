import Lua
import LuaObservables
import Observables
import Testing

/// S3: a sandbox with a memory limit has a share of the host's memory.
struct SandboxMemoryTests {
  /// A host with 16 MB, and two sandboxes with 4 MB each.
  private struct Neighbours {
    let test: ContainedHost
    let hog: LuaSandbox
    let other: LuaSandbox

    init() throws {
      test = try ContainedHost {
        $0.turnTime = nil
        $0.memory = 16 << 20
        $0.timers = nil
        $0.watchers = nil
      }
      var limits = ScriptLimits.untrusted
      limits.turnTime = nil
      limits.memory = 4 << 20
      (limits.timers, limits.watchers) = (nil, nil)
      hog = try test.host.sandbox(named: "hog", limits: limits)
      other = try test.host.sandbox(named: "other", limits: limits)
      for sandbox in [hog, other] {
        try sandbox.run("obs = require 'obs' nop = function() end kept = {}")
      }
    }

    func use(_ sandbox: LuaSandbox) -> Int { sandbox.memoryInUse ?? -1 }

    /// The error code of a script of the hog.
    func failure(_ script: String) -> LuaError.Code? {
      do throws(LuaError) { try hog.run(script) } catch { return error.code }
      return nil
    }
  }

  private static let hogs = [
    "for i = 1, 1e9 do kept[i] = {} end",
    "for i = 1, 1e9 do kept[i] = i .. ('x'):rep(100) end",
    "for i = 1, 1e9 do kept[i] = ('x'):rep(100000) .. i end",
    "for i = 1, 1e9 do kept[i] = coroutine.create(nop) end",
    "for i = 1, 1e9 do kept[i] = i end",
    "for i = 1, 1e9 do kept[i] = obs.after(1, nop) end",
    "for i = 1, 1e9 do kept[i] = { a = 1 } obs.observe(kept[i], 'a', nop) end",
    "t = { a = 1 } for i = 1, 1e9 do obs.observe(t, 'a', nop) end",
    "for i = 1, 1e9 do kept[i] = { a = 1 } obs.computed(kept[i], 'b', { 'a' }, nop) end",
    """
    t = { list = {} }
    for i = 1, 1000 do t.list[i] = { x = i } end
    for _ = 1, 1e9 do obs.observe(t, 'list.*.x', nop) end
    """,
    "t = {} obs.observe_edits(t, nop) for i = 1, 1e9 do t[i] = i end",
    "obs.record(true) t = {} for i = 1, 1e9 do t[i] = 0 obs.observe(t, '#' .. i, nop) t[i] = i end",
    "for i = 1, 1e9 do obs.on_exit(nop) end",
    "for i = 1, 1e9 do kept[i] = obs.task(function() obs.sleep(1) end) end",
    "for i = 1, 1e9 do kept[i] = obs.array { i } end",
    "t = obs.set_of() for i = 1, 1e9 do t:add(i) end",
    "for i = 1, 1e9 do kept[i] = obs.path('a', i) end",
    "for i = 1, 1e9 do shared[i] = i end",
    "for i = 1, 1e9 do shared.list[i] = {} end",
  ]

  @Test(arguments: hogs) func `a hog does not take memory of others`(script: String) throws {
    let neighbours = try Neighbours()
    try neighbours.test.host.run("shared = { list = {} }")
    let shared = neighbours.test.host["shared"]
    neighbours.hog["shared"] = shared
    #expect(neighbours.failure("pcall(obs.limits, { tasks = 1000000000 }) " + script) != nil)
    #expect(neighbours.use(neighbours.hog) <= 5 << 20)
    // About 3 MB.
    try neighbours.other.run("for i = 1, 30000 do kept[i] = { i } end")
    #expect(2 << 20..<4 << 20 ~= neighbours.use(neighbours.other))
  }

  @Test func `a block belongs to the sandbox that allocated it until it is freed`() throws {
    let neighbours = try Neighbours()
    let (hog, other) = (neighbours.hog, neighbours.other)
    try hog.run("made = {} for i = 1, 20000 do made[i] = { i } end")
    other["held"] = hog["made"]
    hog["made"] = .nil
    try neighbours.test.host.state.collectGarbage()
    #expect(neighbours.use(hog) > 1 << 20)
    #expect(neighbours.use(other) < 1 << 20)
    other["held"] = .nil
    for _ in 1...2 { try neighbours.test.host.state.collectGarbage() }
    #expect(neighbours.use(hog) < 1 << 20)
  }

  @Test func `objects of a closed sandbox stay on its account`() throws {
    let neighbours = try Neighbours()
    let (hog, other) = (neighbours.hog, neighbours.other)
    try hog.run("made = {} for i = 1, 20000 do made[i] = { i } end obs.observe(made, '1', nop)")
    other["held"] = hog["made"]
    hog.close()
    #expect(hog.memoryInUse == nil)
    try neighbours.test.host.state.collectGarbage()
    #expect(neighbours.use(other) < 1 << 20)
    let before = neighbours.test.host.state.memoryInUse
    other["held"] = .nil
    for _ in 1...2 { try neighbours.test.host.state.collectGarbage() }
    #expect(neighbours.test.host.state.memoryInUse < before - (1 << 20))
  }

  @Test func `the memory of watchers, timers and records returns to the share`() throws {
    let neighbours = try Neighbours()
    let hog = neighbours.hog
    func use() throws -> Int {
      try hog.run(
        """
        obs.record(true)
        obs.log(nop)
        local t = { list = {} }
        for i = 1, 300 do t.list[i] = { x = i } end
        local watcher = obs.observe(t, 'list.*.x', nop)
        obs.observe_edits(t.list, nop)
        for i = 1, 300 do t.list[i].x = 0 end
        table.remove(t.list, 1)
        obs.flush()
        obs.stop(t)
        for i = 1, 300 do obs.after(1, nop):stop() end
        obs.log(nil)
        obs.record(false)
        """)
      for _ in 1...2 { try neighbours.test.host.state.collectGarbage() }
      return neighbours.use(hog)
    }
    for _ in 1...3 { _ = try use() }
    let before = try use()
    for _ in 1...20 { _ = try use() }
    #expect(try use() < before + 10_000)
  }

  @Test func `a share is used again when the sandbox is closed`() throws {
    let neighbours = try Neighbours()
    var limits = ScriptLimits.untrusted
    limits.memory = 1 << 20
    limits.turnTime = nil
    func use() throws {
      let sandbox = try neighbours.test.host.sandbox(named: "short", limits: limits)
      try sandbox.run(
        "obs = require 'obs' t = {} for i = 1, 100 do t[i] = {} end obs.after(1, print)")
      #expect(neighbours.use(sandbox) < 1 << 20)
      sandbox.close()
      for _ in 1...2 { try neighbours.test.host.state.collectGarbage() }
    }
    for _ in 1...3 { try use() }
    let before = neighbours.test.host.state.memoryInUse
    for _ in 1...30 { try use() }
    #expect(neighbours.test.host.state.memoryInUse < before + 10_000)
  }

  @Test func `sandboxes without a memory limit share the host's memory`() throws {
    let neighbours = try Neighbours()
    let common = try neighbours.test.host.sandbox(named: "common")
    #expect(common.memoryInUse == nil)
    #expect(throws: LuaError.self) { try common.run("t = {} for i = 1, 1e9 do t[i] = {} end") }
    #expect(neighbours.test.host.state.memoryInUse <= 16 << 20)
  }
}
