import Lua
import LuaObservables
import Observables
import Testing

/// Hosts that give their scripts only some of Lua's libraries.
struct LibraryTests {
  private static let sets: [LuaLibraries] = [
    [], [.base], [.package], .all.subtracting(.package), .all.subtracting(.base),
    .all.subtracting([.coroutine, .table, .string]), [.base, .string, .math], .all,
  ]

  private static let names: [(LuaLibraries, String)] = [
    (.package, "package"), (.coroutine, "coroutine"), (.table, "table"), (.io, "io"), (.os, "os"),
    (.string, "string"), (.math, "math"), (.utf8, "utf8"), (.debug, "debug"), (.base, "print"),
    (.base, "pairs"), (.base, "_G"),
  ]

  @Test(arguments: sets) func `the module is available with any set of libraries`(
    libraries: LuaLibraries
  ) throws {
    let test = try TestHost { try LuaHost(loop: $0, libraries: libraries) }
    let observed: [LuaValue] = try test.host.run(
      """
      local obs = require "obs"
      if require "obs" ~= obs then return "another module" end
      local t, calls = { x = 1, items = { { n = 1 }, { n = 2 } } }, 0
      obs.computed(t, "double", { "x" }, function(t) return t.x * 2 end)
      obs.observe(t, { "double", "items.@sum.n" }, function() calls = calls + 1 end)
      local Model = obs.model("Model", { name = "a" })
      obs.task(function() obs.sleep(1) t.x = 2 end)
      function count() return calls, t.double, Model({}).name, obs.get(t, "items.@sum.n") end
      t.x = 3
      """)
    #expect(observed == [])
    test.loop.run()
    #expect(try test.host.run("return count()") == [2, 4, "a", 3])
    #expect(test.reports.isEmpty)
  }

  @Test(arguments: sets) func `scripts have only the requested libraries`(
    libraries: LuaLibraries
  ) throws {
    let test = try TestHost { try LuaHost(loop: $0, libraries: libraries) }
    try test.host.run("require 'obs'")
    for (library, name) in LibraryTests.names {
      let isThere = try test.host.run("return \(name) ~= nil") == [true]
      #expect(isThere == libraries.contains(library), "\(name)")
    }
    let hasMethods = (try? test.host.run("return ('x'):upper()")) == ["X"]
    #expect(hasMethods == libraries.contains(.string))
  }

  @Test func `without the library 'package' requiring other modules is a clear error`() throws {
    let test = try TestHost { try LuaHost(loop: $0, libraries: [.base, .math]) }
    #expect(try test.host.run("return require 'math' == math") == [true])
    let error = #expect(throws: LuaError.self) { try test.host.run("require 'lfs'") }
    #expect(
      error?.message
        == "script:1: module 'lfs' not found: this host has no library 'package', only 'obs'")
    #expect(throws: LuaError.self) { try test.host.run("require 'string'") }
    #expect(throws: LuaError.self) { try test.host.run("require()") }
  }

  @Test func `errors of the module need no string methods`() throws {
    let test = try TestHost { try LuaHost(loop: $0, libraries: [.base]) }
    let error = #expect(throws: LuaError.self) {
      try test.host.run("require('obs').observe({}, 'a..b', print)")
    }
    let message = error?.message ?? ""
    #expect(message.hasPrefix("script:1: bad argument #2 to 'observe' (empty component 2 "))
  }
}
