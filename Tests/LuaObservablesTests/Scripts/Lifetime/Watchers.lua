-- Rules L1–L5 and L7, as a script sees them. `Collected.lua` has L6, `Finalizers.lua` L8.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/collecting.lua")

example("L1: the handle need not be kept, and keeps neither side alive", "n()", [[
  local t, n = {}, nil
  do
    local u = t
    n = counter(u, "a")
  end
  collect()
  t.a = 1                           --> 1
  local w
  local weak = weakly(function()
    local t, o = {}, {}
    w = obs.observe(t, "a", nothing, { observer = o, name = "kept" })
    return t, o
  end)
  collect()
  = weak[1], weak[2], w.active, w.name  --> nil nil false kept
  for _, method in ipairs { "stop", "pause", "resume", "schedule", "run" } do w[method](w) end
  = w:observe("x") == w             --> true
]])
check("L1: the old value that an immediate watcher received is not kept alive", function()
  local t, calls = {}, 0
  local before = weakly(function()
    t.x = {}
    return t.x
  end)
  obs.computed(t, "y", { "x" }, function(self) return self.x end)
  obs.observe(t, "y", function() calls = calls + 1 end, { immediate = true })
  t.x = 1
  t.x = {}
  eq(calls, 2)
  collect()
  eq(before[1], nil)
end)
example("T9: a resumed immediate watcher receives the first change of the pause", "told()", [[
  local note, told = recorder()
  local t, old, new = {}, nil, nil
  local w = obs.observe(t, "a", function(_, _, change)
    note(change.key, change.old == old, change.new == new)
  end, { immediate = true })
  for _ = 1, 2 do
    old, new = {}, {}
    t.a = old
    told()
    w:pause()
    t.a = new
    t.a = {}                        --> -
    w:resume()                      --> a true true
  end
]])
check("L2: between a write and its flush the observed object lives, and dies afterwards", function()
  local calls = 0
  local weak = weakly(function()
    local t = {}
    obs.observe(t, "a", function(o) calls = calls + o.a end)
    t.a = 1
    return t
  end)
  collect()
  assert(weak[1])
  eq(obs.flush(), 1)
  eq(calls, 1)
  collect()
  eq(weak[1], nil)
end)
turns("L3: the observer dies: its watchers end silently, also while a call is pending", function()
  local t, calls = {}, 0
  local function count() calls = calls + 1 end
  local function on_end() calls = calls + 100 end
  local w, v
  do
    local o, p = {}, {}
    w = obs.observe(t, "a", count, { observer = o, on_end = on_end })
    v = obs.observe(t, "b", count, { observer = p, on_end = on_end })
    obs.observe(t, "b", count, { observer = p, immediate = true })
    t.a = 1
    obs.flush()
    t.b = 1
    eq(calls, 2)
  end
  collect()
  t.a, t.b = 2, 2
  eq(obs.flush(), 0)
  eq(calls, 2)
  eq(shown(w.active, v.active, obs.observer_count(t, "a")), "false false 0")
  t = nil
  collect()
  turn()
  turn()
  eq(calls, 2)
end)
turns("L3: the observed dies: on_end receives the path in the next turn, and errors of it are "
  .. "reported", function()
  local log = {}
  local function note(...) log[#log + 1] = shown(select("#", ...), ...) end
  reporting(function()
    do
      local t = { b = {} }
      obs.observe(t, "a", nothing, { on_end = note })
      obs.observe(t, "b.c", nothing, { on_end = note, observer = log })
      obs.observe(t, "a", nothing, { on_end = function() error "late" end, name = "mine" })
      -- It is not called for watchers that were stopped before.
      obs.observe(t, "d", nothing, { on_end = note }):stop()
      obs.observe(t, "e", nothing, { on_end = note })
      obs.stop(t, "e")
      obs.observe(t, "f", nothing, { on_end = note, once = true })
      t.f = 1
      turn()
    end
    collect()
    eq(#log, 0)
    turn()
    turn()
  end)
  table.sort(log)
  eq(table.concat(log, ", "), "1 a, 1 b.c")
  eq(#reports, 1)
  has(tostring(reports[1].error), "late")
  has(reports[1].where.name, "mine")
end)
check("L4: a middle that dies because it was held weakly is a change to nil", function()
  local t = setmetatable({}, { __mode = "v" })
  local note, told = recorder()
  obs.observe(t, "u.x", function(o) note(type(o.u)) end)
  do
    local u = { x = 1 }
    t.u = u
    eq(told(), "table")
    u = nil
  end
  collect()
  eq(t.u, nil)
  eq(told(), "nil")
end)

-- Stopping ----------------------------------------------------------------------------------------

example("L5: stopping twice, or what was never observed, is harmless; wrong filters are errors",
  nil, [[
  local t = {}
  = obs.stop(t), obs.stop(t, "a")                        --> 0 0
  = obs.stop(t, { observer = {} }), obs.stop(t, { callback = print })  --> 0 0
  local w = obs.observe(t, "a", nothing)
  w:stop()
  w:stop()
  = obs.stop(t)                                          --> 0
  obs.stop({}, { observr = {} })  --! unknown filter 'observr' %(did you mean 'observer'
  obs.stop({}, 5)                 --! path
  obs.stop({}, { callback = 5 })  --! function
  obs.stop(5)                     --! table
]])
example("L5: stop by path takes it from every matching watcher, and counts pairs",
  "n(), m(), w.active, v.active", [[
  local t = {}
  local n, w = counter(t, { "a", "b" })
  local m, v = counter(t, "a")
  t.a = 1                         --> 1 0 true true
  = obs.stop(t, "a")              --> 2
  t.a = 2                         --> 0 0 true false
  t.b = 1                         --> 1 0 true false
  = obs.stop(t, { "a", "b" })     --> 1
  t.b = 2                         --> 0 0 false false
  obs.observe(t, { "a", "b", "a" }, nothing)
  obs.observe(t, "c", nothing)
  obs.observe({}, "c", nothing)
  = obs.stop(t), obs.stop(t)      --> 4 0
]])
example("L5: filters by observer, callback and path, together",
  "a.active, b.active, c.active, d.active", [[
  local t, o, p = {}, {}, {}
  local function f() end
  local function g() end
  local a = obs.observe(t, "a", f, { observer = o })
  local b = obs.observe(t, "a", g, { observer = o })
  local c = obs.observe(t, "a", f, { observer = p })
  local d = obs.observe(t, { "a", "b" }, f)                  --> true true true true
  = obs.stop(t, { path = "a", observer = o, callback = f })  --> 1
  obs.flush()                                                --> false true true true
  = obs.stop(t, { callback = f, path = { "b", "x" } })       --> 1
  obs.flush()                                                --> false true true true
  = obs.stop(t, { observer = p })                            --> 1
  obs.flush()                                                --> false true false true
  = obs.stop(t, { callback = f })                            --> 1
  obs.flush()                                                --> false true false false
  = obs.stop(t, {})                                          --> 1
  obs.flush()                                                --> false false false false
]])
example("L5: stopping a path cancels no pending call of a watcher that keeps others", "n()", [[
  local t = { a = 1, items = { 1 }, list = obs.array { 1 } }
  obs.computed(t, "q", { "a" }, function(self) return self.a end)
  for _, path in ipairs { "a", "q", "items.@count", "items.@sum", "items.@first", "list.count" } do
    local n, w = counter(t, { "x", path })
    t.a, t.items[1], t.list[2] = t.a + 1, t.items[1] + 1, 1
    t.items[2] = 2
    = obs.stop(t, path), n()      --> 1 1
    t.a, t.items[2], t.list[2] = t.a + 1, nil, nil           --> 0
    w:stop()
  end
]])
example("L5: … nor adds one for values that are the same again", "n()", [[
  local t = { a = 1, items = { 1 } }
  obs.computed(t, "q", { "a" }, function(self) return self.a > 0 end)
  local n = counter(t, { "x", "q", "items.@count", "items.@sum" })
  t.a, t.items[2] = 2, 2
  t.items[2] = nil
  = obs.stop(t, "q"), obs.stop(t, "items.@count"), obs.stop(t, "items.@sum")  --> 1 1 1
  = n()                           --> 0
  t.x = 1                         --> 1
]])
example("L5: … nor cancels the call at the end of a batch", "told()", [[
  local note, told = recorder()
  calls = 0
  local t, paths = { a = 1, items = { 1 } }, { "q", "items.@count", "items.@sum" }
  obs.computed(t, "q", { "a" }, function(self) return self.a end)
  for _, path in ipairs(paths) do
    obs.observe(t, { "x", path }, function(_, _, change)
      calls = calls + 1
      note(change.path)
    end, { immediate = true })
  end
  obs.batch(function()
    t.a, t.items[2] = 2, 2
    for _, path in ipairs(paths) do agrees("1", "stop " .. path, obs.stop(t, path)) end
    = calls                       --> 0
  end)                            --> q items.@count items.@sum
  t.x = 1                         --> x x x
]])

-- Tables as scripts see them ----------------------------------------------------------------------

example("L7: raw is a deep plain copy with its cycles", "r[2], r.a.b, #r, #obs.observed_keys(r)", [[
  local t = { 1, 2, a = { b = 1 } }
  t.me, t.a.up = t, t
  obs.observe(t, { "*", "a.b" }, nothing)
  local r = obs.raw(t)            --> 2 1 2 0
  = r ~= t, r.a ~= t.a, r.me == r, r.a.up == r  --> true true true true
]])
example("L7: a name that is removed from the metatable later", "tostring(t):match '^%a+'", [[
  local class = { __name = "Account" }
  local t = setmetatable({}, class)
  obs.observe(t, "a", nothing)    --> Account
  class.__name = nil              --> table
  class.__name = "Other"          --> Other
  class.__tostring = function() return "text" end            --> text
]])
example("L7: a write that __newindex handles is a change, without a comparison", "n(), told()", [[
  local note, told = recorder()
  local t = setmetatable({}, {
    __newindex = function(self, key, value) rawset(self, "_" .. key, value) end,
  })
  local n = counter(t, "k")
  t.k = 1                         --> 1 -
  obs.observe(t, "k", function(self, _, change)
    note(change.key, change.old, change.new, self._k)
  end, { immediate = true, equals = function() return true end })
  t.k = 1                         --> 1 k nil 1 1
  local other = {}
  local u = setmetatable({}, { __newindex = other })
  n = counter(u, "k")
  for _ = 1, 2 do
    u.k = 1                       --> 1 -
  end
  = other.k                       --> 1
]])

-- The collector -----------------------------------------------------------------------------------

example("a finalizer may write to observed tables, and observe, stop and flush",
  "t.a, heard, n()", [[
  local t = {}
  heard = 0
  local n = counter(t, "a")
  obs.observe(t, "a", function() heard = heard + 1 end, { immediate = true })
  for i = 1, 10 do setmetatable({}, { __gc = function() t.a = (t.a or 0) + 1 end }) end
  collect()                       --> 10 10 1
  setmetatable({}, { __gc = function()
    obs.observe(t, "b", function() heard = heard + 1 end)
    t.b = 1
    obs.flush()
    obs.stop(t, "b")
    obs.batch(function() t.b = 2 end)
  end })
  collect()                       --> 10 11 0
]])
check("collecting inside everything", function()
  local t = { u = { x = 1 } }
  local function gc() collectgarbage() collectgarbage("step") end
  obs.observe(t, { "u.x", "*" }, gc, { on_end = gc })
  obs.observe(t, "u.x", gc, { immediate = true, equals = function(a, b) gc() return a == b end })
  obs.on_observed(t, gc)
  obs.batch(function() t.u = { x = 2 } gc() t.u.x = 3 end)
  obs.observe(t, "z", gc)
  obs.flush()
  obs.log(gc)
  t.u = { x = 5 }
  obs.flush()
  obs.log(nil)
  obs.stop(t)
  gc()
end)

finish()
