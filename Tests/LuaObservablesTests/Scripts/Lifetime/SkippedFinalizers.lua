-- Lua skips a finalizer that it has no room to call. Watchers of the object end all the same.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/collecting.lua")

-- Runs `body` at a depth where one more nested call is an error, so that collections skip all
-- finalizers.
local function at_the_limit(body)
  -- The recursion allocates memory, which must not start a collection.
  collectgarbage "stop"
  local function deep() if not pcall(deep) then body() end end
  -- If a coroutine could yield, an error would return to its beginning.
  string.gsub("x", "x", function() deep() end)
  collectgarbage "restart"
end
-- Collects garbage without running any finalizer.
local function skip() at_the_limit(collect) end
local function count()
  obs.flush()
  local stats = obs.stats()
  return stats.watchers, stats.observed
end
-- Checks that the statistics are unchanged once everything from `make` is garbage.
local function leaves_nothing(make)
  collect()
  local watchers, nodes = count()
  for _ = 1, 10 do make() end
  skip()
  local w, n = count()
  eq(w, watchers)
  eq(n, nodes)
end

check("the limit is one: a finalizer does not run there", function()
  local ran = false
  for _ = 1, 2 do setmetatable({}, { __gc = function() ran = true end }) end
  skip()
  collectgarbage()
  eq(ran, false)
end)
-- Each makes objects with watchers.
local model, kept = obs.model("Point", { x = 1, y = 2 }), { __index = { b = 1 } }
for sentence, make in pairs {
  ["a key"] = function() obs.observe({ a = 1 }, "a", nothing) end,
  ["a path"] = function() obs.observe({ a = { b = 1 } }, "a.b", nothing) end,
  ["elements"] = function() obs.observe({ { 1 }, { 2 } }, "*.1", nothing) end,
  ["an array"] = function() obs.observe(obs.array { {}, {} }, "1", nothing) end,
  ["a set"] = function() obs.observe(obs.set_of { 1 }, "count", nothing) end,
  ["an operator"] = function() obs.observe({ { n = 1 } }, "@sum.n", nothing) end,
  ["many keys"] = function()
    local t = {}
    for i = 1, 40 do
      obs.observe(t, "k" .. i, nothing)
      obs.observe(t, obs.path(-i), nothing)
    end
  end,
  ["a metatable that ends with its tables"] = function()
    local class = { __index = {} }
    for _ = 1, 3 do obs.observe(setmetatable({ a = 1 }, class), "a", nothing) end
  end,
  ["a metatable that outlives its tables"] = function()
    for _ = 1, 3 do obs.observe(setmetatable({ a = 1 }, kept), "a", nothing) end
  end,
  ["an instance"] = function() obs.observe(model {}, "x", nothing) end,
  ["lazy properties"] = function()
    local t = { a = 1 }
    obs.computed(t, "b", { "a" }, function() return t.a + 1 end)
    obs.computed(t, "c", function(self) return self.b + 1 end)
    obs.observe(t, "c", nothing)
    eq(t.c, 3)
  end,
} do
  check("L3: watchers end, and with them their nodes: " .. sentence, function()
    leaves_nothing(make)
  end)
end
check("L7: a metatable works for other tables afterwards", function()
  kept.__len = function() return 7 end
  eq(#setmetatable({}, kept), 7)
end)
check("watchers freed in steps can be stopped between any two steps", function()
  local _, nodes = count()
  local handles = {}
  for i = 1, 300 do
    local t = {}
    for key = 1, 12 do handles[#handles + 1] = obs.observe(t, "k" .. key, nothing) end
  end
  at_the_limit(function() collectgarbage() end)
  for _, handle in ipairs(handles) do
    at_the_limit(function() collectgarbage("step") end)
    handle:stop()
    eq(handle.active, false)
  end
  collect()
  local _, now = count()
  eq(now, nodes)
end)
check("getters continue in their coroutines", function()
  local function chain(length)
    local t = { p0 = 1 }
    for i = 1, length do
      local before = "p" .. i - 1
      obs.computed(t, "p" .. i, function(self) return self[before] + 1 end)
    end
    return t
  end
  leaves_nothing(function() eq(chain(300).p300, 301) end)
  local kept = chain(300)
  eq(kept.p300, 301)
  leaves_nothing(function() eq(chain(300).p300, 301) end)
  kept.p0 = 2
  eq(kept.p300, 302)
end)
check("the number and place of an ended watcher are reused", function()
  for round = 1, 20 do
    local calls, tables = 0, {}
    for i = 1, 50 do
      obs.observe({ a = 1 }, "a", nothing)
      tables[i] = { a = 1 }
      obs.observe(tables[i], "a", function() calls = calls + 1 end)
    end
    skip()
    for i = 1, 50 do tables[i].a = 2 end
    obs.flush()
    eq(calls, 50)
  end
end)
turns("L3: an on_end that Lua has freed is reported", function()
  local called = 0
  local function make()
    obs.observe({ a = 1 }, "a", nothing, { on_end = function() called = called + 1 end })
    obs.observe({ a = 1 }, "a", nothing, { on_end = nothing, observer = {} })
  end
  reporting(function()
    make()
    skip()
    turn()
    turn()
    eq(called, 0)
    eq(#reports, 1)
    has(tostring(reports[1].error), "cannot be called")
    has(reports[1].where.name, "on_end of ")
  end)
end)
turns("L3: observers that die afterwards are noticed", function()
  for _ = 1, 3 do skip() end
  local watchers = count()
  local t = {}
  local function make() obs.observe(t, "a", nothing, { observer = {} }) end
  for _ = 1, 10 do make() end
  collect()
  turn()
  eq((count()), watchers)
end)
check("L8: a table that returns after a skipped finalizer can be observed again", function()
  local saved, first, second = nil, 0, 0
  -- An object with a finalizer stays a weak key until it is freed, and its contents stay, too.
  local holders = setmetatable({}, { __mode = "k" })
  local function make()
    local t = { a = 1 }
    obs.observe(t, "a", function() first = first + 1 end)
    holders[setmetatable({ t }, { __gc = nothing })] = true
  end
  make()
  at_the_limit(function() collectgarbage() end)
  for holder in pairs(holders) do saved = holder[1] end
  obs.observe(saved, "a", function() second = second + 1 end)
  saved.a = 2
  obs.flush()
  eq(first, 0)
  eq(second, 1)
end)
finish()
