import LibC
import Lua
import LuaObservables
import Observables
import Testing

/// S5: calls that others cause take a part of a sandbox's time, but never close it.
@Suite(.disabled(if: ContainedHost.delaysSignals))
struct SandboxTimeTests {
  private let test: ContainedHost
  private let storm: LuaSandbox
  private let victim: LuaSandbox

  init() throws {
    test = try ContainedHost { $0.turnTime = nil }
    try test.host.run("obs = require 'obs' t = { v = 0, w = 0 }")
    var limits = ScriptLimits.untrusted
    limits.turnTime = .milliseconds(ContainedHost.turnTime)
    limits.whenStopped = .close
    victim = try test.host.sandbox(named: "victim", limits: limits)
    limits.whenStopped = .endTurn
    storm = try test.host.sandbox(named: "storm", limits: limits)
    for sandbox in [storm, victim] {
      try sandbox.run(
        """
        obs = require 'obs'
        calls = 0
        function work() for _ = 1, 2000 do end calls = calls + 1 end
        """)
    }
  }

  /// Runs `body` in an endless loop in `storm` until the limit, and then a few turns.
  private func rage(_ body: String) throws {
    let error = #expect(throws: LuaError.self) { try storm.run("while true do \(body) end") }
    #expect(error?.code == .timeLimit)
    for _ in 0..<5 { test.loop.step() }
    #expect(!victim.isClosed)
  }

  private func calls() throws -> Int { try #require(Int(victim["calls"].text)) }

  @Test func `a storm of writes does not use up the time of an immediate watcher`() throws {
    try victim.run(
      """
      changes = {}
      obs.observe(t, 'v', function(_, _, change)
        -- A call takes much longer than the write that causes it.
        for _ = 1, 20000 do end
        work()
        changes[#changes + 1] = change.new
        seen = t.v
      end, { immediate = true })
      """)
    try rage("t.v = t.v + 1")
    // One call delivers many writes.
    #expect(try calls() < Int(try #require(Int(test.host.run("return t.v")[0].text))))
    #expect(try victim.run("return seen == t.v and changes[1] == 1") == [true])
    #expect(try storm.run("t.v = -1") == [])
    #expect(victim["seen"] == -1)
    #expect(test.reports.isEmpty)
  }

  @Test func `a call that waits for the flush receives the first missed change`() throws {
    try victim.run(
      """
      last = 0
      obs.observe(t, 'v', function(_, _, change)
        for _ = 1, 20000 do end
        if change.new ~= last + 1 then gap = true end
        last = change.new
      end, { immediate = true })
      """)
    try rage("t.v = t.v + 1")
    #expect(victim["gap"] == .nil)
  }

  @Test func `a storm of flushes does not use up the time of a watcher`() throws {
    try victim.run("obs.observe(t, 'v', function() work() seen = t.v end)")
    try rage("t.v = t.v + 1 obs.flush()")
    #expect(try victim.run("return seen == t.v") == [true])
    #expect(test.reports.isEmpty)
  }

  @Test func `watchers that trigger each other do not close the sandbox of one of them`() throws {
    try victim.run("obs.observe(t, 'v', function() for _ = 1, 10 do work() end t.w = t.v end)")
    try storm.run("obs.observe(t, 'w', function() t.v = t.v + 1 end)")
    var errors: [String] = []
    test.loop.onError = { errors.append("\($0)") }
    try test.host.run("t.v = 1")
    for _ in 0..<3000 where test.loop.step() {}
    #expect(!victim.isClosed && !storm.isClosed)
    // The loop ends it, as usual (T4).
    #expect(test.reports.isEmpty)
    #expect(errors.count == 1 && errors[0].contains("1000"), "\(errors)")
    try victim.run("obs.stop(t) obs.observe(t, 'v', function() seen = t.v end)")
    try test.host.run("t.v = -5")
    #expect(victim["seen"] == -5)
  }

  @Test func `a storm does not use up the time of a comparison`() throws {
    try victim.run(
      """
      obs.observe(t, 'v', function() seen = t.v end, {
        equals = function(a, b) work() return a == b end,
      })
      """)
    try rage("t.v = t.v + 1")
    #expect(try victim.run("return seen == t.v") == [true])
    #expect(test.reports.isEmpty)
  }

  @Test func `a storm of registrations does not use up the time of a hook`() throws {
    try victim.run("obs.on_observed(t, function(_, key, is) work() observed = is end)")
    try rage("obs.observe(t, 'v', print):stop()")
    try storm.run("obs.observe(t, 'v', print)")
    while test.loop.step() {}
    #expect(victim["observed"] == true)
    #expect(test.reports.isEmpty)
  }

  @Test func `a storm does not use up the time of a sink`() throws {
    try victim.run(
      """
      obs.observe(t, 'v', function() end, { immediate = true })
      obs.log(function(event) for _ = 1, 10 do work() end kind = event.kind end)
      """)
    try rage("t.v = t.v + 1")
    try storm.run("t.v = 0")
    #expect(victim["kind"] == "call")
    let message = "not enough time for all events of 'obs.log' caused by others"
    #expect(test.reports.allSatisfy { $0.error.message == message })
  }

  @Test func `the script that declares a property pays when it is watched`() throws {
    try storm.run(
      """
      obs.computed(t, 'slow', { 'v' }, function(t)
        while t.v > 0 do end
        return 0
      end)
      """)
    try victim.run("obs.observe(t, 'slow', work) obs.observe(t, 'v', work)")
    try storm.run("obs.observe(t, 'slow', print, { immediate = true })")
    try victim.run("t.v = 1")
    test.loop.step()
    #expect(!victim.isClosed)
    #expect(try calls() == 1)
    #expect(test.codes.contains(.timeLimit))
  }

  @Test func `others' getters do not use up the time of a writer`() throws {
    try victim.run("function write() t.v = t.v + 1 end")
    try storm.run(
      """
      obs.computed(t, 'slow', { 'v' }, function(t) work() return t.v end)
      for _ = 1, 10 do obs.observe(t, 'slow', work, { immediate = true }) end
      """)
    try victim.run("for _ = 1, 20 do write() end")
    #expect(!victim.isClosed)
  }

  @Test func `a call that takes longer than the turn's time ends, whoever caused it`() throws {
    try victim.run("obs.observe(t, 'v', function() while true do end end, { immediate = true })")
    try storm.run("t.v = 1 after = true")
    #expect(storm["after"] == true)
    #expect(test.codes == [.timeLimit])
    test.loop.step()
    #expect(victim.isClosed && !storm.isClosed)
  }

  @Test func `calls that a sandbox causes itself take its own time`() throws {
    try victim.run("obs.observe(t, 'v', work, { immediate = true })")
    #expect(throws: LuaError.self) { try victim.run("while true do t.v = t.v + 1 end") }
    test.loop.step()
    #expect(victim.isClosed)
  }

  @Test func `a storm that the program makes does not close a sandbox`() throws {
    try victim.run("obs.observe(t, 'v', function() work() seen = t.v end, { immediate = true })")
    try test.host.run("for i = 1, 20000 do t.v = i end")
    test.loop.step()
    #expect(!victim.isClosed && victim["seen"] == 20000)
  }

  /// Gives the victim a function `spend`, which takes two fifths of its turn.
  private func giveSpend() throws {
    try victim.set("take") { () in
      func time() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
      }
      let start = time()
      while time() - start < ContainedHost.turnTime * 400 {}
    }
    try victim.run("function spend() take() calls = calls + 1 end")
  }

