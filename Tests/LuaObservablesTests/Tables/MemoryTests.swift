import Lua
import LuaObservables
import Observables
import Testing

@Suite struct `Out of memory` {
  /// A program with all kinds of allocations that observation makes.
  private static let program = """
    local obs = require "obs"
    local made = {}
    local list, model = {1, 2, 3}, {name = "a", child = {leaf = {value = 1}}, list = {}}
    for round = 1, 3 do
      local observer = {}
      local watchers = {
        obs.observe(model, "child.leaf.value", function(m, o) made[#made + 1] = {m, o} end,
          {observer = observer, name = "leaf " .. round}),
        obs.observe(model, {"*", "child.*.value"}, function(m) m.list[#m.list + 1] = round end),
        obs.observe(list, obs.path(2), function() made[#made + 1] = "two" .. round end),
        obs.observe(list, "@count", function() made[#made + 1] = "count" .. round end),
        obs.observe(model, "name", function(m, o, change) made[#made + 1] = change end,
          {immediate = true}),
        obs.observe(model, "a key so long that it is told by its value " .. round,
          function() end, {on_end = function() end}),
      }
      model.child = {leaf = {value = round}}
      model.name = "name " .. round
      list[#list + 1] = round
      table.insert(list, 1, round)
      table.sort(list)
      obs.flush()
      for k, v in pairs(model) do made[#made + 1] = k end
      obs.get(model, "child.leaf.value")
      obs.set(model, "child.leaf.value", round + 1)
      obs.describe(model)
      obs.observed_keys(model)
      local array, set = obs.array(list), obs.set_of(list)
      obs.observe_edits(array, function(_, edits) made[#made + 1] = edits end, {initial = true})
      obs.observe_edits(list, function(_, edits) made[#made + 1] = edits end, {immediate = true})
      obs.observe(array, {"@sum", "count", "#1"}, \
      function() made[#made + 1] = obs.get(array, "@sum") end)
      obs.observe_keys(model, {"name", "list"}, function(_, old) made[#made + 1] = old end)
      local owner = {list = list}
      obs.copy_of(owner, "copy", "list")
      array:insert(1, round)
      array:sort()
      set:union(array)
      obs.assign(list, {round})
      made[#made + 1] = #owner.copy
      obs.get(array, "@distinctUnionOfObjects")
      local chain = {{value = round}}
      for i = 2, 4 do
        local before = chain[i - 1]
        chain[i] = {before = before}
        if i % 2 == 0 then
          obs.computed(chain[i], "value", {"before.value"}, function(t) return {t.before.value} end)
        else
          obs.computed(chain[i], "value", function(t) return #t.before.value + round end)
        end
      end
      obs.lazy(chain[2], {"view", "other"}, {loader = function(t, name) t[name] = {name} end})
      obs.observe(chain[4], "value", function(t) made[#made + 1] = t.value end)
      made[#made + 1] = chain[2].view
      chain[1].value = -round
      obs.flush()
      chain[3].value = round
      obs.invalidate(chain[2])
      obs.force(chain[2])
      obs.graph(chain[4], "json")
      local Model = obs.model("Model", {
        name = "", list = {1, {2}}, size = obs.computed({"name"}, function(t) return #t.name end),
      })
      local instance = Model {name = "n" .. round}
      made[#made + 1] = instance.size
      obs.forget(instance, "size")
      if creature then
        obs.observe_edits(numbers, function(_, edits) made[#made + 1] = edits end)
        numbers:append(round)
        numbers:sort()
        for _, v in pairs(numbers) do made[#made + 1] = v end
        obs.observe(creature, "name", function() made[#made + 1] = creature.name end)
        creature.name = "creature " .. round
      end
      for i, watcher in ipairs(watchers) do if i % 2 == round % 2 then watcher:stop() end end
      obs.stop(model, "name")
      obs.after(round, function() model.name = "later " .. round end)
      obs.task(function() obs.sleep(round) model.child = nil end)
    end
    """

  /// Runs the program and refuses the requests from the `n`th on, `times` of them.
  ///
  /// Returns false if nothing failed.
  private func attempt(_ n: UInt64, times: UInt64) throws -> Bool {
    let test = try TestHost()
    let (host, state) = (test.host, test.host.state)
    let creature = Creature()
    try host.set("creature", to: creature)
    try host.set("numbers", to: ObservableArray([1]))
    try state.run("require 'obs'")
    var hasFailed = false
    state.refuseAllocations(from: n, count: times)
    do { try host.run(Self.program, name: "=program") } catch {
      hasFailed = true
      #expect("\(error)".contains("not enough memory"), "allocation \(n): \(error)")
    }
    if times == .max { state.refuseAllocations(from: 0, count: 0) }
    test.loop.run()
    test.loop.turn { creature.name = "last" }
    state.refuseAllocations(from: 0, count: 0)
    for report in test.reports {
      hasFailed = true
      #expect(report.description.contains("not enough memory"), "allocation \(n): \(report)")
    }

    // The state still works, and so does observation.
    #expect(
      try host.run(
        """
        local obs = require "obs"
        local t, calls = {a = {b = 1}}, 0
        obs.observe(t, "a.b", function() calls = calls + 1 end)
        t.a.b = 2
        obs.flush()
        t.a = {b = 3}
        obs.flush()
        return calls
        """) == [2], "allocation \(n)")
    host.close()
    #expect(test.loop.statistics.watchers == 0, "allocation \(n)")
    return hasFailed
  }

  // B3, T12
  @Test func `at any allocation is an error or a report, and observation still works`() throws {
    for times: UInt64 in [2, .max] {
      var n: UInt64 = 1
      // All late requests may be for optional work that is skipped without memory.
      while try attempt(n, times: times) || n < 2000 { n += n < 100 ? 3 : 17 }
      #expect(n > 2000)
    }
  }

  @Test func `at any allocation of its making is an error of the host`() throws {
    var failures = 0
    for n: UInt64 in stride(from: 1, through: 4000, by: 7) {
      let loop = Loop(clock: .virtual)
      do throws(LuaError) {
        let state = try LuaState(libraries: .all, memoryLimit: nil, refusing: nil)
        state.refuseAllocations(from: n, count: .max)
        let host = LuaHost(state: state, loop: loop)
        try host.install()
        try host.run("require 'obs'")
        host.close()
        break
      } catch {
        #expect("\(error)".contains("not enough memory"), "allocation \(n): \(error)")
        failures += 1
      }
    }
    #expect(failures > 10)
  }
}
