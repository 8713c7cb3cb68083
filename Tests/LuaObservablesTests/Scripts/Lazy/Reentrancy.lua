-- Rules Z, B3 and T12: effects of getters and comparisons on properties under computation.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "Support/kinds.lua")

example("a script cannot resume a waiting getter", "t.c", [[
  local t, waiting, status, resumed, closed = { x = 1 }, nil, nil, nil, nil
  obs.computed(t, "a", { "x" }, function(self)
    status, resumed = coroutine.status(waiting), select("#", coroutine.resume(waiting))
    closed = pcall(coroutine.close, waiting)
    return self.x
  end)
  obs.computed(t, "b", function(self)
    waiting = coroutine.running()
    return self.a + 1
  end)
  obs.computed(t, "c", function(self) return self.b + 1 end)  --> 3
  = status, resumed, closed, (coroutine.resume(waiting))      --> suspended 2 false false
  t.x = 2                                                     --> 4
]])
each("Z14: a getter that removes its declaration stores nothing", "rawget(t, 'a')", [[
  local t, get
  t = object { x = 1, a = computed({ "x" }, function() return get() end) }
  get = function()
    obs.forget(t, "a")
    t.a = "plain"
    return "computed"
  end
  = t.a                                           --> plain
  -- Another property may get its number.
  t = object { x = 1, a = computed({ "x" }, function() return get() end) }
  get = function()
    obs.forget(t, "a")
    declare(t, "b", { "x" }, function() return 7 end)
    return {}
  end
  = t.a, t.b                                      --> nil 7
  obs.flush()                                     --> nil
]])
each("Z8: a getter cannot redeclare its property, but one that waits for it", "t.b", [[
  local t
  t = object { x = 1, a = computed({ "x" }, function(self)
    declare(t, "b", { "x" }, function() return "new" end)
    return self.x
  end), b = computed({ "a" }, function(self) return self.a end), c = computed({ "x" }, function()
    declare(t, "c", { "x" }, function() return "new" end)
    return "old"
  end) }
  = t.c                                           --! the getter of 'c' redeclared it$
  = obs.is_valid(t, "c")                          --> false
]])
example("Z14: a property redeclared while its getter waited uses the new declaration", "t.b", [[
  local t = { x = 1 }
  obs.computed(t, "a", { "x" }, function(self)
    obs.computed(t, "b", { "x" }, function() return "new" end)
    return self.x
  end)
  obs.computed(t, "b", { "a" }, function() return "old" end)  --> new
]])
each("Z14: all properties under computation may be removed", "t.c, t.a, t.b", [[
  local t = object { x = 1, a = computed({ "x" }, function(self)
    obs.forget(self)
    collectgarbage()
    return self.x
  end), b = computed({ "a" }, function(self) return self.a end),
    c = computed({ "b" }, function(self) return self.b end) }  --> nil nil nil
]])
each("a comparison may remove the declaration, or end its watcher", "calls", [[
  local t = object { x = 1, a = computed({ "x" }, function(self) return self.x end) }
  calls = 0
  local function count() calls = calls + 1 end
  obs.observe(t, "a", count, { equals = function() obs.forget(t, "a") return false end })
  t.x = 2
  obs.flush()                                     --> 1
  declare(t, "b", { "x" }, function(self) return self.x end)
  for _, immediate in ipairs { true, false } do
    local watcher
    watcher = obs.observe(t, "b", count, { immediate = immediate, equals = function()
      watcher:stop()
      collectgarbage()
      return false
    end })
    t.x = t.x + 1
    obs.flush()                                   --> 1
  end
]])
check("Z13: a long chain of properties without values is an error, not a crash", function()
  local first = { v = 1 }
  local last = first
  for _ = 1, 20000 do
    local node = { previous = last }
    obs.lazy(node, "v", {
      get = function(self) return self.previous.v + 1 end, deps = { "previous.v" }, cached = false,
    })
    last = node
  end
  eq(pcall(function() return last.v end), false)
  reporting(function()
    obs.observe(last, "v", nothing)
    first.v = 2
    obs.flush()
  end)
  eq(#reports, 1)
end)
check("getters that run in a write may end their watchers", function()
  for _ = 1, 5 do
    local t, watchers = { x = 1 }, {}
    obs.computed(t, "v", { "x" }, function(self)
      if self.x > 1 then
        for i = 1, #watchers do watchers[i]:stop() end
        obs.forget(t)
        collectgarbage()
      end
      return self.x
    end)
    for i = 1, 5 do
      watchers[i] = obs.observe(t, { "v", "*" }, nothing, { immediate = i % 2 == 0 })
    end
    t.x = 2
    obs.flush()
    obs.describe(t)
    eq(t.v, nil)
  end
end)

finish()
