import Lua
import LuaObservables
import Observables
import Testing

/// A Swift model with a property for a table of a script.
private final class Shelf: ObservableModel {
  static let properties = ModelProperties(for: Shelf.self) {
    Property("settings", get: { $0.settings }, set: { $0.settings = $1 })
  }
  let observation = ModelObservation()
  var settings: LuaTable? { didSet { observation.didSet(0, from: oldValue, to: settings) } }
}

@Suite struct `Between Swift and Lua` {
  private struct Failure: Error, Equatable {}

  private func table(_ name: String, of test: TestHost) throws -> LuaTable {
    guard case .table(let table) = test.host[name] else { throw Failure() }
    return table
  }

  // MARK: Swift watches Lua

  // P5, P6, T1
  @Test func `Swift follows a path through tables that are replaced`() throws {
    let test = try TestHost()
    try test.host.run("t = {a = {b = {c = 1}}}")
    var log: [LuaValue] = []
    try test.host.observe(table("t", of: test), "a.b.c") { t in
      log.append((try? t.get("a", as: LuaTable.self).get("b", as: LuaTable.self)["c"]) ?? .nil)
    }
    try test.host.run("t.a.b.c = 2; t.a.b.c = 3")
    try test.host.run("old = t.a; t.a = {b = {c = 3}}")
    try test.host.run("old.b.c = 4")
    try test.host.run("t.a = nil")
    try test.host.run("t.a = {b = {c = 5}}")
    #expect(log == [3, 3, .nil, 5])
  }

  // P2
  @Test func `a Swift path counts from 0`() throws {
    let test = try TestHost()
    try test.host.run("t = {list = {'a', 'b', 'c'}}")
    var log: [String] = []
    try test.host.observe(table("t", of: test), "list.#1") { t in
      log.append((try? t.get("list", as: LuaTable.self).get(2, as: String.self)) ?? "none")
    }
    try test.host.run("t.list[1] = 'x'")
    try test.host.run("t.list[2] = 'y'")
    try test.host.run("t.list[3] = 'z'")
    #expect(log == ["y"])
  }

  // T7, T11
  @Test func `a stopped Swift watcher is not called, not even once more`() throws {
    let test = try TestHost()
    try test.host.run("t = {x = 1}")
    var calls = 0
    let watcher = try test.host.observe(table("t", of: test), "x") { _ in calls += 1 }
    try test.host.state.run("t.x = 2")
    watcher.stop()
    test.loop.endTurn()
    #expect(watcher.isActive == false)
    #expect(calls == 0)
  }

  @Test func `once works for Swift, too`() throws {
    let test = try TestHost()
    try test.host.run("t = {x = 1}")
    var calls = 0
    let watcher = try test.host.observe(
      table("t", of: test), "x", options: WatcherOptions(once: true)
    ) { _ in calls += 1 }
    try test.host.run("t.x = 2")
    try test.host.run("t.x = 3")
    #expect(calls == 1)
    #expect(watcher.isActive == false)
  }

  // T9
  @Test func `an immediate Swift watcher is called inside the write`() throws {
    let test = try TestHost()
    try test.host.run("t, log = {x = 1}, {}")
    try test.host.observeImmediately(table("t", of: test), "x") { [unowned test] _, _ in
      _ = try? test.host.state.run("log[#log + 1] = 'called'")
    }
    try test.host.run("log[1] = 'before'; t.x = 2; log[#log + 1] = 'after'; t.x = 3")
    #expect(try test.log() == ["before", "called", "after", "called"])
  }

