import Lua
import LuaObservables
import Observables
import Testing

/// Properties that are the entries of a Swift store, as scripts work on them.
@Suite struct DictionaryModelScriptTests {
  private final class Disk {
    var values = ["zoom": 2]
    var loads = 0
  }

  // B2, Z6
  @Test func `a script uses them as a dictionary that is loaded when it is read`() throws {
    let (test, disk) = (try TestHost(), Disk())
    let settings = DictionaryModel<Int>(
      load: {
        disk.loads += 1
        return disk.values[$0]
      }, store: { disk.values[$0] = $1 })
    try test.host.set("settings", to: test.host.value(for: settings))
    try test.host.run(
      """
      obs = require "obs"
      calls = {}
      assert(next({}) == nil and settings.zoom == 2 and settings.other == nil)
      obs.observe(settings, "zoom", function(s) calls[#calls + 1] = s.zoom end)
      settings.zoom = 3
      obs.flush()
      assert(#calls == 1 and calls[1] == 3)
      local names = {}
      for name, value in pairs(settings) do names[#names + 1] = name .. value end
      assert(table.concat(names, " ") == "zoom3")
      local ok, message = pcall(function() settings.zoom = "large" end)
      assert(not ok and message:find "Int", message)
      assert(obs.get({ s = settings }, "s.zoom") == 3)
      """)
    #expect(disk.values == ["zoom": 3] && disk.loads == 2)
    disk.values["zoom"] = 7
    test.loop.turn { settings.invalidate("zoom") }
    try test.host.run("assert(#calls == 2 and calls[2] == 7)")
    #expect(test.reports.map(\.description) == [])
  }
}
