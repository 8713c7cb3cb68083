import Lua
import LuaObservables
import Observables
import Testing

@Suite struct `Lifetime` {
  /// An object for Swift closures to capture.
  private final class Captured {}

  // MARK: Tables

  // L7: otherwise `next` would pass this room to find the first key.
  @Test(arguments: [600, 1000, 1024, 5000])
  func `a table that is observed as a whole keeps no room for its keys`(
    count: Int
  ) throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs, t = require "obs", {}
      for i = 1, \(count) do t["key" .. i] = i end
      collectgarbage()
      local before = collectgarbage "count"
      obs.observe(t, "*", print)
      collectgarbage()
      log = { collectgarbage "count" - before < 10 }
      """)
    #expect(try test.log() == ["true"])
  }

  // L1
  @Test func `dropping a handle ends nothing`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs = require "obs"
      log, t = {}, {x = 1}
      do local watcher = obs.observe(t, "x", function(t) log[#log + 1] = t.x end) end
      """)
    try test.collect()
    try test.host.run("t.x = 2")
    #expect(try test.log() == ["2"])
  }

  // L1
  @Test func `a handle keeps nothing alive`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs = require "obs"
      log, weak = {}, setmetatable({}, {__mode = "v"})
      local t = {x = 1}
      weak.t = t
      handle = obs.observe(t, "x", function() return t end)
      """)
    try test.collect()
    try test.host.run("log = {weak.t == nil, handle.active}")
    #expect(try test.log() == ["true", "false"])
  }

  // L2
  @Test func `a written table is kept alive until its watchers were called`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs = require "obs"
      log, weak = {}, setmetatable({}, {__mode = "v"})
      ;(function()
        local t = {x = 1}
        weak.t = t
        obs.observe(t, "x", function(t) log[#log + 1] = t.x end)
        t.x = 2
      end)()
      collectgarbage()
      collectgarbage()
      """)
    try test.collect()
    try test.host.run("log[#log + 1] = weak.t")
    #expect(try test.log() == ["2"])
  }

  // L3
  @Test func `a watcher ends silently with its observer`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs = require "obs"
      log, t, observer = {}, {x = 1}, {}
      handle = obs.observe(t, "x", function(t, observer) log[#log + 1] = t.x end,
        {observer = observer, on_end = function() log[#log + 1] = "end" end})
      t.x = 2
      """)
    try test.host.run("observer = nil")
    try test.collect()
    try test.host.run("t.x = 3")
    try test.host.run("log[#log + 1] = handle.active")
    #expect(try test.log() == ["2", "false"])
    #expect(test.loop.statistics.watchers == 0)
  }

  // L3
  @Test func `the end of the observed is reported in a separate turn`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs = require "obs"
      log = {}
      local t = {x = {y = 1}}
      obs.observe(t, "x.y", function() end, {on_end = function(path) log[#log + 1] = path end})
      """)
    try test.host.state.collectGarbage()
    #expect(try test.log() == [])
    while test.host.step() {}
    #expect(try test.log() == ["x.y"])
  }

  // L3
  @Test func `a host that closes calls no callbacks`() throws {
    var told: [String] = []
    let test = try TestHost()
    try test.host.set(
      "tell", to: test.host.state.function("tell") { (text: String) in told.append(text) })
    try test.host.run(
      """
      local obs = require "obs"
      t = {x = 1}
      obs.observe(t, "x", function() tell "called" end, {on_end = function() tell "ended" end})
      obs.on_observed(t, function() tell "hook" end)
      obs.after(1, function() tell "timer" end)
      obs.every(1, function() tell "every" end)
      obs.next_turn(function() tell "turn" end)
      obs.task(function() obs.sleep(1) tell "task" end)
      obs.task(function() obs.next_change(t, "x") tell "change" end)
      t.x = 2
      """)
    told = []
    try test.host.state.run("t.x = 3")
    test.host.close()
    test.loop.run()
    #expect(told == [])
    #expect(test.reports.map(\.description) == [])
    #expect(test.loop.statistics.watchers == 0)
    #expect(test.loop.statistics.observedObjects == 0)
  }

  // L4
  @Test func `a weakly held object in the middle of a path changes to nil`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs = require "obs"
      log, t = {}, setmetatable({}, {__mode = "v"})
      t.middle = {x = 1}
      obs.observe(t, "middle.x", function(t) log[#log + 1] = tostring(t.middle) end)
      """)
    try test.collect()
    #expect(try test.log() == ["nil"])
  }

  // MARK: Swift models

  // L6
  @Test func `callbacks on a model work while only Swift holds it`() throws {
    let test = try TestHost()
    let creature = Creature(name: "Ada")
    try test.host.set("creature", to: creature)
    try test.host.run(
      """
      local obs = require "obs"
      log = {}
      obs.observe(creature, "name", function(creature) log[#log + 1] = creature.name end)
      creature = nil
      """)
    try test.collect()
    test.loop.turn { creature.name = "Bea" }
    try test.collect()
    test.loop.turn { creature.name = "Cid" }
    #expect(try test.log() == ["Bea", "Cid"])
  }

  // L6
  @Test func `callbacks on a model work while only Lua holds it`() throws {
    let test = try TestHost()
    try test.host.set("creature", to: Creature(name: "Ada"))
    try test.host.run(
      """
      local obs = require "obs"
      log = {}
      obs.observe(creature, "name", function(creature) log[#log + 1] = creature.name end)
      """)
    try test.collect()
    try test.host.run("creature.name = 'Bea'")
    try test.collect()
    try test.host.run("creature.name = 'Cid'")
    #expect(try test.log() == ["Bea", "Cid"])
  }

  // L6
  @Test func `a table and a model held by each other's callbacks are collected`() throws {
    let test = try TestHost()
    weak var weakCreature: Creature?
    do {
      let creature = Creature(name: "Ada")
      weakCreature = creature
      try test.host.set("creature", to: creature)
    }
    try test.host.run(
      """
      local obs = require "obs"
      weak = setmetatable({}, {__mode = "v"})
      local t = {creature = creature, x = 1}
      weak.t = t
      obs.observe(creature, "name", function() return t end)
      obs.observe(t, "creature.name", function() return t.creature end)
      creature.name = "Bea"
      creature = nil
      """)
    try test.collect()
    #expect(weakCreature == nil)
    #expect(try test.host.run("return weak.t") == [.nil])
    #expect(test.loop.statistics.watchers == 0)
  }

  // L6
  @Test func `a model that Swift released is collected, though its callbacks hold it`() throws {
    let test = try TestHost()
    weak var weakCreature: Creature?
    var creature: Creature? = Creature(name: "Ada")
    weakCreature = creature
    try test.host.set("creature", to: creature!)
    try test.host.run(
      """
      local obs = require "obs"
      local own = creature
      obs.observe(creature, "name", function() return own end)
      creature = nil
      """)
    try test.collect()
    #expect(weakCreature != nil)
    creature = nil
    try test.collect()
    #expect(weakCreature == nil)
    #expect(test.loop.statistics.watchers == 0)
  }

  // L6
  @Test func `models held by each other's callbacks are collected`() throws {
    let test = try TestHost()
    weak var first: Creature?
    weak var second: Creature?
    do {
      let creatures = (Creature(name: "a"), Creature(name: "b"))
      (first, second) = creatures
      try test.host.set("a", to: creatures.0)
      try test.host.set("b", to: creatures.1)
    }
    try test.host.run(
      """
      local obs = require "obs"
      local one, other = a, b
      obs.observe(one, "name", function() return other end)
      obs.observe(other, "name", function() return one end)
      a, b = nil, nil
      """)
    try test.collect()
    #expect(first == nil)
    #expect(second == nil)
  }

  // L2
  @Test func `a written model is kept alive until its watchers were called`() throws {
    let test = try TestHost()
    weak var weakCreature: Creature?
    try test.host.run("log, obs = {}, require 'obs'")
    try test.loop.turn {
      let creature = Creature(name: "Ada")
      weakCreature = creature
      try test.host.set("creature", to: creature)
      try test.host.state.run(
        """
        obs.observe(creature, "name", function(creature) log[#log + 1] = creature.name end)
        creature.name = "Bea"
        creature = nil
        """)
      try test.host.state.collectGarbage()
      try test.host.state.collectGarbage()
    }
    #expect(try test.log() == ["Bea"])
    try test.collect()
    #expect(weakCreature == nil)
  }

  // L6
  @Test func `the callback of a Swift watcher is released with its table`() throws {
    let test = try TestHost()
    weak var captured: Captured?
    try test.host.run("t = {x = 1}")
    do {
      let object = Captured()
      captured = object
      guard case .table(let table) = test.host["t"] else { return }
      try test.host.observe(table, "x") { _ in withExtendedLifetime(object) {} }
    }
    try test.collect()
    #expect(captured != nil)
    try test.host.run("t = nil")
    try test.collect()
    #expect(captured == nil)
  }

  // L6
  @Test func `the callback of a Swift watcher is released with its model`() throws {
    let test = try TestHost()
    weak var captured: Captured?
    do {
      let (creature, object) = (Creature(), Captured())
      captured = object
      try creature.observe("name", in: test.loop) { _ in withExtendedLifetime(object) {} }
      #expect(captured != nil)
    }
    test.loop.endTurn()
    #expect(captured == nil)
  }

  // MARK: Hosts

  @Test func `a dropped host is released, with all its pending work`() throws {
    let loop = Loop(clock: .virtual)
    let creature = Creature()
    weak var weakHost: LuaHost?
    do {
      let host = try LuaHost(loop: loop)
      weakHost = host
      try host.set("creature", to: creature)
      try host.run(
        """
        local obs = require "obs"
        t = {x = 1}
        obs.observe(t, "x", function() end)
        obs.observe(creature, "name", function() end)
        obs.every(1, function() end)
        obs.task(function() obs.sleep(5) end)
        obs.on_error(function() end)
        obs.on_exit(function() end)
        """)
    }
    #expect(weakHost == nil)
    #expect(loop.statistics.watchers == 0)
    loop.turn { creature.name = "later" }
    loop.run()
    #expect(loop.now == 0)
  }

  // B4
  @Test func `objects held from a closed host do no harm`() throws {
    let test = try TestHost()
    try test.host.run("t = {x = 1}; f = function() end")
    guard case .table(let table) = test.host["t"], case .function(let function) = test.host["f"]
    else { return }
    var calls = 0
    let watcher = try test.host.observe(table, "x") { _ in calls += 1 }
    test.host.close()
    #expect(watcher.isActive == false)
    watcher.stop()
    test.host.close()
    #expect(throws: LuaError.self) { try table.get("x", as: Int.self) }
    #expect(throws: LuaError.self) { try function.call() }
    #expect(throws: LuaError.self) { try test.host.run("return 1") }
    #expect(throws: LuaError.self) { try test.host.observe(table, "x") { _ in } }
    #expect(test.host["t"] == .nil)
    #expect(test.host.step() == false)
    #expect(calls == 0)
  }

  @Test func `two hosts on one loop are independent`() throws {
    let loop = Loop(clock: .virtual)
    let (first, second) = (try LuaHost(loop: loop), try LuaHost(loop: loop))
    let creature = Creature(name: "Ada")
    for host in [first, second] {
      try host.set("creature", to: creature)
      try host.run(
        """
        calls = 0
        require("obs").observe(creature, "name", function() calls = calls + 1 end)
        """)
    }
    loop.turn { creature.name = "Bea" }
    #expect(first["calls"] == 1)
    first.close()
    loop.turn { creature.name = "Cid" }
    #expect(second["calls"] == 2)
    second.close()
    #expect(loop.statistics.watchers == 0)
  }
}
