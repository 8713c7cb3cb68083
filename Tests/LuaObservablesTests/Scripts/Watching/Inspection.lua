-- Rules W1–W5, as a script sees them.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/collecting.lua")

function observed(t) return table.concat(obs.observed_keys(t), ",") end
count = obs.observer_count

-- W1
example("W1, Z4: a query loses no call behind an element that was the first one before", "n()", [[
  for _, asks in ipairs { false, true } do
    local first, other = {}, {}
    local list = obs.array { first }
    local n = counter(list, "@first.a")
    list:set { other }
    if asks then obs.observed_keys(other) end
    first.a = true
    list:set { first }            --> 1
    list:set { other }
    if asks then obs.observed_keys(other) end
    other.a = 1
    list:set { first }            --> 0
  end
]])
example("W1: observed keys are strings, and follow replaced objects at once",
  "observed(t), observed(t.u)", [[
  local t = { "a", "b", u = { x = 1 } }
  local w = obs.observe(t, { "name", "*", "#3", "u.x" }, nothing)  --> #3,*,name,u x
  local old = t.u
  t.u = { x = 2 }                 --> #3,*,name,u x
  = observed(old) == "", count(old, "x"), count(t.u, "x")              --> true 0 1
  w:stop()
  = observed(t) .. observed(t.u) == ""    --> true
  t = { {}, {}, u = {} }
  obs.observe(t, "2", nothing)
  = observed(t), count(t, "2")        --> 2 1
]])
example("W1: observer counts are numbers of paths that pass through",
  "count(t, 'a'), count(t.a, 'x')", [[
  local t = { 1, 2, a = { x = 1 } }
  obs.observe(t, { "a", "a.x" }, nothing)
  obs.observe(t, "a.x", nothing)  --> 3 2
  = count(t, "b"), count({}, "b"), count(t, "*")  --> 0 0 0
  obs.stop(t, "a.x")              --> 1 0
  obs.observe(t, "#2", nothing)
  obs.observe(t, "*", nothing)
  = count(t, 2), count(t, "#2"), count(t, "*")    --> 1 1 1
]])
example("W1: the hook is called for 0 to 1 and 1 to 0, after construction, and may observe",
  "told()", [[
  local note, told = recorder()
  local t = {}
  obs.on_observed(t, function(o, key, on)
    note(key, on, o == t, count(o, key))
    if key == "c" and on then obs.observe(o, "d", nothing) end
  end)
  local a, b = obs.observe(t, "a", nothing), obs.observe(t, "a", nothing)  --> a true true 1
  obs.observe(t, "*", nothing)    --> * true true 1
  a:stop()                        --> -
  b:stop()                        --> a false true 0
  obs.observe(t, "c", nothing)    --> c true true 1 d true true 1
  obs.on_observed(t, nil)
  obs.stop(t)                     --> -
]])
turns("W1: the hook is called for wiring through a path, and for replaced objects", function()
  local note, told = recorder()
  local t = { u = { x = 1 } }
  obs.on_observed(t.u, function(_, key, on) note(key, on) end)
  obs.observe(t, "u.x", nothing)
  eq(told(), "x true")
  t.u = {}
  turn()
  eq(told(), "x false")
end)
check("W1: an error in the hook is reported", function()
  local t = {}
  reporting(function()
    obs.on_observed(t, function() error "hook failed" end)
    obs.observe(t, "a", nothing)
  end)
  eq(#reports, 1)
  has(tostring(reports[1].error), "hook failed")
end)

-- W2
check("W2: describe lists the observers with name, place and path", function()
  local t = { u = { x = 1 } }
  has(obs.describe(t), "not observed")
  obs.observe(t, "u.x", nothing, { name = "the name" }); local place = here()
  obs.observe(t, { "u", "*" }, nothing, { immediate = true, once = true })
  local line = "the name on 'u.x', registered at " .. place
  for _, part in ipairs { line, "immediate", "once", "*", "u" } do has(obs.describe(t), part) end
  has(obs.describe(t.u), "x\n    " .. line)
end)
example("the functions reject what they do not take", nil, [[
  obs.describe()                  --! table
  obs.observed_keys()             --! table
  obs.observer_count("x", "y")    --! table
  obs.observer_count({})          --! key
  obs.why({})                     --! watcher
  obs.whynot()                    --! watcher
  obs.log(5)                      --! function
  obs.limits({ retriger_turns = 5 })      --! 'retriger_turns'.*retrigger_turns
  obs.limits({ immediate_depth = "x" })   --! immediate_depth
  obs.limits({ immediate_depth = 0 })     --! immediate_depth
  obs.limits(5)                   --! table
  = obs.limits().retrigger_turns, obs.limits().immediate_depth  --> 1000 100
]])

-- W4
check("W4: without a record, why and whynot know the first write, and say so", function()
  local t = {}
  local w = obs.observe(t, "a", nothing, { name = "w" })
  local answer, text = obs.whynot(w)
  eq(answer.reason, "unwritten")
  has(text, "record")
  t.a = 1; local place = here()
  t.a = 2
  obs.flush()
  local writes
  writes, text = obs.why(w)
  eq(shown(#writes, writes[1].site), "1 " .. place)
  for _, part in ipairs { place, "w", "record" } do has(text, part) end
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
  t.a = 3; local third = here()
  obs.flush()
  local writes, text = obs.why(w)
  eq(#writes, 3)
  for i, expected in ipairs { { "a", first }, { "x", second }, { "a", third } } do
    eq(shown(writes[i].key, writes[i].site), shown(table.unpack(expected)))
    eq(math.type(writes[i].turn), "integer")
    has(text, expected[2])
  end
  has(text, "named")
  t.a = 4; third = here()
  obs.flush()
  writes = obs.why(w)
  eq(shown(#writes, writes[1].site), "1 " .. third)
end)
check("W4: whynot: unwritten, equal, pending, paused, stopped, unreachable", function()
  local t, w = { a = 1 }, nil
  local function is(reason, part)
    local answer, text = obs.whynot(w)
    eq(answer.reason, reason)
    has(text, part)
  end
  w = obs.observe(t, "a", nothing)
  is("unwritten", "nothing on its paths")
  t.a = 1; local place = here()
  obs.flush()
  is("equal", place)
  t.a = 2
  is("pending", "pending")
  obs.flush()
  w:pause()
  is("paused", "paused")
  w:resume()
  w:stop(); place = here()
  is("stopped", place)
  w = obs.observe(t, "a", nothing)
  obs.stop(t); place = here()
  is("stopped", place)
  w = obs.observe(t, "a", nothing, { once = true })
  t.a = 3
  obs.flush()
  is("stopped", "it has ended")
  eq(#obs.why(w), 1)
  w = obs.observe({}, "a", nothing)
  collectgarbage()
  is("stopped", "it has ended")
  w = obs.observe({}, "user.name", nothing)
  is("unreachable", "'user'")
  t = { l = { { x = 1 }, { x = 2 } } }
  w = obs.observe(t, "l.2.x", nothing)
  t.l = { { x = 1 } }
  obs.flush()
  is("unreachable", "unreachable at '2'")
end)
obs.record(false)

-- W5
check("W5: log reports every write, call, registration and end", function()
  local t, note, told = { a = 1 }, recorder()
  obs.log(function(e) note(e.kind, e.path or e.key or "-", e.name or "-", e.site) end)
  local w = obs.observe(t, "a", nothing, { name = "w" }); local place = here()
  t.a = 2; local first = here()
  t.b = 5 -- not observed
  obs.flush()
  t.a = 2; local second = here()
  w:stop()
  obs.log(nil)
  eq(told(), ("observe a w %s write a - %s call - w %s write a - %s end - w %s"):format(
    place, first, place, second, place))
  t.a = 9
  obs.observe(t, "a", nothing):stop()
  eq(told(), "-")
end)
example("W5: an error in the sink is reported, and a sink that writes does not recurse",
  "n < 100", [[
  local t, n = { count = 0 }, 0
  reporting(function()
    obs.log(function() error "sink" end)
    obs.observe(t, "count", nothing)
    t.count = 1
    obs.flush()
  end)
  has(tostring(reports[1].error), "sink")
  obs.log(function() n = n + 1; t.count = t.count + 1 end)
  t.count = 1
  for _ = 1, 20 do obs.flush() end
  obs.log(nil)
  obs.stop(t)                     --> true
]])

-- Statistics
turns("stats counts watchers, observed objects, pending and finished calls, and errors", function()
  local function changes(before)
    local now, texts = obs.stats(), {}
    for i, field in ipairs { "watchers", "observed", "pending", "calls", "errors" } do
      texts[i] = now[field] - before[field]
    end
    return shown(table.unpack(texts))
  end
  collect()
  turn()
  local before = obs.stats()
  for _, field in ipairs { "turns", "seconds" } do eq(type(before[field]), "number") end
  local t = { u = {} }
  local w = obs.observe(t, "u.x", function() if t.u.x == 2 then error "x" end end)
  eq(changes(before), "1 2 0 0 0")
  t.u.x = 1
  eq(changes(before), "1 2 1 0 0")
  obs.flush()
  eq(changes(before), "1 2 0 1 0")
  reporting(function()
    t.u.x = 2
    obs.flush()
  end)
  eq(changes(before), "1 2 0 2 1")
  w:stop()
  turn()
  eq(changes(before), "0 0 0 2 1")
end)

finish()
