import Lua
import LuaObservables
import Observables
import Testing

/// S1, S3: a watcher may have a link for each of many objects.
///
/// Following them takes memory and time of the scripts.
struct LinkLimitTests {
  private static let registrations = [
    "obs.observe(t, 'list.*.x', nop)",
    "obs.observe(t, 'list.@max.x', nop)",
    "obs.observe(t, 'list.@distinctUnionOfObjects.x', nop)",
    """
    local model = { list = t.list }
    kept[#kept + 1] = model
    obs.computed(model, 'sum', function(self)
      local sum = 0
      for i = 1, 2000 do sum = sum + self.list[i].x end
      return sum
    end)
    obs.observe(model, 'sum', nop)
    assert(model.sum == 2001000)
    """,
    """
    local model = { list = t.list }
    kept[#kept + 1] = model
    obs.computed(model, 'n', { 'list.*.x' }, function() return 1 end)
    obs.observe(model, 'n', nop)
    """,
  ]
  private static let prologue = """
    obs = require 'obs'
    nop = function() end
    t = { list = {} }
    for i = 1, 2000 do t.list[i] = { x = i } end
    kept = {}
    """

  private func limited() throws -> ContainedHost {
    let test = try ContainedHost {
      $0.turnTime = nil
      $0.memory = 16 << 20
    }
    try test.host.run(Self.prologue)
    // Observes the properties that the getters read.
    try test.host.run("obs.observe(t, 'list.*.x', nop)")
    return test
  }

  @Test(arguments: registrations)
  func `links take memory of scripts`(registration: String) throws {
    let test = try limited()
    var count = 0
    while count < 5000 {
      do throws(LuaError) {
        try test.host.run(registration)
      } catch {
        #expect(error.code == .memory, "\(error)")
        break
      }
      count += 1
      if !test.reports.isEmpty { break }
    }
    #expect(test.reports.allSatisfy { $0.error.message.contains("not enough memory") })
    #expect(2..<200 ~= count, "2,000 links each")
    #expect(test.host.state.memoryInUse < 17 << 20)
  }

  @Test(arguments: registrations)
  func `the memory of links is freed`(registration: String) throws {
    let test = try limited()
    func use() throws -> Int {
      try test.host.run("obs.scope(function() \(registration) end):stop() kept = {}")
      try test.host.state.collectGarbage()
      return test.host.state.memoryInUse
    }
    for _ in 0..<3 { _ = try use() }
    let before = test.host.state.memoryInUse
    for _ in 0..<20 { _ = try use() }
    #expect(test.host.state.memoryInUse < before + 10_000)
  }

