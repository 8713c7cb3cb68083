-- Rules Z, B3 and T12: effects of getters and comparisons on properties under computation.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function each_kind(body)
  body(function(t, name, get) obs.computed(t, name, { "x" }, get) end)
  body(function(t, name, get) obs.computed(t, name, get) end)
end

check("a script cannot resume a waiting getter", function()
  local t, waiting, results = { x = 1 }, nil, nil
  obs.computed(t, "a", { "x" }, function(self)
    results = {
      coroutine.status(waiting), select("#", coroutine.resume(waiting)),
      pcall(coroutine.close, waiting),
    }
    return self.x
  end)
  obs.computed(t, "b", function(self)
    waiting = coroutine.running()
    return self.a + 1
  end)
  obs.computed(t, "c", function(self) return self.b + 1 end)
  eq(t.c, 3)
  eq(results[1], "suspended")
  eq(results[2], 2)
  eq(results[3], false)
  eq(coroutine.resume(waiting), false)
  t.x = 2
  eq(t.c, 4)
end)

check("a getter that removes its declaration stores nothing", function()
  each_kind(function(declare)
    local t = { x = 1 }
    declare(t, "a", function()
      obs.forget(t, "a")
      t.a = "plain"
      return "computed"
    end)
    eq(t.a, "plain")
    eq(rawget(t, "a"), "plain")
  end)
end)

check("… and its number may go to another property", function()
  each_kind(function(declare)
    local t = { x = 1 }
    declare(t, "a", function()
      obs.forget(t, "a")
      declare(t, "b", function() return 7 end)
      return {}
    end)
    eq(t.a, nil)
    eq(t.b, 7)
    eq(rawget(t, "a"), nil)
  end)
end)

check("a getter cannot redeclare its property", function()
  each_kind(function(declare)
    local t = { x = 1 }
    declare(t, "a", function()
      declare(t, "a", function() return "new" end)
      return "old"
    end)
    local ok, message = pcall(function() return t.a end)
    eq(ok, false)
    eq(message:match ": (.*)", "the getter of 'a' redeclared it")
    eq(obs.is_valid(t, "a"), false)
  end)
end)

check("a property redeclared while its getter waited uses the new declaration", function()
  local t = { x = 1 }
  obs.computed(t, "a", { "x" }, function(self)
    obs.computed(t, "b", { "x" }, function() return "new" end)
    return self.x
  end)
  obs.computed(t, "b", { "a" }, function() return "old" end)
  eq(t.b, "new")
end)

check("all properties under computation may be removed", function()
  each_kind(function(declare)
    local t = { x = 1 }
    declare(t, "a", function(self)
      obs.forget(t)
      collectgarbage()
      return self.x
    end)
    declare(t, "b", function(self) return self.a end)
    declare(t, "c", function(self) return self.b end)
    eq(t.c, nil)
    eq(t.a, nil)
    eq(t.b, nil)
  end)
end)

check("a comparison may remove the declaration, or end its watcher", function()
  local t, calls = { x = 1 }, 0
  obs.computed(t, "a", { "x" }, function(self) return self.x end)
  obs.observe(t, "a", function() calls = calls + 1 end, {
    equals = function()
      obs.forget(t, "a")
      return false
    end,
  })
  t.x = 2
  obs.flush()
  eq(calls, 1)
  obs.computed(t, "b", { "x" }, function(self) return self.x end)
  for _, immediate in ipairs { true, false } do
    local watcher
    watcher = obs.observe(t, "b", function() calls = calls + 1 end, {
      immediate = immediate,
      equals = function()
        watcher:stop()
        collectgarbage()
        return false
      end,
    })
    t.x = t.x + 1
    obs.flush()
    eq(calls, 1)
  end
end)

check("NaN equals NaN, also if the value was a table before", function()
  local t, calls = { x = 1 }, 0
  obs.computed(t, "a", { "x" }, function(self) return self.x == 1 and {} or 0 / 0 end)
  obs.observe(t, "a", function() calls = calls + 1 end)
  for x = 2, 4 do
    t.x = x
    obs.flush()
  end
  eq(calls, 1)
end)

check("… and if it was another number in between", function()
  local t, calls = { x = 1 }, 0
  obs.computed(t, "a", { "x" }, function(self) return self.x == 1 and 0 / 0 or 1 end)
  obs.observe(t, "a", function() calls = calls + 1 end)
  t.x = 2
  eq(t.a, 1)
  t.x = 1
  obs.flush()
  eq(calls, 0)
end)

check("a long chain of properties without values is an error, not a crash", function()
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
  local failures = 0
  obs.on_error(function() failures = failures + 1 end)
  obs.observe(last, "v", function() end)
  first.v = 2
  obs.flush()
  eq(failures, 1)
  obs.on_error(nil)
end)

check("an immediate watcher of all keys hears a property without a value", function()
  local t, calls = { x = 1 }, 0
  obs.lazy(t, "v", { get = function(self) return self.x end, deps = { "x" }, cached = false })
  obs.observe(t, "*", function() calls = calls + 1 end, { immediate = true })
  t.x = 2
  eq(calls > 0, true)
end)

check("getters that run in a write may end their watchers", function()
  for _ = 1, 5 do
    local t, calls = { x = 1 }, 0
    local watchers = {}
    obs.computed(t, "v", { "x" }, function(self)
      if self.x > 1 then
        for i = 1, #watchers do watchers[i]:stop() end
        obs.forget(t)
        collectgarbage()
      end
      return self.x
    end)
    for i = 1, 5 do
      watchers[i] = obs.observe(t, { "v", "*" }, function() calls = calls + 1 end, {
        immediate = i % 2 == 0,
      })
    end
    t.x = 2
    obs.flush()
    obs.describe(t)
    eq(t.v, nil)
  end
end)

finish()
