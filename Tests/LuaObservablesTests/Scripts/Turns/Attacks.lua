-- Misbehaving callbacks: nothing crashes, hangs, or is lost.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

check("a watcher that writes to a thousand others, each of which writes back", function()
  local hub, spokes, calls = { n = 0 }, {}, 0
  for i = 1, 1000 do
    spokes[i] = {}
    obs.observe(spokes[i], "v", function(s) calls = calls + 1; hub.n = hub.n + 1 end)
  end
  obs.observe(hub, "go", function() for i = 1, 1000 do spokes[i].v = i end end)
  hub.go = 1
  obs.flush()
  obs.flush()
  eq(calls, 1000)
  eq(hub.n, 1000)
end)
check("observing, stopping and collecting in the middle of a flush", function()
  local t = { n = 0 }
  for i = 1, 200 do
    obs.observe(t, "n", function(o)
      obs.stop(o, "k" .. i)
      obs.observe(o, "k" .. i, nothing)
      o["k" .. i] = i
      if i % 20 == 0 then collectgarbage() end
      local u = {}
      obs.observe(u, "x", nothing)
      u.x = 1
    end)
  end
  t.n = 1
  while obs.flush() > 0 do end
  eq(#obs.observed_keys(t), 201)
end)
story("the observed table changes its metatable in a callback", [[
  local t = { a = 1 }
  obs.observe(t, "a", function(o)
    setmetatable(o, { __index = { b = o.a } })
    note(o.b)
  end)
  for i = 2, 5 do
    t.a = i          --> 1
    eq(t.b, i)
    eq(getmetatable(t).__index.b, i)
  end
  setmetatable(t, nil)
  t.a = 9            --> 9
  eq(t.b, 9)
  -- A function that raises.
  local u = setmetatable({}, { __newindex = function(_, k) error("no " .. k) end })
  watch(u, "a")
  fails("no a", function() u.a = 1 end)
                      --> 0
  rawset(u, "a", 2)  --> 1
  u.a = 3            --> 1
]])
story("an __index function that writes, observes and raises", [[
  local t
  t = setmetatable({}, { __index = function(o, k)
    if k == "boom" then error("boom") end
    rawset(o, k, 1)
    obs.observe(o, k, nothing)
    return 1
  end })
  watch(t, { "a.b", "*" })
  eq(t.z, 1)  --> 1
  fails("boom", function() return t.boom end)
  obs.stop(t)
]])
check("callbacks with the strangest values", function()
  local t = {}
  local n = counter(t, "*")
  for _, v in ipairs {
    math.huge, -math.huge, math.mininteger, math.maxinteger, -0.0, 1e308, "", ("x"):rep(1e6), print,
    coroutine.create(print), io.stdout,
  } do
    t.v = v
    eq(n(), 1)
    eq(t.v, v)
  end
  t[math.mininteger], t[math.maxinteger], t[0], t[-1] = 1, 2, 3, 4
  eq(n(), 1)
  eq(t[math.maxinteger], 2)
  eq(t[math.mininteger], 1)
end)
story("paths of extreme numbers", [[
  local t = {}
  watch(t, "#9223372036854775807")
  t[math.maxinteger] = 1  --> #9223372036854775807
  local name = "99999999999999999999"
  obs.observe(t, name, nothing)
  fails("path", obs.observe, t, "#99999999999999999999", nothing)
  eq(obs.get(t, "#1"), nil)
  watch(t, "#0")
  t[0] = 1                --> #0
]])
check("handles are distinguished and cannot be forged", function()
  local w = obs.observe({}, "a", nothing)
  local p, timer = obs.path("a"), obs.after(0, nothing)
  for _, f in ipairs { w.stop, w.pause, w.run, obs.why, obs.whynot } do
    for _, x in ipairs { p, timer, {}, io.stdout, 5, "x" } do eq(pcall(f, x), false) end
  end
  eq(pcall(timer.stop, w), false)
  eq(pcall(obs.observe, {}, w, nothing), false)
  eq(pcall(obs.observe, w, "a", nothing), false)
  eq(pcall(obs.observe, p, "a", nothing), false)
  eq(getmetatable(w), false)
  local meta = debug.getmetatable(w)
  for name, f in pairs(meta) do
    if type(f) == "function" then
      pcall(f)
      pcall(f, 5)
      pcall(f, {}, "x")
      pcall(f, io.stdout, "x")
      pcall(f, p, "x")
    end
  end
  eq(debug.setmetatable(w, nil), w)
  pcall(obs.why, w)
  timer:stop()
end)
turns("recursion through writes and coroutines until the C stack is full", function()
  local t, told = { n = 0 }, {}
  obs.on_error(function(e) told[#told + 1] = tostring(e) end)
  local function deep(n)
    return coroutine.wrap(function()
      t.n = t.n + 1
      if n > 0 then return deep(n - 1) end
    end)()
  end
  obs.observe(t, "n", nothing, { immediate = true })
  pcall(deep, 300)
  obs.observe(t, "go", function() deep(300) end)
  t.go = 1
  turn()
  turn()
  obs.on_error(nil)
  assert(t.n > 0)
  assert(#told >= 1)
  for _, text in ipairs(told) do assert(text:find("overflow"), text) end
end)
check("stack overflow while writing, in and around watchers", function()
  local t, calls = { n = 0 }, 0
  obs.observe(t, "n", function() calls = calls + 1 end)
  reporting(function()
    local function down() t.n = t.n + 1; return 1 + down() end
    fails("overflow", down)
    obs.observe(t, "x", function() pcall(down) end, { immediate = true })
    t.x = 1
  end)
  obs.flush()
  assert(calls >= 1)
  t.n = -1
  obs.flush()
  local before = calls
  t.n = -2
  obs.flush()
  eq(calls, before + 1)
end)
check("errors of every kind in each kind of callback", function()
  local t, w = {}, nil
  local bad = {
    function() error() end, function() error(nil) end, function() error({}) end,
    function() local x = nil + 1 end, function() error("x", 2) end,
    function() error(("x"):rep(1e6)) end,
    function() coroutine.wrap(function() error("inner") end)() end,
    function() string.rep("x", -1)() end,
  }
  local expected = 0
  reporting(function()
    for _, f in ipairs(bad) do
      local u = {}
      obs.observe(u, "a", f)
      obs.observe(u, "a", f, { immediate = true })
      obs.observe(u, "b", nothing, { equals = f })
      obs.on_observed(u, f)
      u.a, u.b = 1, 1
      obs.flush()
      obs.observe(u, "c", nothing)
      expected = expected + 4
    end
  end)
  eq(#reports, expected)
end)
check("obs functions called from a hook set by debug.sethook", function()
  local t, n = {}, 0
  local w = obs.observe(t, "a", function() n = n + 1 end)
  local inside = false
  debug.sethook(function()
    if inside then return end
    inside = true
    t.a = (t.a or 0) + 1
    pcall(obs.flush)
    obs.observe(t, "b", nothing):stop()
    inside = false
  end, "c")
  for i = 1, 10 do tostring(i) end
  debug.sethook()
  assert(n > 0)
end)
check("stopping a watcher from the comparison of another, and its own", function()
  local t, calls = { a = 0 }, 0
  local w, v
  w = obs.observe(t, "a", function() calls = calls + 1 end, {
    equals = function() w:stop() return false end,
  })
  v = obs.observe(t, "a", function() calls = calls + 1 end, {
    immediate = true, equals = function() v:stop() return false end,
  })
  t.a = 1
  obs.flush()
  eq(calls, 0)
  eq(obs.observer_count(t, "a"), 0)
end)
check("a comparison that changes the table under it", function()
  local t, calls = { u = { x = 1 } }, 0
  obs.observe(t, "u.x", function() calls = calls + 1 end, {
    equals = function() t.u = nil; return false end,
  })
  t.u.x = 2
  obs.flush()
  assert(calls >= 1)
  t.u = { x = 1 }
  obs.flush()
end)
check("removing all fields in a loop while watchers observe and stop them", function()
  local t = {}
  for i = 1, 100 do t["k" .. i], t[i] = i, i end
  local n = 0
  obs.observe(t, "*", function(o, _, c)
    n = n + 1
    if n % 7 == 0 then obs.observe(o, obs.path(c.key), nothing) end
    if n % 11 == 0 then obs.stop(o, "k5") end
  end, { immediate = true })
  for k in pairs(t) do t[k] = nil end
  eq(next(t), nil)
  eq(n, 200)
end)
check("table functions with comparators and elements that misbehave, on observed lists", function()
  local t = {}
  for i = 1, 50 do t[i] = (i * 37) % 50 end
  local n = counter(t, { "*", "#3", "@count" })
  reporting(function()
    fails("", table.sort, t, function(a, b) t[1] = nil; return true end)
    fails("x", table.sort, t, function() error("x") end)
    pcall(table.sort, t, function(a, b) obs.stop(t); return a < b end)
    pcall(table.sort, t, function(a, b) obs.observe(t, "*", nothing); return a < b end)
    pcall(table.insert, t, 0, 1)
    pcall(table.insert, t, 1e9, 1)
    pcall(table.remove, t, -5)
    pcall(table.concat, t, {}, 1)
    pcall(table.move, t, 1, math.maxinteger, 2)
    pcall(table.unpack, t, 1, 1e8)
  end)
  while obs.flush() > 0 do end
end)
turns("a task that waits for a change returns when the watchers of its object end", function()
  local ways = {
    function(t) eq(obs.stop(t), 1) end,
    function(t) eq(obs.stop(t, "n"), 1) end,
    function(t)
      t.n = 1
      obs.stop(t)
    end,
  }
  for _, way in ipairs(ways) do
    local t, results, is_closed = { n = 0 }, nil, false
    local task = obs.task(function()
      local guard <close> = setmetatable({}, { __close = function() is_closed = true end })
      results = table.pack(obs.next_change(t, "n", 60))
      return "done"
    end)
    way(t)
    eq(results, nil)
    turn()
    turn()
    eq(results.n, 2)
    eq(results[1], nil)
    eq(results[2], "stopped")
    eq(is_closed, true)
    eq(task:await(), "done")
  end
end)
turns("a stopped wait does not disturb the next one", function()
  local t, log = { n = 0 }, {}
  local task = obs.task(function()
    for _ = 1, 3 do log[#log + 1] = tostring(obs.next_change(t, "n")) end
  end)
  obs.stop(t)
  turn()
  turn()
  t.n = 1
  turn()
  turn()
  obs.stop(t)
  turn()
  turn()
  eq(table.concat(log, " "), "nil true nil")
  eq(task.done, true)
end)
turns("a task that stops its own scope ends when it waits or returns, others at once", function()
  local log = {}
  local function closing(name)
    return setmetatable({}, { __close = function() log[#log + 1] = name end })
  end
  local scope, own, other, result
  scope = obs.scope(function()
    other = obs.task(function()
      local guard <close> = closing "other"
      obs.sleep(60)
    end)
    own = obs.task(function()
      local guard <close> = closing "own"
      obs.sleep(0)
      scope:stop()
      log[#log + 1] = "goes on"
      obs.sleep(60)
      log[#log + 1] = "never"
    end)
  end)
  local returning
  returning = obs.scope(function()
    result = obs.task(function()
      obs.sleep(0)
      returning:stop()
      return "result"
    end)
  end)
  turn()
  turn()
  turn()
  eq(table.concat(log, ", "), "other, goes on, own")
  eq(other.done and own.done, true)
  eq(result:await(), "result")
end)
turns("tasks cancelled from everywhere", function()
  local a, b
  a = obs.task(function() obs.sleep(0.01) end)
  b = obs.task(function() a:cancel(); obs.sleep(0); fails("cancel itself", b.cancel, b) end)
  local t = {}
  local c = obs.task(function() obs.next_change(t, "a") end)
  obs.observe(t, "a", function() c:cancel() end)
  t.a = 1
  turn()
  turn()
  eq(c.done, true)
  local d
  d = obs.task(function()
    local g <close> = setmetatable({}, { __close = function() error("in close") end })
    obs.sleep(1)
  end)
  reports = {}
  obs.on_error(function(e) reports[#reports + 1] = tostring(e) end)
  d:cancel()
  obs.on_error(nil)
  eq(#reports, 1)
  assert(reports[1]:find("in close"))
end)
turns("timers made and stopped in timers, thousands", function()
  local n = 0
  local function again(i)
    n = n + 1
    if i > 0 then
      local a = obs.after(0, function() again(i - 1) end)
      local b = obs.after(0, function() error("stopped") end)
      b:stop()
    end
  end
  for _ = 1, 20 do again(50) end
  obs.sleep(1)
  eq(n, 20 * 51)
end)
turns("10,000 tasks that sleep, and all wake", function()
  local n, count = 0, os.getenv "OBS_LIGHT" and 1000 or 10000
  for i = 1, count do obs.task(function() obs.sleep(0.001 * (i % 10)); n = n + 1 end) end
  obs.sleep(1)
  eq(n, count)
end)
turns("scopes that stop themselves, and raise while stopping", function()
  local log = ""
  local scope
  scope = obs.scope(function(s)
    s:add(function() log = log .. "1" end)
    s:add(function() error("two") end)
    s:add(function() s:stop(); log = log .. "3" end)
  end)
  fails("two", scope.stop, scope)
  eq(log, "31")
  local inner
  obs.scope(function(s) inner = s; s:stop(); obs.observe({}, "a", nothing) end)
end)
turns("waiting inside a scope's body is an error, and the scope is over", function()
  local t = {}
  fails("scope", obs.scope, function() obs.observe(t, "a", nothing); obs.sleep(0.01) end)
  eq(obs.observer_count(t, "a"), 0)
  local w = obs.observe(t, "b", nothing)
  assert(w.active)
end)
turns("on_error that raises each time, and one that writes the failing key", function()
  local t = { n = 0 }
  local told = 0
  obs.on_error(function() told = told + 1; t.n = t.n + 1; pcall(obs.flush) end)
  obs.limits { retrigger_turns = 10 }
  obs.observe(t, "n", function() error("again") end)
  t.n = 1
  turn()
  turn()
  obs.on_error(nil)
  obs.limits { retrigger_turns = 1000 }
  obs.stop(t)
  assert(told >= 10)
end)
finish()
