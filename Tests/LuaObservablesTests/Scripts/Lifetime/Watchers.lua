-- Rules L1–L7, as a script sees them.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function collect()
  collectgarbage()
  collectgarbage()
end
-- A weak reference to what `make` returns.
local function weakly(make)
  return setmetatable({ make() }, { __mode = "v" })
end

check("L1: the handle need not be kept", function()
  local t, calls = {}, 0
  obs.observe(t, "a", function() calls = calls + 1 end)
  collect()
  t.a = 1
  obs.flush()
  eq(calls, 1)
end)
check("L1: keeping the handle keeps neither side alive", function()
  local w
  local weak = weakly(function()
    local t, o = {}, {}
    w = obs.observe(t, "a", nothing, { observer = o, name = "kept" })
    return t, o
  end)
  collect()
  eq(weak[1], nil)
  eq(weak[2], nil)
  eq(w.active, false)
  eq(w.name, "kept")
  w:stop()
  w:pause()
  w:resume()
  w:schedule()
  w:run()
  eq(w:observe("x"), w)
end)
check("L6: a paused watcher whose missed change refers to its object is freed with it", function()
  local options = { {}, { immediate = true } }
  local changes = {
    function(t) t.a = t end, function(t) t.a = { t } end,
    function(t) t.a = { t } t.a = nil end,
  }
  local ways = {
    function(t, o) return obs.observe(t, "a", nothing, o) end,
    function(t, o) return obs.observe(t, { "*", "a.a" }, nothing, o) end,
    function(t, o)
      obs.computed(t, "c", { "a" }, function(t) return { t } end)
      return obs.observe(t, "c", nothing, o)
    end,
    function(t, o) t.a = {} return obs.observe(t, { "a.@count", "b" }, nothing, o) end,
    function(t, o) return obs.observe_edits(t, nothing, o) end,
  }
  local weak = setmetatable({}, { __mode = "k" })
  for i, way in ipairs(ways) do
    for k, o in ipairs(options) do
      for n, change in ipairs(changes) do
        for _, is_first in ipairs { true, false } do
          (function()
            local t = {}
            weak[t] = ("%d %d %d %s"):format(i, k, n, is_first)
            local w = way(t, o)
            obs.batch(function()
              if is_first then w:pause() end
              change(t)
              w:pause()
            end)
          end)()
        end
      end
    end
  end
  -- The handles of the last change are recycled when the next one is saved.
  local other = {}
  local w = obs.observe(other, "a", nothing, { immediate = true })
  w:pause()
  other.a = {}
  obs.flush()
  collect()
  obs.flush()
  collect()
  local left = {}
  for _, text in pairs(weak) do left[#left + 1] = text end
  eq(table.concat(left, ", "), "")
end)
check("T9: a resumed immediate watcher receives the first change of the pause", function()
  local t = {}
  local log = {}
  local w = obs.observe(t, "a", function(_, _, change)
    log[#log + 1] = change
  end, { immediate = true })
  for _ = 1, 2 do
    local old, new = {}, {}
    t.a = old
    log = {}
    w:pause()
    t.a = new
    t.a = {}
    eq(#log, 0)
    w:resume()
    eq(#log, 1)
    eq(log[1].key, "a")
    eq(log[1].old, old)
    eq(log[1].new, new)
  end
end)
check("L2: between a write and its flush the observed object lives", function()
  local calls = 0
  do
    local t = {}
    obs.observe(t, "a", function(o) calls = calls + o.a end)
    t.a = 1
  end
  collect()
  eq(obs.flush(), 1)
  eq(calls, 1)
end)
check("L2: and dies afterwards", function()
  local weak = weakly(function()
    local t = {}
    obs.observe(t, "a", nothing)
    t.a = 1
    return t
  end)
  collect()
  assert(weak[1])
  obs.flush()
  collect()
  eq(weak[1], nil)
end)
check("L3: the observer dies, its watchers end silently", function()
  local t, calls = {}, 0
  local w
  do
    local o = {}
    w = obs.observe(t, "a", function() calls = calls + 1 end, {
      observer = o, on_end = function() calls = calls + 100 end,
    })
    t.a = 1
    obs.flush()
    eq(calls, 1)
  end
  collect()
  t.a = 2
  eq(obs.flush(), 0)
  eq(calls, 1)
  eq(w.active, false)
  eq(obs.observer_count(t, "a"), 0)
end)
check("L3: also when the observer dies while a call is pending", function()
  local t, calls = {}, 0
  do
    local o = {}
    obs.observe(t, "a", function() calls = calls + 1 end, { observer = o })
    obs.observe(t, "a", function() calls = calls + 1 end, { observer = o, immediate = true })
    t.a = 1
    eq(calls, 1)
  end
  collect()
  eq(obs.flush(), 0)
  t.a = 2
  eq(calls, 1)
end)
turns("L3: the observed dies: on_end receives the path in the next turn", function()
  local log = {}
  do
    local t = { b = {} }
    obs.observe(t, "a", nothing, { on_end = function(...) log[#log + 1] = table.pack(...) end })
    obs.observe(t, "b.c", nothing, {
      on_end = function(...) log[#log + 1] = table.pack(...) end, observer = log,
    })
  end
  collect()
  eq(#log, 0)
  turn()
  turn()
  eq(#log, 2)
  table.sort(log, function(x, y) return x[1] < y[1] end)
  eq(log[1][1], "a")
  eq(log[2][1], "b.c")
  eq(log[1].n, 1)
end)
turns("L3: on_end is not called when stopped, nor after the observer died", function()
  local calls = 0
  local function ended() calls = calls + 1 end
  do
    local t, u = {}, {}
    obs.observe(t, "a", nothing, { on_end = ended }):stop()
    obs.observe(t, "b", nothing, { on_end = ended })
    obs.stop(t)
    obs.observe(u, "a", nothing, { on_end = ended, once = true })
    u.a = 1
    turn()
  end
  collect()
  turn()
  turn()
  eq(calls, 0)
end)
turns("L3: an error in on_end is reported", function()
  reports = {}
  obs.on_error(function(e, where) reports[#reports + 1] = { error = e, where = where } end)
  do
    local t = {}
    obs.observe(t, "a", nothing, { on_end = function() error("late") end, name = "mine" })
  end
  collect()
  turn()
  turn()
  obs.on_error(nil)
  eq(#reports, 1)
  assert(tostring(reports[1].error):find("late"))
  assert(reports[1].where.name:find("mine"))
end)
check("L4: a middle that dies because it was held weakly is a change to nil", function()
  local t = setmetatable({}, { __mode = "v" })
  local calls, seen = 0, "?"
  obs.observe(t, "u.x", function(o) calls = calls + 1; seen = o.u end)
  do
    local u = { x = 1 }
    t.u = u
    obs.flush()
    eq(calls, 1)
    seen = nil
    u = nil
  end
  collect()
  eq(t.u, nil)
  obs.flush()
  eq(calls, 2)
  eq(seen, nil)
end)
check("L5: stopping a path that was never observed, or twice, is harmless", function()
  local t = {}
  eq(obs.stop(t), 0)
  eq(obs.stop(t, "a"), 0)
  eq(obs.stop(t, { observer = {} }), 0)
  eq(obs.stop(t, { callback = print }), 0)
  local w = obs.observe(t, "a", nothing)
  w:stop()
  w:stop()
  eq(obs.stop(t), 0)
end)
check("L5: registering the same twice: both are called, one stop ends both", function()
  local t, calls = {}, 0
  local function f() calls = calls + 1 end
  obs.observe(t, "a", f)
  obs.observe(t, "a", f)
  t.a = 1
  obs.flush()
  eq(calls, 2)
  eq(obs.stop(t, "a"), 2)
  t.a = 2
  obs.flush()
  eq(calls, 2)
end)
check("L5: stop by path takes it from every matching watcher, and counts pairs", function()
  local t = {}
  local n, w = counter(t, { "a", "b" })
  local m, v = counter(t, "a")
  eq(obs.stop(t, "a"), 2)
  assert(w.active and not v.active)
  t.a = 1
  eq(n(), 0)
  t.b = 1
  eq(n(), 1)
  eq(obs.stop(t, { "a", "b" }), 1)
  assert(not w.active)
end)
check("L5: without a filter all paths of all watchers are counted", function()
  local t = {}
  obs.observe(t, { "a", "b", "a" }, nothing)
  obs.observe(t, "c", nothing)
  obs.observe({}, "c", nothing)
  eq(obs.stop(t), 4)
  eq(obs.stop(t), 0)
end)
check("L5: filters by observer, callback and path, together", function()
  local t, o, p = {}, {}, {}
  local function f() end
  local function g() end
  local a = obs.observe(t, "a", f, { observer = o })
  local b = obs.observe(t, "a", g, { observer = o })
  local c = obs.observe(t, "a", f, { observer = p })
  local d = obs.observe(t, { "a", "b" }, f)
  eq(obs.stop(t, { path = "a", observer = o, callback = f }), 1)
  assert(not a.active and b.active and c.active and d.active)
  eq(obs.stop(t, { callback = f, path = { "b", "x" } }), 1)
  assert(d.active)
  eq(obs.stop(t, { observer = p }), 1)
  assert(not c.active)
  eq(obs.stop(t, { callback = f }), 1)
  assert(not d.active and b.active)
  eq(obs.stop(t, {}), 1)
  assert(not b.active)
end)
check("L5: stopping a path cancels no pending call of a watcher that keeps others", function()
  local t = { a = 1, items = { 1 }, list = obs.array { 1 } }
  obs.computed(t, "q", { "a" }, function(self) return self.a end)
  for _, path in ipairs { "a", "q", "items.@count", "items.@sum", "items.@first", "list.count" } do
    local n, w = counter(t, { "x", path })
    t.a, t.items[1], t.list[2] = t.a + 1, t.items[1] + 1, 1
    t.items[2] = 2
    eq(obs.stop(t, path), 1)
    eq(n(), 1)
    t.a, t.items[2], t.list[2] = t.a + 1, nil, nil
    eq(n(), 0)
    w:stop()
  end
end)

check("L5: … nor adds one for values that are the same again", function()
  local t = { a = 1, items = { 1 } }
  obs.computed(t, "q", { "a" }, function(self) return self.a > 0 end)
  local n = counter(t, { "x", "q", "items.@count", "items.@sum" })
  t.a, t.items[2] = 2, 2
  t.items[2] = nil
  eq(obs.stop(t, "q") + obs.stop(t, "items.@count") + obs.stop(t, "items.@sum"), 3)
  eq(n(), 0)
  t.x = 1
  eq(n(), 1)
end)

check("L5: … nor the call at the end of a batch", function()
  local t, log = { a = 1, items = { 1 } }, {}
  obs.computed(t, "q", { "a" }, function(self) return self.a end)
  for _, path in ipairs { "q", "items.@count", "items.@sum" } do
    obs.observe(t, { "x", path }, function(_, _, change)
      log[#log + 1] = change.path
    end, { immediate = true })
  end
  obs.batch(function()
    t.a, t.items[2] = 2, 2
    for _, path in ipairs { "q", "items.@count", "items.@sum" } do eq(obs.stop(t, path), 1) end
    eq(#log, 0)
  end)
  eq(table.concat(log, " "), "q items.@count items.@sum")
  t.x = 1
  eq(#log, 6)
end)

check("L5: a filter that is wrong is an error", function()
  fails("observr", obs.stop, {}, { observr = {} })
  fails("observer", obs.stop, {}, { observr = {} })
  fails("path", obs.stop, {}, 5)
  fails("function", obs.stop, {}, { callback = 5 })
  fails("table", obs.stop, 5)
end)
check("L6: callbacks that capture the observed object don't leak", function()
  local weak = weakly(function()
    local t, u = { n = { x = 1 } }, {}
    obs.observe(t, { "a", "n.x", "*" }, function() return t, u end)
    obs.observe(u, "a", function() return t, u end, { immediate = true })
    t.a = 1
    obs.flush()
    return t, u
  end)
  collect()
  eq(weak[1], nil)
  eq(weak[2], nil)
end)
turns("L6: nor do keys that are no longer watched, while others are", function()
  for _, other in ipairs { "a", "*" } do
    local t, n = { a = 1 }, 0
    obs.observe(t, other, function() n = n + 1 end)
    local weak = weakly(function()
      local key = {}
      obs.observe(t, obs.path(key), nothing):stop()
      return key
    end)
    turn()
    -- The path ends with its handle, and releases the key in the turn after.
    collect()
    turn()
    collect()
    eq(weak[1], nil)
    t.a = 2
    turn()
    eq(n, 1)
  end
end)
check("L6: nor do chains and rings of them", function()
  local alive = setmetatable({}, { __mode = "v" })
  do
    local ring = {}
    for i = 1, 100 do ring[i] = {} end
    for i = 1, 100 do
      alive[i] = ring[i]
      local other = ring[i % 100 + 1]
      obs.observe(ring[i], "a", function() return other end)
    end
  end
  collect()
  eq(next(alive), nil)
end)
check("L6: equals, on_end, name and observer don't leak either", function()
  local weak = weakly(function()
    local t, o = {}, {}
    obs.observe(t, "a", function() return t end, {
      observer = o, equals = function() return t == o end, on_end = function() return t end,
      name = "n",
    })
    return t, o
  end)
  collect()
  eq(weak[1], nil)
  eq(weak[2], nil)
end)
check("L6: an observer that is the observed", function()
  local weak = weakly(function()
    local t = {}
    obs.observe(t, "a", function() end, { observer = t })
    t.a = 1
    obs.flush()
    return t
  end)
  collect()
  eq(weak[1], nil)
end)
check("L6: 10,000 dropped objects leave no watchers", function()
  collect()
  local before = obs.stats().watchers
  for i = 1, 10000 do
    local t = { u = {} }
    obs.observe(t, { "a", "u.x" }, function() return t end)
  end
  collect()
  eq(obs.stats().watchers, before)
end)
check("L7: raw is a deep plain copy with its cycles", function()
  local t = { 1, 2, a = { b = 1 } }
  t.me, t.a.up = t, t
  obs.observe(t, { "*", "a.b" }, nothing)
  local r = obs.raw(t)
  assert(r ~= t and r.a ~= t.a and r.me == r and r.a.up == r)
  eq(r[2], 2)
  eq(r.a.b, 1)
  eq(#r, 2)
  eq(#obs.observed_keys(r), 0)
end)
check("L7: during pairs, the current key may be observed and stopped", function()
  local t = { 1, 2, 3, a = 1, b = 2, c = 3 }
  local seen = 0
  for k in pairs(t) do
    seen = seen + 1
    local w = obs.observe(t, obs.path(k), nothing)
    if seen % 2 == 0 then w:stop() end
  end
  eq(seen, 6)
  seen = 0
  for k in pairs(t) do
    seen = seen + 1
    t[k] = nil
    obs.stop(t, obs.path(k))
  end
  eq(seen, 6)
  eq(next(t), nil)
end)
check("a finalizer may write to observed tables", function()
  local t, calls, heard = {}, 0, 0
  obs.observe(t, "a", function() calls = calls + 1 end)
  obs.observe(t, "a", function() heard = heard + 1 end, { immediate = true })
  for i = 1, 10 do setmetatable({}, { __gc = function() t.a = (t.a or 0) + 1 end }) end
  collect()
  obs.flush()
  eq(t.a, 10)
  eq(heard, 10)
  eq(calls, 1)
end)
check("a finalizer may observe, stop and flush", function()
  local t, calls = {}, 0
  setmetatable({}, { __gc = function()
    obs.observe(t, "b", function() calls = calls + 1 end)
    t.b = 1
    obs.flush()
    obs.stop(t, "b")
    obs.batch(function() t.b = 2 end)
  end })
  collect()
  eq(calls, 1)
end)
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
check("L3: an observer that died first ends its watcher silently, without on_end", function()
  local observed, told = {}, false
  do
    local observer = {}
    obs.observe(observed, "a", nothing, {
      observer = observer, on_end = function() told = true end,
    })
  end
  collectgarbage()
  collectgarbage()
  observed = nil
  collectgarbage()
  collectgarbage()
  turns("L3: … nor in the next turn", function()
    turn()
    eq(told, false)
  end)
end)
-- L8

-- Drops the result of `make`. Stops the collector when that is condemned, but before its finalizers
-- run, which wait behind the finalizers of many objects.
local function condemn(make)
  local probe = setmetatable({}, { __mode = "v" })
  collectgarbage()
  collectgarbage("stop")
  collectgarbage("incremental", 1000, 40, 5)
  probe[1] = make()
  local waste = {}
  for i = 1, 5000 do waste[i] = setmetatable({}, { __gc = nothing }) end
  waste = nil
  repeat collectgarbage("step") until probe[1] == nil
end
local function restart()
  collectgarbage("incremental", 200, 100, 13)
  collectgarbage("restart")
  collectgarbage()
  collectgarbage()
end

check("L8: watchers of a dead table are not called, coalesced or immediate", function()
  reporting(function()
    local item, calls = { price = 1 }, 0
    local function count() calls = calls + 1 end
    condemn(function()
      local view = { item = item }
      obs.observe(view, "item.price", count)
      obs.observe(view, "item.price", count, { immediate = true })
      obs.observe(view, "*.price", count)
      obs.observe(view, "item.price", count, { equals = function() return false end })
      obs.computed(view, "twice", { "item.price" }, function(v) return v.item.price * 2 end)
      obs.observe(view, "twice", count)
      obs.observe(view, "twice", count, { immediate = true })
      return view
    end)
    item.price = 2
    eq(obs.flush(), 0)
    obs.batch(function() item.price = 3 end)
    eq(obs.flush(), 0)
    restart()
    item.price = 4
    eq(obs.flush(), 0)
    eq(calls, 0)
    eq(#reports, 0)
  end)
end)
check("L8: … nor do weak references to the table cause errors", function()
  reporting(function()
    local item, holder, calls = { price = 1 }, setmetatable({}, { __mode = "v" }), 0
    condemn(function()
      local view = { item = item }
      obs.computed(view, "twice", { "item.price" }, function(v) return v.item.price * 2 end)
      holder.view = view
      obs.observe(holder, "view.twice", function() calls = calls + 1 end)
      return view
    end)
    item.price = 2
    obs.flush()
    restart()
    obs.flush()
    eq(#reports, 0)
  end)
end)
check("L8: … nor do inspection functions fail", function()
  local item = { price = 1 }
  condemn(function()
    local view = { item = item }
    obs.observe(view, "item.price", nothing, { name = "gone" })
    obs.computed(view, "twice", { "item.price" }, function(v) return v.item.price * 2 end)
    return view, view.twice
  end)
  obs.describe(item)
  obs.graph(item)
  obs.observed_keys(item)
  obs.observer_count(item, "price")
  obs.log(nothing)
  item.price = 2
  obs.flush()
  obs.log(nil)
  obs.stats()
  restart()
  eq(obs.observer_count(item, "price"), 0)
end)
check("L8: a table that its own finalizer brings back receives missed changes", function()
  local item, saved, log = { price = 1 }, nil, {}
  condemn(function()
    local view = setmetatable({ item = item }, { __gc = function(view) saved = view end })
    obs.observe(view, "item.price", function(view) log[#log + 1] = view.item.price end)
    return view
  end)
  item.price = 2
  eq(obs.flush(), 0)
  restart()
  eq(obs.flush(), 1)
  saved.item.price = 3
  eq(obs.flush(), 1)
  saved.item = { price = 4 }
  eq(obs.flush(), 1)
  item.price = 5
  eq(obs.flush(), 0)
  eq(table.concat(log, ","), "2,3,4")
end)
turns("L8: views that are dropped while their items keep changing", function()
  local failure
  obs.on_error(function(e) failure = failure or tostring(e) end)
  for _, mode in ipairs { "incremental", "generational" } do
    collectgarbage(mode)
    local items, calls = {}, 0
    for i = 1, 100 do items[i] = { price = i } end
    local function count(view) calls = calls + view.item.price * 0 + 1 end
    for _ = 1, 150 do
      for i = 1, 20 do
        local view = { item = items[i * 5] }
        obs.observe(view, "item.price", count, { immediate = i % 5 == 0 })
      end
      for i = 1, 50 do
        local item = items[i * 2]
        item.price = item.price + 1
      end
      turn()
    end
    eq(failure, nil)
    assert(calls > 0)
  end
  obs.on_error(nil)
  collectgarbage("incremental")
end)
check("L8: an object with a hook and a watcher dies while another watcher is called", function()
  local t, dead = { n = 0 }, 0
  obs.observe(t, "n", function()
    for _ = 1, 20 do
      local view = { a = { b = 1 } }
      obs.on_observed(view, nothing)
      obs.observe(view, "a.b", nothing, { on_end = function() dead = dead + 1 end })
    end
    collectgarbage()
    collectgarbage()
  end)
  for i = 1, 5 do
    t.n = i
    obs.flush()
  end
  turns("L8: … and on_end is called for each", function()
    turn()
    eq(dead, 100)
  end)
end)
check("L7: a name that is removed from the metatable later", function()
  local class = { __name = "Account" }
  local t = setmetatable({}, class)
  obs.observe(t, "a", nothing)
  assert(tostring(t):find "^Account: ")
  class.__name = nil
  assert(tostring(t):find "^table: ")
  assert(select(2, pcall(function() return t + 1 end)):find "on a table value")
  class.__name = "Other"
  assert(tostring(t):find "^Other: ")
  class.__tostring = function() return "text" end
  eq(tostring(t), "text")
end)
check("L7: a __call that is removed again", function()
  local class = {}
  local t = setmetatable({}, class)
  obs.observe(t, "a", nothing)
  class.__call = function() return 1 end
  eq(t(), 1)
  class.__call = nil
  fails(":%d+: attempt to call a table value %(upvalue 't'%)$", function() t() end)
end)
check("L7: a write that __newindex handles is a change, without a comparison", function()
  local log = {}
  local t = setmetatable({}, {
    __newindex = function(self, key, value) rawset(self, "_" .. key, value) end,
  })
  local n = counter(t, "k")
  t.k = 1
  eq(t._k, 1)
  eq(n(), 1)
  obs.observe(t, "k", function(self, _, change)
    log[#log + 1] = ("%s %s %s %s"):format(change.key, change.old, change.new, self._k)
  end, { immediate = true, equals = function() return true end })
  t.k = 1
  eq(log[1], "k nil 1 1")
  eq(n(), 1)
  local other = {}
  local u = setmetatable({}, { __newindex = other })
  local m = counter(u, "k")
  u.k = 1
  eq(m(), 1)
  u.k = 1
  eq(m(), 1)
  eq(other.k, 1)
end)
check("L7: an error of a __newindex has the place of the assignment", function()
  local t = setmetatable({}, { __newindex = function() error("read-only", 2) end })
  obs.observe(t, "k", nothing)
  local line = debug.getinfo(1, "l").currentline + 1
  fails("Watchers.lua:" .. line .. ": read%-only", function() t.k = 1 end)
end)
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

finish()
