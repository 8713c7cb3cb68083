import Lua
import LuaObservables
import Observables
import Testing

/// N2: values as a program shows them to people.
struct DescribingTests {
  @Test func `a table shows its keys in order, with marks, and computes nothing`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs = require "obs"
      runs, t = 0, { b = 2, a = "x", deep = { 1, 2 } }
      obs.computed(t, "sum", { "b" }, function() runs = runs + 1 return 3 end)
      obs.observe(t, "b", function() end)
      """)
    let text = try test.host.describe(test.host["t"])
    let parts = ["a = \"x\"", "b = 2", "deep = ", "sum"]
    let places = parts.map { text.firstRange(of: $0)?.lowerBound }
    #expect(places.allSatisfy { $0 != nil }, "\(text)")
    #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted(), "\(text)")
    #expect(test.host["runs"] == 0)
    #expect(try test.host.describe(.nil) == "nil")
    let coloured = try test.host.describe(test.host["t"], isColoured: true)
    #expect(coloured != text && coloured.contains("\u{1B}["))
    #expect(try test.host.describe(test.host["t"], columns: 10).contains("\n"))
  }

  @Test func `a value is described before any script requires the module`() throws {
    let test = try TestHost()
    try test.host.run("t = { a = 1 }")
    #expect(try test.host.describe(test.host["t"]).contains("a = 1"))
    #expect(try test.host.run("return require('obs').observe ~= nil") == [true])
  }

  // S5
  @Test(.disabled(if: ContainedHost.delaysSignals))
  func `a table of a sandbox is shown in the time of the sandbox`() throws {
    let test = try ContainedHost()
    let sandbox = try test.host.sandbox(named: "plugin")
    try sandbox.run("t = setmetatable({}, { __tostring = function() while true do end end })")
    let error = #expect(throws: LuaError.self) { try sandbox.describe(sandbox["t"]) }
    #expect(error?.code == .timeLimit)
  }
}