  @Test(arguments: [
    "obs.observe(t, 'v', spend)", "obs.observe(list, '*', spend)",
    "obs.observe_edits(list, spend)", "obs.changes(t, spend)",
    "obs.observe(t, 'v', spend, { equals = function(a, b) return a == b end })",
  ])
  func `one write of others does not use up the time of many watchers`(watcher: String) throws {
    try test.host.run("list = obs.array {} t.list = list")
    try giveSpend()
    try victim.run("for _ = 1, 10 do \(watcher) end")
    try storm.run("t.v = 1 list:append(1)")
    while test.loop.step() {}
    #expect(!victim.isClosed)
    #expect(try calls() == 10)
    #expect(test.reports.isEmpty, "\(test.reports.map(\.error))")
  }

  @Test func `calls through Swift take the time for calls by others`() throws {
    try giveSpend()
    let spend: LuaFunction = try #require(victim["spend"])
    try storm.set("emit") { () in try spend.call() }
    let error = #expect(throws: LuaError.self) { try storm.run("for _ = 1, 10 do emit() end") }
    #expect(error?.message.contains("'victim' has no time left") == true, "\(error as Any)")
    #expect(!victim.isClosed)
    #expect(try calls() == 1)
    try storm.run("emit()")
    #expect(try calls() == 2)
  }

  @Test func `a function that Swift calls takes the time and memory of its sandbox`() throws {
    var limits = ScriptLimits.untrusted
    limits.turnTime = .milliseconds(ContainedHost.turnTime)
    limits.memory = 4 << 20
    let small = try test.host.sandbox(named: "small", limits: limits)
    try small.run(
      """
      function spin() while true do end end
      function hog() local t = {} for i = 1, 1e8 do t[i] = {} end end
      """)
    let spin: LuaFunction = try #require(small["spin"])
    let hog: LuaFunction = try #require(small["hog"])
    #expect(#expect(throws: LuaError.self) { try spin.call() }?.code == .timeLimit)
    #expect(#expect(throws: LuaError.self) { try hog.call() }?.code == .memory)
    #expect(try #require(small.memoryInUse) <= 6 << 20)
  }

  @Test func `a sandbox that was stopped is closed at the end of the turn`() throws {
    try victim.run("obs.observe(t, 'v', function() if t.v == 5 then while true do end end end)")
    #expect(throws: LuaError.self) { try storm.run("t.v = 5 error 'no'") }
    #expect(victim.isClosed)
    var limits = ScriptLimits.untrusted
    limits.turnTime = .milliseconds(ContainedHost.turnTime)
    limits.whenStopped = .close
    let other = try test.host.sandbox(named: "other", limits: limits)
    #expect(
      #expect(throws: LuaError.self) { try other.run("while true do end") }?.code == .timeLimit)
    #expect(other.isClosed)
    #expect(#expect(throws: LuaError.self) { try other.run("return 1") }?.code == .closed)
  }
}