  @Test func `a read of a property with too many links names only the place of the read`() throws {
    let test = try limited()
    let error = #expect(throws: LuaError.self) {
      try test.host.run(
        """
        for i = 1, 1000 do
          kept[i] = { list = t.list }
          obs.computed(kept[i], 'n', { 'list.*.x' }, function() return 1 end)
          assert(kept[i].n == 1)
        end
        """)
    }
    #expect(error?.message == "script:4: not enough memory")
  }

  @Test func `a watcher with too many links for the memory ends with a report`() throws {
    let test = try limited()
    try test.host.run(
      """
      for _ = 1, 100 do obs.observe(t, 'other.*.x', nop) end
      calls = 0
      obs.observe(t, 'other', function() calls = calls + 1 end)
      t.other = t.list
      """)
    #expect(!test.reports.isEmpty)
    #expect(test.codes.allSatisfy { $0 == .memory })
    #expect(
      test.reports[0].error.message
        == "the watcher has ended: not enough memory to follow its key path")
    #expect(test.reports[0].site == "script:1")
    #expect(test.host.state.memoryInUse < 17 << 20)
    // The other watcher works as before.
    #expect(test.host["calls"] == 1)
    try test.host.run("t.other = nil t.other = t.list")
    #expect(test.host["calls"] == 2)
  }

  // A refusal is followed by a full collection. If each of the objects were tried, there would be
  // as many collections, and no end.
  @Test(arguments: ["**", "*.v", "@sum.v"])
  func `the first refusal of memory ends a registration`(path: String) throws {
    var limits = ScriptLimits()
    limits.memory = 8 << 20
    let host = try LuaHost(loop: Loop(clock: .virtual), limits: limits)
    try host.run(
      """
      local obs = require 'obs'
      local root = {}
      for i = 1, 20000 do root[i] = { v = i } end
      collections = 0
      local function count()
        setmetatable({}, { __gc = function()
          collections = collections + 1
          count()
        end })
      end
      count()
      message = select(2, pcall(obs.observe, root, '\(path)', function() end))
      """)
    #expect(host["message"] == "not enough memory")
    let collections: Int = try #require(host["collections"])
    #expect(collections < 20)
  }

  // S3: a path is charged by whichever function adds it, until the watcher gives it up.
  @Test func `both ways to add a path take the same memory`() throws {
    let test = try limited()
    let name = String(repeating: "n", count: 200)
    let ways = [
      "w = obs.observe(u, { 'first', 'a.b.\(name)', '\(name).*' }, nop)",
      "w = obs.observe(u, 'first', nop) w:observe 'a.b.\(name)' w:observe '\(name).*'",
    ]
    func use(_ code: String) throws -> Int {
      try test.host.state.collectGarbage()
      let before = test.host.state.memoryInUse
      try test.host.run(code)
      try test.host.state.collectGarbage()
      return test.host.state.memoryInUse - before
    }
    try test.host.run("u = {}")
    for way in ways { try test.host.run("\(way) w:stop()") }
    let uses = try ways.map { way in
      let use = (try use(way), try use("obs.stop(u, 'a.b.\(name)') obs.stop(u, '\(name).*')"))
      try test.host.run("w:stop()")
      return use
    }
    #expect(abs(uses[0].0 - uses[1].0) < 500 && uses[0].0 > 2000, "\(uses)")
    for use in uses { #expect(use.1 < -1500, "\(uses)") }
    try test.host.run(
      """
      local w = obs.observe(u, 'x', nop)
      message = select(2, pcall(function() for i = 1, 1e6 do w:observe('x' .. i) end end))
      w:stop()
      """)
    #expect(test.host["message"] == "not enough memory")
  }

  @Test(arguments: [nil, 64 << 20])
  func `a watcher can have paths of any length`(memory: Int?) throws {
    var limits = ScriptLimits()
    limits.memory = memory
    let host = try LuaHost(loop: Loop(clock: .virtual), limits: limits)
    // The bytes of these paths do not fit into 32 bits.
    try host.run(
      """
      local path, list = ('a.'):rep(70000) .. 'b', {}
      for i = 1, 100 do list[i] = path end
      ok, message = pcall(require('obs').observe, {}, list, function() end)
      if ok then message:stop() message = nil end
      """)
    #expect(host["message"] == (memory == nil ? nil : "not enough memory"))
  }

  @Test(.enabled(if: !ContainedHost.delaysSignals))
  func `following paths in a flush takes the time of the scripts`() throws {
    let test = try ContainedHost {
      $0.memory = nil
      $0.turnTime = .milliseconds(200)
    }
    try test.host.run(Self.prologue)
    try test.host.run("for _ = 1, 60 do obs.observe(t, 'other.*.x', nop) end")
    try test.host.run("for _ = 1, 60 do obs.observe(t, 'other.*.x', nop) end")
    for first in stride(from: 2001, to: 40_000, by: 1000) {
      try test.host.run("for i = \(first), \(first) + 999 do t.list[i] = { x = i } end")
    }
    // Watchers that got no time start over in the next turn.
    try test.host.run("t.other = t.list")
    test.loop.advance(by: 0)
    #expect(test.codes.contains(.quota))
    #expect(
      test.reports[0].error.message
        == "the watcher has ended: following its key path took too long")
    // The next turn is an ordinary one.
    try test.host.run("calls = 0 obs.observe(t, 'v', function() calls = calls + 1 end) t.v = 1")
    #expect(test.host["calls"] == 1)
  }

  @Test(.enabled(if: !ContainedHost.delaysSignals))
  func `a script that is stopped in its own flush loses no call of others`() throws {
    let test = try ContainedHost()
    let other = try test.host.sandbox(named: "other")
    try test.host.run("shared = { v = 0 } obs = require 'obs'")
    other["shared"] = test.host["shared"]
    try test.host.run("obs.observe(shared, 'v', function() while true do end end)")
    try other.run(
      """
      calls = 0
      require('obs').observe(shared, 'v', function() calls = calls + 1 end)
      """)
    let error = test.failure("shared.v = 1 obs.flush()")
    #expect(error?.code == .timeLimit)
    #expect(other["calls"] == 1)
  }

  @Test(.enabled(if: !ContainedHost.delaysSignals))
  func `a list that is replaced while scripts are stopped is followed`() throws {
    let test = try ContainedHost { $0.turnTime = .milliseconds(200) }
    try test.host.run("obs = require 'obs' t = { list = { {}, {} } }")
    try test.host.run("calls = 0 obs.observe(t, 'list.*.x', function() calls = calls + 1 end)")
    let error = test.failure(
      "local list = {} for i = 1, 20 do list[i] = {} end t.list = list while true do end")
    #expect(error?.code == .timeLimit)
    let calls: Int = try #require(test.host["calls"])
    try test.host.run("t.list[20].x = 1")
    #expect(test.host["calls"] == calls + 1)
  }
}
