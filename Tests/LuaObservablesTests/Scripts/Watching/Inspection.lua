-- Rules W1–W4, as a script sees them.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function keys(t) return table.concat(obs.observed_keys(t), " ") end

-- W1
check("W1, Z4: a query loses no call behind an element that was the first one before", function()
  for _, asks in ipairs { false, true } do
    local first, other, calls = {}, {}, 0
    local list = obs.array { first }
    obs.observe(list, "@first.a", function() calls = calls + 1 end)
    list:set { other }
    if asks then obs.observed_keys(other) end
    first.a = true
    list:set { first }
    obs.flush()
    eq(calls, 1)
    list:set { other }
    if asks then obs.observed_keys(other) end
    other.a = 1
    list:set { first }
    obs.flush()
    eq(calls, 1)
  end
end)
check("W1: observed keys are strings", function()
  local t = { "a", "b", u = { x = 1 } }
  eq(keys(t), "")
  local w = obs.observe(t, { "name", "*", "#3", "u.x" }, nothing)
  eq(keys(t), "#3 * name u")
  eq(keys(t.u), "x")
  w:stop()
  eq(keys(t), "")
  eq(keys(t.u), "")
end)
check("W1: they follow replaced objects at once", function()
  local t = { u = { x = 1 } }
  obs.observe(t, "u.x", nothing)
  local old = t.u
  t.u = { x = 2 }
  eq(keys(old), "")
  eq(keys(t.u), "x")
  eq(obs.observer_count(old, "x"), 0)
  eq(obs.observer_count(t.u, "x"), 1)
end)
check("W1: digits are shown as digits", function()
  local t = { {}, {} }
  obs.observe(t, "2", nothing)
  eq(keys(t), "2")
  eq(obs.observer_count(t, "2"), 1)
end)
check("W1: observer counts are numbers of paths that pass through", function()
  local t = { a = { x = 1 } }
  obs.observe(t, { "a", "a.x" }, nothing)
  obs.observe(t, "a.x", nothing)
  eq(obs.observer_count(t, "a"), 3)
  eq(obs.observer_count(t.a, "x"), 2)
  eq(obs.observer_count(t, "b"), 0)
  eq(obs.observer_count({}, "b"), 0)
  eq(obs.observer_count(t, "*"), 0)
  obs.stop(t, "a.x")
  eq(obs.observer_count(t, "a"), 1)
end)
check("W1: counts of integer keys, by number and by #n", function()
  local t = { 1, 2 }
  obs.observe(t, "#2", nothing)
  eq(obs.observer_count(t, 2), 1)
  eq(obs.observer_count(t, "#2"), 1)
  obs.observe(t, "*", nothing)
  eq(obs.observer_count(t, "*"), 1)
end)
check("W1: the hook is called only for 0 to 1 and 1 to 0", function()
  local t, log = {}, {}
  obs.on_observed(t, function(o, key, on) assert(o == t); log[#log + 1] = key .. tostring(on) end)
  local a = obs.observe(t, "a", nothing)
  local b = obs.observe(t, "a", nothing)
  obs.observe(t, "*", nothing)
  a:stop()
  eq(table.concat(log, " "), "atrue *true")
  b:stop()
  eq(table.concat(log, " "), "atrue *true afalse")
  obs.stop(t)
  eq(table.concat(log, " "), "atrue *true afalse *false")
end)
check("W1: the hook runs after construction, and for wiring through a path", function()
  local t, log = { u = { x = 1 } }, {}
  obs.on_observed(t.u, function(o, key, on)
    log[#log + 1] = key .. tostring(on) .. obs.observer_count(o, key)
  end)
  obs.observe(t, "u.x", nothing)
  eq(table.concat(log, " "), "xtrue1")
  t.u = nil
  obs.flush()
end)
turns("W1: and when the object is replaced", function()
  local t, log = { u = { x = 1 } }, {}
  obs.on_observed(t.u, function(o, key, on) log[#log + 1] = key .. tostring(on) end)
  obs.observe(t, "u.x", nothing)
  t.u = {}
  turn()
  eq(table.concat(log, " "), "xtrue xfalse")
end)
check("W1: the hook may observe and stop itself", function()
  local t, n = {}, 0
  obs.on_observed(t, function(o, key, on)
    n = n + 1
    if key == "a" and on then obs.observe(t, "b", nothing) end
  end)
  obs.observe(t, "a", nothing)
  eq(n, 2)
  obs.on_observed(t, nil)
  obs.stop(t)
  eq(n, 2)
end)
check("W1: an error in the hook is reported", function()
  local t = {}
  reporting(function()
    obs.on_observed(t, function() error("hook failed") end)
    obs.observe(t, "a", nothing)
  end)
  eq(#reports, 1)
  assert(tostring(reports[1].error):find("hook failed"))
end)

-- W2
check("W2: describe lists the observers with name, place and path", function()
  local t = { u = { x = 1 } }
  has(obs.describe(t), "not observed")
  obs.observe(t, "u.x", nothing, { name = "the name" })
  local place = here(-1)
  obs.observe(t, { "u", "*" }, nothing, { immediate = true, once = true })
  local text = obs.describe(t)
  eq(type(text), "string")
  for _, part in ipairs { "the name", place, "u.x", "immediate", "once", "*", "u" } do
    has(text, part)
  end
  text = obs.describe(t.u)
  for _, part in ipairs { "the name", place, "u.x", "x" } do has(text, part) end
end)
check("W2: describe of an object that is not one is an error", function()
  fails("table", obs.describe, 5)
  fails("table", obs.describe)
  fails("table", obs.observed_keys)
  fails("table", obs.observer_count, "x", "y")
  fails("key", obs.observer_count, {})
end)

-- W4
check("W4: why without a record knows the first write, and says that recording is off", function()
  local t = {}
  local w = obs.observe(t, "a", nothing, { name = "w" })
  t.a = 1; local place = here()
  t.a = 2
  obs.flush()
  local writes, text = obs.why(w)
  eq(type(writes), "table")
  has(text, place)
  has(text, "w")
  has(text, "record")
  has(writes[1].site, place)
end)
check("W4: whynot without a record says that recording is off", function()
  local w = obs.observe({ }, "a", nothing)
  local answer, text = obs.whynot(w)
  eq(type(answer), "table")
  has(text, "record")
  local t = {}
  w = obs.observe(t, "a", nothing)
  t.a = 1; local place = here()
  obs.flush()
  answer, text = obs.whynot(w)
  eq(answer.reason, "called")
  has(text, place)
end)
obs.record(true)
check("W4: why shows the writes behind the last call", function()
  local t = { u = { x = 1 } }
  local w = obs.observe(t, { "a", "u.x" }, nothing, { name = "named" })
  t.a = 1; local first = here()
  t.u.x = 2; local second = here()
  t.a = 3
  obs.flush()
  local writes, text = obs.why(w)
  eq(#writes, 3)
  eq(writes[1].site, first)
  eq(writes[1].key, "a")
  eq(writes[2].site, second)
  eq(writes[2].key, "x")
  eq(math.type(writes[1].turn), "integer")
  has(text, first)
  has(text, second)
  has(text, "named")
  t.a = 4; local third = here()
  obs.flush()
  writes = obs.why(w)
  eq(#writes, 1)
  eq(writes[1].site, third)
end)
check("W4: whynot: equal, unreachable, paused, stopped, pending", function()
  local t = { a = 1 }
  local w = obs.observe(t, "a", nothing)
  t.a = 1; local place = here()
  obs.flush()
  local answer, text = obs.whynot(w)
  eq(answer.reason, "equal")
  has(text, place)
  t.a = 2
  answer, text = obs.whynot(w)
  eq(answer.reason, "pending")
  has(text, "pending")
  obs.flush()
  w:pause()
  answer, text = obs.whynot(w)
  eq(answer.reason, "paused")
  has(text, "paused")
  w:resume()
  w:stop(); place = here()
  answer, text = obs.whynot(w)
  eq(answer.reason, "stopped")
  has(text, place)
  w = obs.observe({}, "user.name", nothing)
  answer, text = obs.whynot(w)
  eq(answer.reason, "unreachable")
  has(text, "'user'")
end)
check("W4: a watcher that obs.stop ended shows where", function()
  local t = {}
  local w = obs.observe(t, "a", nothing)
  obs.stop(t); local place = here()
  local answer, text = obs.whynot(w)
  eq(answer.reason, "stopped")
  has(text, place)
end)
check("W4: a once watcher that ended, and one whose object died", function()
  local t = {}
  local w = obs.observe(t, "a", nothing, { once = true })
  t.a = 1
  obs.flush()
  eq(obs.whynot(w).reason, "stopped")
  local v = obs.observe({}, "a", nothing)
  collectgarbage()
  eq(obs.whynot(v).reason, "stopped")
  local writes = obs.why(w)
  eq(#writes, 1)
end)
obs.record(false)
check("W4: both expect a watcher", function()
  fails("watcher", obs.why, {})
  fails("watcher", obs.whynot)
end)

-- log
check("log reports every write, call, registration and end", function()
  local t, events = { a = 1 }, {}
  obs.log(function(e) events[#events + 1] = e end)
  local w = obs.observe(t, "a", nothing, { name = "logged" }); local place = here()
  t.a = 2; local write = here()
  t.b = 5 -- not observed
  obs.flush()
  t.a = 2
  w:stop()
  obs.log(nil)
  local kinds = {}
  for i, e in ipairs(events) do kinds[i] = e.kind end
  eq(table.concat(kinds, " "), "observe write call write end")
  eq(events[1].path, "a")
  eq(events[1].name, "logged")
  eq(events[1].site, place)
  eq(events[2].key, "a")
  eq(events[2].site, write)
  eq(events[3].name, "logged")
  eq(events[5].name, "logged")
  local n = #events
  t.a = 9
  obs.observe(t, "a", nothing):stop()
  eq(#events, n)
end)
check("log: an error in the sink is reported, and nothing recurses", function()
  local t = {}
  reporting(function()
    obs.log(function() error("sink") end)
    obs.observe(t, "a", nothing)
    t.a = 1
    obs.flush()
    obs.log(nil)
  end)
  assert(#reports >= 1)
  assert(tostring(reports[1].error):find("sink"))
end)
check("log: a sink that writes an observed key doesn't recurse", function()
  local t, n = { count = 0 }, 0
  obs.log(function() n = n + 1; t.count = t.count + 1 end)
  obs.observe(t, "count", nothing)
  t.count = 1
  for _ = 1, 20 do obs.flush() end
  obs.log(nil)
  obs.stop(t)
  assert(n < 100, n)
end)
check("log takes a function", function() fails("function", obs.log, 5) end)

-- limits, stats
check("limits: an unknown or wrong one is an error", function()
  fails("retrigger_turns", obs.limits, { retriger_turns = 5 })
  fails("retriger_turns", obs.limits, { retriger_turns = 5 })
  fails("immediate_depth", obs.limits, { immediate_depth = "x" })
  fails("immediate_depth", obs.limits, { immediate_depth = 0 })
  fails("table", obs.limits, 5)
  local now = obs.limits()
  eq(now.retrigger_turns, 1000)
  eq(now.immediate_depth, 100)
end)
check("stats has its fields", function()
  collectgarbage() collectgarbage()
  while obs.flush() > 0 do end
  local s = obs.stats()
  local t = {}
  local w = obs.observe(t, "a", nothing)
  t.a = 1
  local r = obs.stats()
  eq(r.watchers, s.watchers + 1)
  eq(r.pending, s.pending + 1)
  obs.flush()
  r = obs.stats()
  eq(r.calls, s.calls + 1)
  eq(r.pending, 0)
  for _, field in ipairs {
    "turns", "calls", "watchers", "observed", "pending", "errors", "seconds",
  } do
    eq(type(r[field]), "number")
  end
  w:stop()
  eq(obs.stats().watchers, s.watchers)
  reporting(function()
    obs.observe(t, "a", function() error("x") end)
    t.a = 5
    obs.flush()
  end)
  eq(obs.stats().errors, s.errors + 1)
end)
turns("stats counts observed objects", function()
  collectgarbage() collectgarbage()
  turn()
  local before = obs.stats().observed
  local t = { u = {} }
  local w = obs.observe(t, "u.x", nothing)
  eq(obs.stats().observed, before + 2)
  w:stop()
  turn()
  eq(obs.stats().observed, before)
end)
check("W4: whynot names the missing component, digits too", function()
  local t = { l = { { x = 1 }, { x = 2 } }, a = {} }
  local function ignore() end
  local digits, names = obs.observe(t, "l.2.x", ignore), obs.observe(t, "a.b.c", ignore)
  t.l = { { x = 1 } }
  obs.flush()
  assert(obs.whynot(digits).detail:find("unreachable at '2'", 1, true))
  assert(obs.whynot(names).detail:find("unreachable at 'b'", 1, true))
end)

finish()
