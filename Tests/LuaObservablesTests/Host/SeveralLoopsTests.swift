import Lua
import LuaObservables
import Observables
import Testing

/// Objects of the host program that scripts of several loops observe.
struct SeveralLoopsScriptTests {
  private func message(_ test: TestHost, _ script: String) -> String {
    do {
      try test.host.run("local obs = require 'obs' " + script)
      return "none"
    } catch { return "\(error)" }
  }

  @Test func `scripts of two loops share a model, each with its own watchers`() throws {
    let creature = Creature(name: "Ada")
    let (one, two) = (try TestHost(), try TestHost())
    for test in [one, two] {
      try test.host.set("creature", to: creature)
      try test.host.run(
        """
        local obs = require "obs"
        log = ""
        box = { creature = creature }
        obs.observe(box, "creature.name", function(t) log = log .. t.creature.name end)
        upper = {}
        obs.computed(upper, "name", { { creature, "name" } }, \
        function() return creature.name:upper() end)
        obs.observe(upper, "name", function(upper) log = log .. upper.name end)
        keep = obs.array { creature }
        obs.observe(keep, "name", function() log = log .. "." end)
        """)
    }
    try two.host.run("creature.name = creature.name .. '!'")
    #expect(two.host["log"] == "Ada!ADA!.")
    #expect(one.host["log"] == "")
    one.loop.run()
    #expect(one.host["log"] == "Ada!ADA!.")
    #expect(one.reports.isEmpty && two.reports.isEmpty)
  }

  @Test func `a host without a loop is on the one with the current turn, or the only one`()
    async throws
  {
    let isRight = try await onOwnThread {
      let only = Loop()
      let one = try LuaHost()
      let other = Loop()
      let two = try only.turn { try LuaHost() }
      return one.loop === only && two.loop === only && other !== only
    }
    #expect(isRight)
  }

  @Test func `it is an error if two loops are possible`() async {
    let outcome = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let loops = (Loop(), Loop(file: "other", line: 5))
      _ = try LuaHost()
      withExtendedLifetime(loops) {}
    }
    let errors = String(decoding: outcome?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("It is not clear which loop runs the host's scripts, the loop made at"))
    #expect(errors.contains(" or the loop made at other:5: pass it as 'loop:'"))
  }

  // B3
  @Test func `a script that observes a collection of another loop gets an error`() throws {
    let list = ObservableArray([1, 2])
    let (one, two) = (try TestHost(), try TestHost())
    for test in [one, two] { try test.host.set("list", to: list) }
    try one.host.run(
      """
      local obs = require "obs"
      log = ""
      obs.observe(list, "count", function(l) log = log .. #l end)
      """)
    for script in [
      "obs.observe(list, 'count', print)", "obs.observe({l = list}, 'l.count', print)",
      "obs.observe_edits(list, print)",
      "local t = {l = list} obs.computed(t, 'x', {'l.count'}, print) return t.x",
    ] {
      let text = message(two, script)
      #expect(text.contains("another loop"), "\(script): \(text)")
    }
    // Reading and writing do not observe.
    try two.host.run("list[1] = 5; list[3] = 6")
    one.loop.run()
    #expect(one.host["log"] == "3")
    #expect(two.reports.isEmpty)
  }
}
