import Lua
import LuaObservables
import Observables
import Testing

/// B3: objects of the host program that another loop observes.
struct OtherLoopScriptTests {
  private func message(_ test: TestHost, _ script: String) -> String {
    do {
      try test.host.run("local obs = require 'obs' " + script)
      return "none"
    } catch { return "\(error)" }
  }

  @Test func `a script that observes an object of another loop gets an error`() throws {
    let (creature, list) = (Creature(name: "Ada"), ObservableArray([1, 2]))
    let (one, two) = (try TestHost(), try TestHost())
    for test in [one, two] {
      try test.host.set("creature", to: creature)
      try test.host.set("list", to: list)
    }
    try one.host.run(
      """
      local obs = require "obs"
      log = ""
      obs.observe(creature, "name", function(c) log = log .. c.name end)
      obs.observe(list, "count", function(l) log = log .. #l end)
      """)
    for script in [
      "obs.observe(creature, 'name', print)", "obs.observe(list, 'count', print)",
      "obs.observe({c = creature}, 'c.name', print)", "obs.observe({l = list}, 'l.count', print)",
      "obs.observe(obs.array {creature}, 'name', print)", "obs.observe_edits(list, print)",
      "local t = {} obs.computed(t, 'x', {{creature, 'name'}}, print) return t.x",
      "local t = {c = creature} obs.computed(t, 'x', {'c.name'}, print) return t.x",
    ] {
      let text = message(two, script)
      #expect(text.contains("another loop"), "\(script): \(text)")
    }
    // Reading and writing are no observing.
    try two.host.run("creature.name = creature.name .. '!'; list[1] = 5")
    #expect(creature.name == "Ada!")
    one.loop.run()
    #expect(one.host["log"] == "Ada!")
    #expect(two.reports.isEmpty)
  }
}
