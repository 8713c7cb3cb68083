import Lua
import LuaObservables
import Observables
import Testing

/// B3, B4: hosts that close while their scripts run.
struct ClosingInsideTests {
  private let test: TestHost
  private let creature = Creature(name: "Ada")

  init() throws {
    test = try TestHost()
    let host = test.host
    test.host["creature"] = creature
    try host.set("close") { [unowned host] () in host.close() }
    try host.run("obs, t = require 'obs', {x = 1}")
  }

  @Test(arguments: [
    "obs.observe(t, 'x', function() close() local s = ('x'):rep(100) end)",
    "obs.observe(t, 'x', function() close() t.x = 9 end, {immediate = true})",
    "obs.observe(creature, 'name', function() close() creature.name = 'z' end)",
    "obs.observe(creature, 'name', function() close() creature.name = 'z' end, {immediate = true})",
    "obs.observe(t, 'x', function() end, {equals = function() close() return false end})",
    "obs.on_observed(t, function() close() end)",
    "obs.after(0, function() close() end)",
    "obs.next_turn(function() close() end)",
    "obs.task(function() obs.sleep(0) close() obs.sleep(1) end)",
    "obs.computed(t, 'y', function() close() return t.x end) obs.observe(t, 'y', print)",
    """
    obs.computed(t, 'y', {'x'}, function() if t.x == 2 then close() end return t.x end) \
    obs.observe(t, 'y', print)
    """,
    "obs.on_error(function() close() end) obs.observe(t, 'x', function() error 'no' end)",
    "obs.observe(t, 'x', function() local a <close> = setmetatable({}, {__close = close}) end)",
    "setmetatable({}, {__gc = close}) collectgarbage()",
    "obs.observe_edits(t, function() close() end)",
    "local o = {} obs.observe(t, 'x', close, {observer = o})",
    "obs.batch(function() obs.observe(t, 'x', close, {immediate = true}) t.x = 2 end)",
    "close() obs.observe(t, 'x', print)",
    "obs.scope(function(s) obs.observe(t, 'x', print) close() s:add(obs.after(1, print)) end)",
    "obs.scope(function() obs.scope(function() close() error 'no' end) end)",
    "obs.record(true) obs.observe(t, 'x', function() close() obs.why(t) end)",
    "obs.on_exit(close) obs.after(1, close) obs.every(1, close) close()",
    "obs.observe(t, 'x', function() obs.set_of{1}:clear() close() obs.graph(t) end)",
  ])
  func `closing in a callback takes effect when the callback returns`(script: String) throws {
    do {
      try test.host.run(script)
      try test.host.run("obs.observe(t, 'x', function() end) t.x = 2")
    } catch { #expect([.closed, .runtime].contains(error.code)) }
    test.loop.turn { creature.name = "Bea" }
    test.loop.run()
    #expect(test.host.isClosed)
    #expect(test.loop.statistics.watchers == 0)
    #expect(test.host.state.memoryInUse == 0)
    #expect(throws: LuaError.self) { try test.host.run("return 1") }
    creature.name = "Cid"
    #expect(creature.name == "Cid")
  }
}
