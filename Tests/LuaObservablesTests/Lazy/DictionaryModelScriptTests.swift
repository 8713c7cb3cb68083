import Lua
import LuaObservables
import Observables
import Testing

/// Properties that are entries of a Swift store, used by scripts.
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

  // Z14
  @Test func `a script invalidates properties and queries their validity`() throws {
    let (test, disk) = (try TestHost(), Disk())
    let settings = DictionaryModel<Int>(load: { disk.values[$0] }, store: { disk.values[$0] = $1 })
    try test.host.set("settings", to: test.host.value(for: settings))
    try test.host.set(
      "put", to: test.host.state.function("put") { (value: Int) in disk.values["zoom"] = value })
    try test.host.run(
      """
      obs = require "obs"
      assert(not obs.is_valid(settings, "zoom") and #obs.valid_names(settings) == 0)
      assert(obs.peek(settings, "zoom") == nil and settings.zoom == 2)
      assert(obs.peek(settings, "zoom") == 2 and obs.valid_names(settings)[1] == "zoom")
      put(3)
      obs.invalidate(settings, "zoom")
      assert(obs.invalid_names(settings)[1] == "zoom")
      obs.force(settings)
      assert(obs.is_valid(settings, "zoom") and settings.zoom == 3)
      put(4)
      obs.invalidate(settings)
      assert(settings.zoom == 4)
      """)
    #expect(test.reports.map(\.description) == [])
  }

  // Z6: the other way round.
  @Test func `a Swift store backs the properties of a table`() throws {
    let (test, disk) = (try TestHost(), Disk())
    let settings = DictionaryModel<Int>(load: { disk.values[$0] }, store: { disk.values[$0] = $1 })
    let dictionary = ObservableDictionary(["zoom": 2])
    try test.host.set("settings", to: test.host.value(for: settings))
    try test.host.set("dictionary", to: test.host.value(for: dictionary))
    try test.host.run(
      """
      obs = require "obs"
      calls = 0
      kept = {}
      for _, store in ipairs { settings, dictionary } do
        local t = {}
        obs.backed(t, "zoom", store)
        obs.observe(t, "zoom", function() calls = calls + 1 end)
        assert(t.zoom == 2)
        t.zoom = 3
        obs.flush()
        assert(t.zoom == 3 and store.zoom == 3)
        kept[#kept + 1] = t
      end
      assert(calls == 2)
      """)
    #expect(disk.values == ["zoom": 3] && dictionary["zoom"] == 3)
    test.loop.turn { dictionary["zoom"] = 5 }
    test.loop.turn { settings.zoom = 6 }
    try test.host.run("assert(calls == 4 and kept[1].zoom == 6 and kept[2].zoom == 5)")
    #expect(test.reports.map(\.description) == [])
  }

  private final class Sheet: ObservableModel {
    static let properties = ModelProperties(for: Sheet.self) {
      Property("source", get: { $0.source }, set: { $0.source = $1 })
      Property("total", lazy: { $0.$total }, from: ["source"]) { $0.source * 2 }
    }
    let observation = ModelObservation()
    var source = 1 { didSet { observation.didSet(0, from: oldValue, to: source) } }
    @Lazy var total: Int
  }

  // L7
  @Test func `pairs of a Swift model shows valid lazy properties, and computes none`() throws {
    let test = try TestHost()
    let sheet = Sheet()
    try test.host.set("sheet", to: test.host.value(for: sheet))
    try test.host.run(
      """
      local function keys()
        local names = {}
        for name in pairs(sheet) do names[#names + 1] = name end
        return table.concat(names, " ")
      end
      assert(keys() == "source")
      assert(sheet.total == 2 and keys() == "source total")
      sheet.source = 2
      assert(keys() == "source")
      """)
    #expect(!sheet.$total.isValid)
  }
}
