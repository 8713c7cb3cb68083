import Lua
import LuaObservables
import Observables
import Testing

/// Swift objects of scripts that Lua frees at the limit of nested calls, where it skips finalizers.
@Suite struct `Objects with skipped finalizers` {
  private final class Found {
    private struct Weak { weak var creature: Creature? }
    private var creatures: [Weak] = []
    func add(_ creature: Creature) { creatures.append(Weak(creature: creature)) }
    var alive: Int { creatures.count { $0.creature != nil } }
  }

  private let test: TestHost
  private let found = Found()

  init() throws {
    test = try TestHost()
    try test.host.set("make") { [found, unowned host = test.host] () -> LuaValue in
      let creature = Creature(name: "Ada")
      found.add(creature)
      return try host.value(for: creature)
    }
    try test.host.run(
      """
      obs, log = require "obs", {}
      function collect_at_the_limit(times)
        -- The way there takes memory: nothing is to be collected on it.
        collectgarbage "stop"
        local function deep()
          if not pcall(deep) then for _ = 1, times do collectgarbage() end end
        end
        deep()
        collectgarbage "restart"
      end
      """)
  }

  private var watchers: Int { test.host.engine.reports.statistics.watchers }

  // L6
  @Test func `are released once, and their watchers end`() throws {
    for _ in 1...3 {
      try test.host.run(
        """
        -- All of them are there until the next statement collects.
        collectgarbage "stop"
        for _ = 1, 20 do
          local creature, path = make(), obs.path("name")
          obs.observe(creature, path, function() return creature, path end)
          obs.observe({ creature = make() }, "creature.name", function() end)
        end
        obs.flush()
        collectgarbage "restart"
        """)
      #expect(found.alive == 40)
      #expect(watchers == 40)
      // The first cycle shows that Swift does not share them.
      try test.collect()
      try test.host.run("for _ = 1, 3 do collect_at_the_limit(2) obs.flush() end")
      try test.collect()
      #expect(found.alive == 0)
      #expect(watchers == 0)
    }
  }

  @Test func `are observed through a new userdata, whatever happens to the old one`() throws {
    let creature = Creature(name: "Ada")
    try test.host.set("get") { [unowned host = test.host] () -> LuaValue in
      try host.value(for: creature)
    }
    try test.host.run(
      """
      get()
      collect_at_the_limit(1)
      obs.observe(get(), "name", function(c) log[#log + 1] = c.name end)
      collect_at_the_limit(1)
      obs.flush()
      """)
    try test.collect()
    test.loop.turn { creature.name = "Bea" }
    #expect(try test.log() == ["Bea"])
    #expect(watchers == 1)
  }

  // L6
  @Test func `are not kept alive when Swift has released them`() throws {
    var creature: Creature? = Creature(name: "Ada")
    found.add(creature!)
    test.host["creature"] = try test.host.value(for: creature!)
    try test.host.run(
      """
      local mine = creature
      obs.observe(mine, "name", function(c) log[#log + 1] = c.name, mine end)
      creature = nil
      mine = nil
      for _ = 1, 3 do collect_at_the_limit(2) obs.flush() end
      """)
    try test.collect()
    test.loop.turn { creature?.name = "Bea" }
    #expect(try test.log() == ["Bea"])
    creature = nil
    try test.collect()
    #expect(found.alive == 0)
    #expect(watchers == 0)
  }

  // L6
  @Test(arguments: [LuaLibraries.all, .safe])
  func `leave no watchers counted`(libraries: LuaLibraries) throws {
    let test = try TestHost { loop in try LuaHost(loop: loop, libraries: libraries) }
    try test.host.run(
      """
      local obs = require "obs"
      local function make() for _ = 1, 100 do obs.observe({ a = 1 }, "a", function() end) end end
      local function deep()
        if not pcall(deep) then for i = 1, 3000 do local t = { i } end end
      end
      for _ = 1, 30 do
        make()
        deep()
        obs.flush()
      end
      """)
    try test.collect()
    #expect(test.host.engine.reports.statistics.watchers == 0)
    #expect(test.reports.isEmpty)
  }

  @Test(arguments: 0...3) func `are released when the host closes`(collections: Int) throws {
    try test.host.run(
      """
      -- The collector runs at the limit only.
      collectgarbage "stop"
      for _ = 1, 20 do
        obs.observe(make(), obs.path("name"), function() end)
        obs.observe({ make() }, "1.name", function() end)
      end
      collect_at_the_limit(\(collections))
      """)
    #expect(found.alive == 40)
    test.host.close()
    #expect(found.alive == 0)
    #expect(watchers == 0)
  }
}