  // P11
  @Test func `a path that a table cannot have is an error for Swift`() throws {
    let test = try TestHost()
    try test.host.run("t = {x = 1}")
    let error = #expect(throws: PathError.self) {
      try test.host.observe(table("t", of: test), "__index") { _ in }
    }
    #expect(error?.code == .unsupported)
    #expect(test.loop.statistics.watchers == 0)
  }

  // MARK: Lua watches Swift

  // B1, B2
  @Test func `a model's properties are read and written by name`() throws {
    let test = try TestHost()
    let (creature, friend) = (Creature(name: "Ada"), Creature(name: "Bea"))
    try test.host.set("creature", to: creature)
    try test.host.set("friend", to: friend)
    try test.host.run(
      """
      log = {creature.name, creature.age, creature.weight, creature.isTame, creature.legs,
        creature.nickname}
      creature.name, creature.age, creature.weight, creature.isTame = "Cid", 3, 4, true
      creature.nickname, creature.friend = "C", friend
      same = creature.friend == friend
      friendless = friend.friend == nil
      """)
    #expect(try test.log() == ["Ada", "0", "0.0", "false", "4"])
    #expect(creature.name == "Cid")
    #expect(creature.age == 3)
    #expect(creature.weight == 4)
    #expect(creature.isTame)
    #expect(creature.nickname == "C")
    #expect(creature.friend === friend)
    #expect(test.host["same"] == true)
    #expect(test.host["friendless"] == true)
    try test.host.run("creature.nickname, creature.friend = nil, nil")
    #expect(creature.nickname == nil)
    #expect(creature.friend == nil)
  }

  // B2, P9
  @Test(arguments: [
    ("return creature.nane", "'nane'", "'name'"),
    ("creature.wieght = 1", "'wieght'", "'weight'"),
    ("require('obs').observe(creature, 'nickame', print)", "'nickame'", "'nickname'"),
    ("require('obs').observe({c = creature}, 'c.frend.name', print)", "'frend'", "'friend'"),
  ])
  func `an unknown name is an error that suggests the nearest one`(
    script: String, name: String, suggestion: String
  ) throws {
    let test = try TestHost()
    try test.host.set("creature", to: Creature())
    let error = #expect(throws: LuaError.self) { try test.host.run(script) }
    #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains(suggestion) == true, "\(error?.message ?? "")")
    #expect(test.loop.statistics.watchers == 0)
  }

  // B2
  @Test(arguments: [
    ("creature.name = 1", "name", "String", "number"),
    ("creature.age = 1.5", "age", "Int", "number"),
    ("creature.age = 'old'", "age", "Int", "string"),
    ("creature.age = nil", "age", "Int", "nil"),
    ("creature.isTame = 0", "isTame", "Bool", "number"),
    ("creature.friend = {}", "friend", "Creature", "table"),
    ("creature.weight = print", "weight", "Double", "function"),
    ("creature.name = creature", "name", "String", "Creature"),
  ])
  func `a wrong value is an error that names the property and both types`(
    script: String, property: String, expected: String, given: String
  ) throws {
    let test = try TestHost()
    try test.host.set("creature", to: Creature())
    let error = #expect(throws: LuaError.self) { try test.host.run(script) }
    for part in ["'\(property)'", expected, given] {
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
  }

  // B2
  @Test func `a property that cannot be set is an error`() throws {
    let test = try TestHost()
    try test.host.set("creature", to: Creature())
    let error = #expect(throws: LuaError.self) { try test.host.run("creature.legs = 3") }
    #expect(error?.message.contains("'legs'") == true)
  }

  // T2, T5
  @Test func `a script is called for writes of either side`() throws {
    let test = try TestHost()
    let creature = Creature(name: "Ada")
    try test.host.set("creature", to: creature)
    try test.host.run(
      """
      log = {}
      require("obs").observe(creature, {"name", "age"}, function(observed, observer)
        log[#log + 1] = observed == creature and observer == nil and observed.name .. observed.age
      end)
      """)
    test.loop.turn {
      creature.name = "Bea"
      creature.age = 1
    }
    try test.host.run("creature.name = 'Cid'; creature.name = 'Dee'")
    test.loop.turn { creature.name = "Dee" }
    try test.host.run("creature.name = 'Dee'")
    #expect(try test.log() == ["Bea1", "Dee1"])
  }

  // T9
  @Test func `an immediate watcher receives the old and new value of a model's property`() throws {
    let test = try TestHost()
    let (creature, friend) = (Creature(name: "Ada"), Creature(name: "Bea"))
    try test.host.set("creature", to: creature)
    try test.host.set("friend", to: friend)
    try test.host.run(
      """
      log = {}
      local function text(value)
        return value == friend and "friend" or tostring(value)
      end
      require("obs").observe(creature, "*", function(_, _, change)
        log[#log + 1] = change.path .. " " .. change.key .. " " .. text(change.old) .. " "
          .. text(change.new)
      end, {immediate = true})
      """)
    creature.name = "Cid"
    creature.nickname = "C"
    creature.nickname = nil
    creature.friend = friend
    try test.host.run("creature.friend = nil; creature.age = 2")
    #expect(
      try test.log() == [
        "* name Ada Cid", "* nickname nil C", "* nickname C nil", "* friend nil friend",
        "* friend friend nil", "* age 0 2",
      ])
  }

  // P5, P6
  @Test func `a path runs from a table through models`() throws {
    let test = try TestHost()
    let creature = Creature(name: "Ada")
    creature.friend = Creature(name: "Bea")
    let old = creature.friend
    try test.host.set("creature", to: creature)
    try test.host.run(
      """
      log, world = {}, {pet = creature}
      require("obs").observe(world, "pet.friend.name", function(world)
        log[#log + 1] = world.pet and world.pet.friend and world.pet.friend.name or "none"
      end)
      """)
    test.loop.turn { creature.friend?.name = "Cid" }
    test.loop.turn { creature.friend = Creature(name: "Dee") }
    test.loop.turn { old?.name = "Eli" }
    try test.host.run("world.pet = nil")
    test.loop.turn { creature.friend?.name = "Fay" }
    try test.host.run("world.pet = creature")
    #expect(try test.log() == ["Cid", "Dee", "none", "Fay"])
  }

  @Test func `a path runs from a table through a model into another table`() throws {
    let test = try TestHost()
    let shelf = Shelf()
    try test.host.set("shelf", to: shelf)
    try test.host.run(
      """
      local obs = require "obs"
      log = {}
      root = {shelf = shelf}
      obs.observe(root, "shelf.settings.theme", function(root)
        local settings = root.shelf.settings
        log[#log + 1] = settings and settings.theme or "none"
      end)
      """)
    var swift: [LuaValue] = []
    try shelf.observe("settings.theme", in: test.host.loop) { shelf in
      swift.append((try? shelf.settings?["theme"]) ?? .nil)
    }
    try test.host.run("old = {theme = 'dark'}; shelf.settings = old")
    try test.host.run("old.theme = 'light'")
    guard case .table(let other) = try test.host.state.run("return {theme = 'sepia'}").first else {
      throw Failure()
    }
    test.host.loop.turn { shelf.settings = other }
    try test.host.run("old.theme = 'silent'")
    try test.host.run("shelf.settings.theme = 'blue'")
    test.host.loop.turn { shelf.settings = nil }
    #expect(swift == ["dark", "light", "sepia", "blue", .nil])
    #expect(
      try test.host.state.run("return table.concat(log, ' ')", as: String.self)
        == "dark light sepia blue none")
  }

  @Test func `Swift and a script watch the same model in order of registration`() throws {
    let test = try TestHost()
    let creature = Creature(name: "Ada")
    try test.host.set("creature", to: creature)
    try test.host.run(
      """
      log = {}
      require("obs").observe(creature, "name", function() log[#log + 1] = "first" end)
      """)
    try creature.observe("name", in: test.loop) { [unowned test] _ in
      _ = try? test.host.state.run("log[#log + 1] = 'second'")
    }
    try test.host.run(
      "require('obs').observe(creature, 'name', function() log[#log + 1] = 'third' end)")
    test.loop.turn { creature.name = "Bea" }
    #expect(try test.log() == ["first", "second", "third"])
  }

  // MARK: Errors

  // T10
  @Test func `an error in a callback is reported with everything known about it`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs = require "obs"
      log, t = {}, {x = 1}
      obs.observe(t, "x", function()
        error("gone wrong")
      end, {name = "the watcher"})
      obs.observe(t, "x", function() log[#log + 1] = "called" end)
      t.x = 2
      """, name: "=script")
    try test.host.run("t.x = 3", name: "=later")
    #expect(try test.log() == ["called", "called"])
    try #require(test.reports.count == 2)
    let report = test.reports[0]
    #expect(report.kind == .watcher)
    #expect(report.name == "the watcher")
    #expect(report.site == "script:3")
    #expect(report.cause == "script:7")
    #expect(report.error.message == "script:4: gone wrong")
    #expect(report.error.traceback?.contains("script:4: in function <script:3>") == true)
    #expect(test.reports[1].cause == "later:1")
    #expect(test.host.reportCount == 2)
  }

  // T10
  @Test func `a Swift error in a callback is in the report`() throws {
    let test = try TestHost()
    try test.host.set(
      "fail", to: test.host.state.function("fail") { () throws -> Void in throw Failure() })
    try test.host.run(
      "t = {x = 1}; require('obs').observe(t, 'x', function() fail() end); t.x = 2")
    try #require(test.reports.count == 1)
    #expect(test.reports[0].error.underlying as? Failure == Failure())
  }

  // T10
  @Test func `errors of timers, tasks and hooks are reported with their kind`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs = require "obs"
      local t = {}
      obs.after(1, function() error("after", 0) end)
      obs.next_turn(function() error("turn", 0) end)
      obs.task(function() obs.sleep(2) error("task", 0) end)
      obs.on_observed(t, function() error("hook", 0) end)
      obs.observe(t, "x", function() error("never") end)
      obs.observe(t, "y", function() error("immediate", 0) end, {immediate = true})
      t.y = 1
      """)
    test.loop.run()
    #expect(
      test.reports.map { "\($0.kind.rawValue) \($0.error.message)" } == [
        "hook hook", "hook hook", "immediate immediate", "timer turn", "timer after", "task task",
      ])
  }

  // T10, B1
  @Test func `an error that is not a text is reported unchanged`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      t, failure = {x = 1}, {code = 7}
      require("obs").observe(t, "x", function() error(failure) end)
      t.x = 2
      """)
    try #require(test.reports.count == 1)
    #expect(test.reports[0].error.value == test.host["failure"])
  }

  // T4
  @Test func `watchers that trigger themselves endlessly are reported by name`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs = require "obs"
      obs.limits {retrigger_turns = 10}
      t = {x = 1}
      obs.observe(t, "x", function(t) t.x = t.x + 1 end, {name = "restless"})
      t.x = 2
      """)
    try #require(test.reports.count == 1)
    #expect(test.reports[0].kind == .loop)
    #expect(test.reports[0].error.message.contains("restless"))
  }
}
