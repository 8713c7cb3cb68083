-- The functions of the script API: arguments, defaults, results, errors.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- observe
check("a dot in place of a colon, or the other way round, is a clear error", function()
  local t = {}
  fails("#3 to 'observe' .function expected, got string; it is called with a dot, as obs.observe%)",
    function() obs:observe(t, "a", nothing) end)
  fails("called with a dot, as obs.after", function() obs:after(1, nothing) end)
  fails("called with a dot, as obs.whynot", function() obs:whynot(obs.observe(t, "a", nothing)) end)
  fails("#1 to 'stop' .watcher expected, got no value; it is called with a colon, as w:stop..%)",
    function() obs.observe(t, "a", nothing).stop() end)
  local other = { observe = true, whynot = nothing }
  assert(not fails("function expected", obs.observe, other, "a", 5):find "dot")
end)
check("B5: functions refuse arguments that they do not take", function()
  local most = {
    abort = 1, after = 2, apply = 3, array = 1, assign = 2, await = 2, backed = 3, bind = 3,
    break_on_change = 2, changes = 3, clear = 1, computed = 4, copy_of = 3, describe = 1,
    dictionary = 1, diff = 2, every = 2, flush = 0, force = 1, forget = 2, get = 2, graph = 2,
    history = 2, inspect = 1, invalid_names = 1, invalidate = 2, invert = 1, is_valid = 2, lazy = 3,
    limits = 1, log = 1, merge = 3, mirror = 3, model = 3, native = 1, next_change = 3,
    next_turn = 1, now = 0, observe = 4, observe_edits = 3, observe_keys = 4, observed_keys = 1,
    observer_count = 2, on_error = 1, on_exit = 1, on_observed = 2, on_readable = 2,
    on_reload = 1, on_writable = 2, opaque = 1, peek = 2, raw = 2, record = 1, reload = 1,
    scope = 1, set = 3, set_of = 1, sleep = 1, start_recording = 2, state = 2, stats = 0, stop = 2,
    transaction = 2, trigger = 3, valid_names = 1, why = 1, whynot = 1,
  }
  local first = { array = {}, dictionary = {}, set_of = {}, scope = nothing }
  for name, value in pairs(obs) do
    local count = most[name]
    local takes_any = name == "batch" or name == "path" or name == "task"
    assert(type(value) ~= "function" or count or takes_any, name)
    if count then
      local arguments = { first[name] }
      for _, rest in ipairs { true, false } do
        arguments[count + 1] = rest
        fails(("bad argument #%d to '%s' %%(no value expected, got boolean%%)")
          :format(count + 1, name), value, table.unpack(arguments, 1, count + 1))
      end
    end
    most[name] = nil
  end
  eq(next(most), nil)
  obs.bind({}, {}, "a", nil)
  local w = obs.observe({}, "a", nothing)
  fails("bad argument #1 to 'pause' .no value expected, got number", w.pause, w, 1)
  fails("bad argument #2 to 'observe' .no value expected, got number", w.observe, w, "b", 1)
  local history = obs.history {}
  fails("bad argument #2 to 'mark' .no value expected, got number", history.mark, history, "a", 1)
end)
check("observe: a wrong argument is an error that names it", function()
  fails("bad argument #1 to 'observe'.*table", obs.observe, 5, "a", nothing)
  fails("bad argument #1 to 'observe'.*nil", obs.observe, nil, "a", nothing)
  fails("bad argument #1 to 'observe'.*string", obs.observe, "t", "a", nothing)
  fails("bad argument #1 to 'observe'.*function", obs.observe, print, "a", nothing)
  fails("bad argument #1 to 'observe'", obs.observe, io.stdout, "a", nothing)
  fails("bad argument #2 to 'observe'", obs.observe, {}, nil, nothing)
  fails("bad argument #2 to 'observe'", obs.observe, {}, 5, nothing)
  fails("bad argument #2 to 'observe'", obs.observe, {}, true, nothing)
  fails("bad argument #2 to 'observe'.*empty", obs.observe, {}, {}, nothing)
  fails("bad argument #2 to 'observe'", obs.observe, {}, { "a", 5 }, nothing)
  fails("bad argument #3 to 'observe'.*function", obs.observe, {}, "a")
  fails("bad argument #3 to 'observe'.*function", obs.observe, {}, "a", 5)
  fails("bad argument #3 to 'observe'.*function", obs.observe, {}, "a", {})
  fails("bad argument #4 to 'observe'.*table", obs.observe, {}, "a", nothing, 5)
  fails("unknown option 'imediate'.*immediate", obs.observe, {}, "a", nothing, { imediate = true })
  fails("unknown option 'Once'.*once", obs.observe, {}, "a", nothing, { Once = true })
  fails("unknown option 'zzz'", obs.observe, {}, "a", nothing, { zzz = true })
  fails("option", obs.observe, {}, "a", nothing, { "immediate" })
  fails("'observer'", obs.observe, {}, "a", nothing, { observer = 5 })
  fails("'equals'", obs.observe, {}, "a", nothing, { equals = 5 })
  fails("'name'", obs.observe, {}, "a", nothing, { name = {} })
  fails("'on_end'", obs.observe, {}, "a", nothing, { on_end = 5 })
end)
check("observe: errors carry the place of the caller", function()
  local place = here(1)
  local message = fails("", obs.observe, {}, "a..b", nothing)
  local ok, text = pcall(function() obs.observe({}, "a..b", nothing) end)
  assert(text:find("Functions.lua:%d+:"), text)
end)
check("observe: a callable table is a function", function()
  local t, got = {}, nil
  local f = setmetatable({}, { __call = function(self, o) got = { self, o } end })
  obs.observe(t, "a", f)
  t.a = 1
  obs.flush()
  eq(got[1], f)
  eq(got[2], t)
end)
check("observe: the table stays the same", function()
  local t = {}
  local keyed = { [t] = "here" }
  obs.observe(t, "*", nothing)
  eq(keyed[t], "here")
  eq(getmetatable(t), nil)
end)
check("observe: false options count as absent", function()
  local t = {}
  local n, w = counter(t, "a", { immediate = false, initial = false, once = false })
  eq(n(), 0)
  t.a = 1
  eq(n(), 1)
  t.a = 2
  eq(n(), 1)
end)
check("initial: delivers once in the turn of registration", function()
  local t = { a = 1 }
  local n = counter(t, "a", { initial = true })
  t.a = 2
  eq(n(), 1)
  eq(n(), 0)
  t.a = 3
  eq(n(), 1)
end)
check("initial and once: one call, then it ends", function()
  local t = { a = 1 }
  local n, w = counter(t, "a", { initial = true, once = true })
  eq(n(), 1)
  assert(not w.active)
  t.a = 2
  eq(n(), 0)
end)
check("initial and immediate: delivered in the turn of registration", function()
  local t, calls = { a = 1 }, 0
  obs.observe(t, "a", function(o, _, c) calls = calls + 1 end, { initial = true, immediate = true })
  obs.flush()
  eq(calls, 1)
  t.a = 2
  eq(calls, 2)
  obs.flush()
  eq(calls, 2)
end)
check("initial, immediate and once", function()
  local t, calls = { a = 1 }, 0
  local w = obs.observe(t, "a", function() calls = calls + 1 end, {
    initial = true, immediate = true, once = true,
  })
  obs.flush()
  t.a = 2
  obs.flush()
  eq(calls, 1)
  assert(not w.active)
end)
check("once: stops after the first delivery", function()
  local t = {}
  local n, w = counter(t, "a", { once = true })
  t.a = 1
  eq(n(), 1)
  eq(w.active, false)
  t.a = 2
  eq(n(), 0)
  eq(obs.observer_count(t, "a"), 0)
end)
check("once and immediate: exactly one call, even if it writes", function()
  local t, calls = {}, 0
  obs.observe(t, "a", function()
    calls = calls + 1
    t.a = calls + 5
  end, { once = true, immediate = true })
  t.a = 1
  t.a = 100
  eq(calls, 1)
end)
check("once: an error counts as delivered", function()
  local t = {}
  reporting(function()
    obs.observe(t, "a", function() error("x") end, { once = true })
    t.a = 1
    obs.flush()
    t.a = 2
    obs.flush()
  end)
  eq(#reports, 1)
end)
check("equals: replaces the comparison", function()
  local t, log = { a = 1 }, {}
  local n = counter(t, "a", {
    equals = function(old, new)
      log[#log + 1] = old .. ">" .. new
      return math.abs(old - new) < 5
    end,
  })
  t.a = 3
  eq(n(), 0)
  t.a = 20
  eq(n(), 1)
  eq(log[1], "1>3")
  eq(log[2], "3>20")
  n = counter(t, "a", { equals = function() return false end })
  t.a = 20
  eq(n(), 1)
end)
check("equals: for immediate watchers too", function()
  local t, calls = { a = 1 }, 0
  obs.observe(t, "a", function() calls = calls + 1 end, {
    immediate = true, equals = function(a, b) return a // 10 == b // 10 end,
  })
  t.a = 5
  eq(calls, 0)
  t.a = 15
  eq(calls, 1)
end)
check("equals: an error in it is reported, and the change is delivered", function()
  local t, calls = { a = 1 }, 0
  reporting(function()
    obs.observe(t, "a", function() calls = calls + 1 end, { equals = function() error("cmp") end })
    t.a = 2
    obs.flush()
  end)
  eq(#reports, 1)
  eq(calls, 1)
end)
check("equals: a replaced middle is still rewired", function()
  local t = { u = { x = 1 } }
  local n = counter(t, "u.x", { equals = function() return true end })
  local old = t.u
  t.u = { x = 1 }
  eq(n(), 0)
  local m = counter(t, "u.x", { equals = function(a, b) return a == b end })
  t.u.x = 2
  eq(m(), 1)
  old.x = 5
  eq(m(), 0)
  eq(n(), 0)
end)
check("equals that writes the same key", function()
  local t, calls = { a = 1 }, 0
  local depth = 0
  obs.observe(t, "a", function() calls = calls + 1 end, { equals = function(a, b)
    depth = depth + 1
    if depth < 10 then t.a = t.a + 1 end
    return a == b
  end })
  t.a = 2
  obs.flush()
  assert(calls >= 1)
end)
check("name: shown, or else the place of the declaration", function()
  local w = obs.observe({}, "a", nothing, { name = "me" })
  collectgarbage("stop")
  eq(w.name, "me")
  eq(w.active, true)
  assert(tostring(w):find("me"))
  w = obs.observe({}, "a", nothing); local place = here()
  eq(w.name, place)
  collectgarbage("restart")
end)
check("on_end takes only functions", function()
  fails("on_end", obs.observe, {}, "a", nothing, { on_end = "x" })
end)

-- Watcher
check("Watcher: pause remembers changes as one, resume delivers it", function()
  local t = {}
  local n, w = counter(t, "a")
  w:pause()
  t.a = 1
  eq(n(), 0)
  t.a = 2
  eq(n(), 0)
  w:resume()
  eq(n(), 1)
  eq(n(), 0)
  w:pause()
  w:resume()
  eq(n(), 0)
  w:resume()
  t.a = 3
  eq(n(), 1)
end)
check("Watcher: paused with a call pending", function()
  local t = {}
  local n, w = counter(t, "a")
  t.a = 1
  w:pause()
  eq(n(), 0)
  w:resume()
  eq(n(), 1)
end)
check("Watcher: a paused immediate one receives one change at resume", function()
  local t, log = { a = 0 }, {}
  local w = obs.observe(t, "a", function(_, _, c)
    log[#log + 1] = c.old .. ">" .. c.new
  end, { immediate = true })
  w:pause()
  t.a = 1
  t.a = 2
  eq(#log, 0)
  w:resume()
  eq(#log, 1)
  eq(log[1], "0>1")
  t.a = 3
  eq(log[2], "2>3")
end)
check("Watcher: paused ones follow replaced objects", function()
  local t = { u = { x = 1 } }
  local n, w = counter(t, "u.x")
  w:pause()
  t.u = { x = 2 }
  eq(n(), 0)
  w:resume()
  eq(n(), 1)
  t.u.x = 3
  eq(n(), 1)
end)
check("Watcher: observe adds a path and returns itself", function()
  local t = {}
  local n, w = counter(t, "a")
  eq(w:observe("b"), w)
  eq(w:observe(obs.path("c.d")), w)
  t.a, t.b = 1, 1
  eq(n(), 1)
  t["c.d"] = 1
  eq(n(), 1)
  fails("path", w.observe, w, 5)
  fails("path", w.observe, w, "a..b")
  t.b = 2
  eq(n(), 1)
end)
check("Watcher: run calls now", function()
  local t, calls = { a = 1 }, 0
  local w = obs.observe(t, "a", function(o, observer, change) assert(o == t); calls = calls + 1 end)
  w:run()
  eq(calls, 1)
  eq(obs.flush(), 0)
  w:stop()
  w:run()
  eq(calls, 1)
end)
check("Watcher: run of an immediate one", function()
  local t, calls = { a = 1 }, 0
  local w = obs.observe(t, "a", function(o, observer, change)
    calls = calls + 1
  end, { immediate = true })
  w:run()
  eq(calls, 1)
end)
check("T12: run inside its own callback is a clear error", function()
  local t, calls, messages = { a = 1 }, 0, {}
  for _, immediate in ipairs { false, true } do
    local w
    w = obs.observe(t, "a", function()
      calls = calls + 1
      local _, message = pcall(w.run, w)
      messages[#messages + 1] = message:gsub("^.-:%d+: ", "")
    end, { immediate = immediate })
    w:run()
    t.a = t.a + 1
    obs.flush()
    w:stop()
  end
  eq(calls, 4)
  eq(table.concat(messages, ";"),
    ("Watcher:run was called inside the watcher's own callback;"):rep(4):sub(1, -2))
end)
check("Watcher: run after the observer died calls nothing", function()
  local t, calls = {}, 0
  local w = obs.observe(t, "a", function() calls = calls + 1 end, { observer = {} })
  collectgarbage() collectgarbage()
  w:run()
  eq(calls, 0)
end)
check("Watcher: schedule calls in this turn's flush", function()
  local t = { a = 1 }
  local n, w = counter(t, "a")
  w:schedule()
  w:schedule()
  eq(n(), 1)
  w:schedule()
  t.a = 2
  eq(n(), 1)
  w:schedule()
  w:stop()
  eq(n(), 0)
end)
check("Watcher: schedule of an immediate one", function()
  local t, calls = { a = 1 }, 0
  local w = obs.observe(t, "a", function() calls = calls + 1 end, { immediate = true })
  w:schedule()
  obs.flush()
  eq(calls, 1)
end)
check("Watcher: methods expect a watcher, and unknown fields are nil", function()
  local w = obs.observe({}, "a", nothing)
  fails("watcher", w.stop, {})
  fails("watcher", w.stop)
  eq(w.nope, nil)
  eq(pcall(function() w.name = "x" end), false)
end)

-- get and set
check("get reads through a path", function()
  local t = { a = { b = { 1, 2, { c = "x" } } } }
  eq(obs.get(t, "a.b.3.c"), "x")
  eq(obs.get(t, "a.b.#2"), 2)
  eq(obs.get(t, "a.b.9.c"), nil)
  eq(obs.get(t, "a.x.y.z"), nil)
  eq(obs.get(t, obs.path("a", "b", 1)), 1)
  eq(obs.get(t, "a.b.@count"), 3)
  fails("bad argument #1 to 'get'", obs.get, nil, "a")
  fails("bad argument #2 to 'get'", obs.get, {}, nil)
  fails("path", obs.get, {}, "a..b")
end)
check("get reads through metatables", function()
  local t = setmetatable({}, { __index = function(_, k) return { k = k } end })
  eq(obs.get(t, "z.k"), "z")
end)
check("set writes the last component", function()
  local t = { a = { 1, 2 } }
  local n = counter(t, { "a.*", "a.x" })
  obs.set(t, "a.x", 5)
  eq(t.a.x, 5)
  eq(n(), 1)
  obs.set(t, "a.#1", 9)
  eq(t.a[1], 9)
  obs.set(t, "a.2", 8)
  eq(t.a[2], 8)
  obs.set(t, "y", nil)
  eq(select("#", obs.set(t, "y", 1)), 0)
end)
check("set: an error names the first nil component", function()
  fails("b", obs.set, { a = {} }, "a.b.c", 1)
  local m = fails("'b'", obs.set, { a = {} }, "a.b.c.d", 1)
  assert(m:find("a%.b%.c%.d"), m)
  fails("number", obs.set, { a = 5 }, "a.b", 1)
  fails("path", obs.set, {}, "*", 1)
  fails("path", obs.set, {}, "a..b", 1)
  fails("bad argument #1 to 'set'", obs.set, 5, "a", 1)
end)

-- trigger
check("trigger is like an assignment from previous to the current value", function()
  local t, log = { a = 5 }, {}
  local n = counter(t, "a")
  obs.observe(t, "a", function(_, _, c)
    log[#log + 1] = tostring(c.old) .. tostring(c.new) .. tostring(c.key)
  end, { immediate = true })
  obs.trigger(t, "a", 3)
  eq(n(), 1)
  eq(log[1], "35a")
  obs.trigger(t, "a", 5)
  eq(n(), 0)
  obs.trigger(t, "a")
  eq(n(), 1)
  obs.trigger(t, "b", 1)
  obs.trigger({}, "b", 1)
  fails("trigger", obs.trigger, t)
  fails("trigger", obs.trigger, 5, "a")
end)

-- batch, flush
check("batch expects a function, and passes its arguments", function()
  fails("function", obs.batch)
  fails("function", obs.batch, 5)
  eq(select("#", obs.batch(function(...) return ... end, nil, nil)), 2)
end)
check("batch does not delay coalesced watchers, nor deliver them", function()
  local t, calls = {}, 0
  obs.observe(t, "a", function() calls = calls + 1 end)
  obs.batch(function() t.a = 1 end)
  eq(calls, 0)
  eq(obs.flush(), 1)
end)
turns("batch in a task: a wait inside is an error, and the batch ends", function()
  local t, calls = {}, 0
  obs.observe(t, "a", function() calls = calls + 1 end, { immediate = true })
  fails("batch", obs.batch, function() t.a = 1; obs.sleep(0.01); t.a = 2 end)
  eq(calls, 1)
  t.a = 3
  eq(calls, 2)
  fails("yield", obs.batch, function() t.a = 4; coroutine.yield() end)
  eq(calls, 3)
  -- Abandoned coroutines leave no batch open.
  local co = coroutine.create(function() obs.batch(coroutine.yield) end)
  eq(coroutine.resume(co), false)
  t.a = 5
  eq(calls, 4)
end)
check("batch and scope are not left open by a stack overflow", function()
  for _, open in ipairs { obs.batch, obs.scope } do
    local function deeper() open(nothing) return 1 + deeper() end
    fails("overflow", deeper)
    fails("overflow", coroutine.wrap(deeper))
  end
  -- The arguments leave no room for a call.
  for count = 499900, 499999, 3 do
    pcall(coroutine.wrap(function() obs.batch(nothing, table.unpack({}, 1, count)) end))
  end
  local t, calls = {}, 0
  local w = obs.observe(t, "a", function() calls = calls + 1 end, { immediate = true })
  t.a = 1
  eq(calls, 1)
  obs.flush()
  assert(w.active)
end)
check("flush returns the number of calls", function()
  local t = {}
  for i = 1, 5 do obs.observe(t, "a", nothing) end
  t.a = 1
  eq(obs.flush(), 5)
  eq(obs.flush(), 0)
end)

-- bind
check("bind copies now and then once per turn", function()
  local source, destination = { a = 1, b = 2, c = 3 }, {}
  local w = obs.bind(destination, source, { "a", "b" })
  eq(destination.a, 1)
  eq(destination.b, 2)
  eq(destination.c, nil)
  source.a = 10
  eq(destination.a, 1)
  obs.flush()
  eq(destination.a, 10)
  destination.b = "local"
  source.a = 11
  obs.flush()
  eq(destination.b, "local")
  source.b = 5
  obs.flush()
  eq(destination.b, 5)
  source.b = nil
  obs.flush()
  eq(destination.b, nil)
  w:stop()
  source.a = 12
  obs.flush()
  eq(destination.a, 11)
end)
check("K4: a key that cannot be written delays no other one, and is tried again", function()
  local source, fails_at = { a = 1, b = 1, c = 1 }, nil
  local destination = setmetatable({}, { __newindex = function(t, key, value)
    if key == fails_at then error "not now" end
    rawset(t, key, value)
  end })
  obs.bind(destination, source, { "a", "b", "c" })
  destination.b, fails_at = nil, "b"
  reporting(function()
    source.a, source.b, source.c = 2, 2, 2
    obs.flush()
    has(reports[1].error, "not now")
  end)
  fails_at = nil
  eq(destination.a, 2) eq(destination.c, 2)
  source.a = 3
  obs.flush()
  eq(destination.b, 2)
end)
check("bindings chain, and both ends are heard", function()
  local a, b, c = { x = 1 }, {}, {}
  obs.bind(b, a, { "x" })
  obs.bind(c, b, { "x" })
  local n = counter(c, "x")
  a.x = 2
  n()
  eq(c.x, 2)
end)
check("bind: a key that is not a string, and one with a dot", function()
  local source, destination = { 1, ["a.b"] = 2, [true] = 3 }, {}
  obs.bind(destination, source, { 1, "a.b", true })
  source[1], source["a.b"], source[true] = 10, 20, 30
  obs.flush()
  eq(destination[1], 10)
  eq(destination["a.b"], 20)
  eq(destination[true], 30)
  obs.bind(destination, source, 1)
  source[1] = 100
  obs.flush()
  eq(destination[1], 100)
  fails("#3 to 'bind' .*list of keys is empty", obs.bind, {}, {}, {})
  fails("bind", obs.bind, {}, {})
  fails("bind", obs.bind, {}, 5, { "a" })
  fails("bind", obs.bind, 5, {}, { "a" })
end)
check("bind ends when the destination dies", function()
  local source = { x = 1 }
  obs.bind({}, source, { "x" })
  collectgarbage() collectgarbage()
  eq(obs.observer_count(source, "x"), 0)
end)
check("bind both ways settles", function()
  local a, b = { x = 1 }, { x = 2 }
  obs.bind(b, a, { "x" })
  obs.bind(a, b, { "x" })
  b.x = 7
  for _ = 1, 5 do obs.flush() end
  eq(a.x, 7)
  a.x = 8
  for _ = 1, 5 do obs.flush() end
  eq(b.x, 8)
end)

-- scope
turns("scope: everything registered inside ends together", function()
  local t, log = { s = 1 }, {}
  local d = {}
  local inner
  local scope = obs.scope(function()
    obs.observe(t, "a", function() log[#log + 1] = "watcher" end)
    obs.after(0.01, function() log[#log + 1] = "after" end)
    obs.every(0.01, function() log[#log + 1] = "every" end)
    obs.next_turn(function() log[#log + 1] = "next" end)
    obs.bind(d, t, { "s" })
    obs.task(function() obs.sleep(0.01); log[#log + 1] = "task" end)
    inner = obs.scope(function() obs.observe(t, "a", function() log[#log + 1] = "inner" end) end)
  end)
  t.a = 1
  scope:stop()
  t.s = 2
  obs.sleep(0.05)
  eq(table.concat(log, " "), "")
  eq(d.s, 1)
  eq(obs.observer_count(t, "a"), 0)
  scope:stop()
  inner:stop()
end)
check("scope: add takes watchers, timers and functions", function()
  local t, log = {}, ""
  local scope = obs.scope(nothing)
  local w = obs.observe(t, "a", nothing)
  scope:add(w)
  scope:add(obs.after(1, nothing))
  scope:add(function() log = log .. "f" end)
  fails("watcher", scope.add, scope, 5)
  scope:stop()
  eq(log, "f")
  assert(not w.active)
  -- Added to a scope that has ended: ended at once.
  local v = obs.observe(t, "a", nothing)
  scope:add(v)
  assert(not v.active)
end)
check("scope: an error in the body ends everything registered, and passes through", function()
  local t, e = {}, {}
  local ok, caught = pcall(obs.scope, function()
    obs.observe(t, "a", nothing)
    error(e)
  end)
  assert(not ok and caught == e)
  eq(obs.observer_count(t, "a"), 0)
  local w = obs.observe(t, "a", nothing)
  assert(w.active)
  fails("function", obs.scope)
end)
check("scope: later watchers, and watchers made by its watchers, are not in it", function()
  local t = {}
  local later
  local scope = obs.scope(function()
    obs.observe(t, "a", function() later = obs.observe(t, "b", nothing) end)
  end)
  t.a = 1
  obs.flush()
  local after = obs.observe(t, "c", nothing)
  scope:stop()
  assert(later.active and after.active)
end)
check("scope: a nested one can be stopped alone", function()
  local t = {}
  local outer, inner, a, b
  outer = obs.scope(function()
    a = obs.observe(t, "a", nothing)
    inner = obs.scope(function() b = obs.observe(t, "b", nothing) end)
  end)
  inner:stop()
  assert(a.active and not b.active)
  outer:stop()
  assert(not a.active)
end)

-- raw
check("raw copies observed tables, deep ones too", function()
  local t = {}
  local leaf = t
  for i = 1, 20000 do
    leaf.n = {}
    leaf = leaf.n
  end
  obs.observe(t, "n.n.n", nothing)
  local r = obs.raw(t)
  assert(r.n.n.n and r.n ~= t.n)
  fails("table", obs.raw, 5)
  local f = function() end
  eq(obs.raw({ f = f }).f, f)
  eq(getmetatable(obs.raw(setmetatable({}, {}))), nil)
end)

-- Timers
turns("after: once, in its own turn, at its time", function()
  local start, at = obs.now(), nil
  obs.after(0.02, function() at = obs.now() end)
  obs.sleep(0.05)
  assert(at - start >= 0.02 - 1e-9)
end)
turns("every: again and again until stopped", function()
  local n = 0
  local timer
  timer = obs.every(0.01, function() n = n + 1; if n == 3 then timer:stop() end end)
  obs.sleep(0.2)
  eq(n, 3)
end)
turns("timers: stop, twice, and after the end", function()
  local n = 0
  local a = obs.after(0.01, function() n = n + 1 end)
  a:stop()
  a:stop()
  local b = obs.after(0, function() n = n + 10 end)
  obs.sleep(0.02)
  eq(n, 10)
  b:stop()
  b:ref()
  b:unref()
end)
turns("timers: timers due together run in order of creation, each in a turn", function()
  local log, t = "", {}
  obs.observe(t, "a", function() log = log .. "w" end)
  for i = 1, 3 do obs.after(0.01, function() log = log .. i; t.a = i end) end
  obs.sleep(0.02)
  eq(log, "1w2w3w")
end)
check("timers: a wrong argument is an error", function()
  fails("bad argument #1 to 'after'", obs.after, "x", nothing)
  fails("bad argument #1 to 'after'", obs.after, -1, nothing)
  fails("bad argument #1 to 'after'", obs.after, 0 / 0, nothing)
  fails("bad argument #2 to 'after'", obs.after, 1)
  fails("bad argument #1 to 'every'", obs.every, 0, nothing)
  fails("bad argument #2 to 'every'", obs.every, 1, 5)
  fails("bad argument #1 to 'next_turn'", obs.next_turn)
  fails("bad argument #1 to 'on_exit'", obs.on_exit)
  fails("bad argument #1 to 'on_error'", obs.on_error, 5)
end)
turns("next_turn: the next turn, after this one's flush", function()
  local t, log = {}, ""
  obs.observe(t, "a", function() log = log .. "w" end)
  obs.next_turn(function() log = log .. "n" end)
  t.a = 1
  turn()
  eq(log, "wn")
end)
check("now is a number of seconds that never goes back", function()
  local a = obs.now()
  eq(math.type(a), "float")
  assert(obs.now() >= a)
end)
turns("timers: an error is reported with kind, and a repeating one continues", function()
  reports = {}
  obs.on_error(function(e, where) reports[#reports + 1] = { error = e, where = where } end)
  local n, timer = 0, nil
  local function tick()
    n = n + 1
    if n == 2 then timer:stop() end
    error("tick")
  end
  timer = obs.every(0.01, tick); local place = here()
  obs.sleep(0.05)
  obs.on_error(nil)
  eq(#reports, 2)
  eq(reports[1].where.kind, "timer")
  eq(reports[1].where.site, place)
  assert(tostring(reports[1].error):find("tick"))
end)

-- Tasks
turns("task: arguments, results, done", function()
  local task = obs.task(function(a, b) obs.sleep(0.01); return a, b, nil end, 1, 2)
  eq(task.done, false)
  local r = table.pack(task:await())
  eq(r.n, 3)
  eq(r[1], 1)
  eq(r[2], 2)
  eq(task.done, true)
  eq(select("#", task:await()), 3)
end)
check("task: one that never waits is done at once", function()
  local task = obs.task(function() return 5 end)
  eq(task.done, true)
  eq(task:await(), 5)
end)
turns("task: await raises the task's error, for each waiter", function()
  local e = {}
  local task = obs.task(function() obs.sleep(0.01); error(e) end)
  local second
  obs.task(function() local ok, caught = pcall(task.await, task); second = not ok and caught end)
  local ok, caught = pcall(task.await, task)
  assert(not ok and caught == e)
  turn()
  eq(second, e)
  ok, caught = pcall(task.await, task)
  assert(not ok and caught == e)
end)
turns("task: await returns false on timeout", function()
  local finished = false
  local task = obs.task(function() obs.sleep(0.05); finished = true end)
  eq(task:await(0.01), false)
  eq(finished, false)
  task:await()
  eq(finished, true)
end)
turns("task: await with a timeout that is not reached", function()
  local task = obs.task(function() obs.sleep(0.01); return "v" end)
  eq(task:await(1), "v")
end)
turns("task: several wait for one", function()
  local log = ""
  local task = obs.task(function() obs.sleep(0.01); return "x" end)
  local waiting = {}
  for i = 1, 3 do
    waiting[i] = obs.task(function() local x = task:await(); log = log .. i .. x end)
  end
  for i = 1, 3 do waiting[i]:await() end
  eq(log, "1x2x3x")
end)
turns("task: cancel ends it, closes its variables, and cancels its awaited task", function()
  local t, log = {}, ""
  local task = obs.task(function()
    local guard <close> = setmetatable({}, { __close = function() log = log .. "c" end })
    obs.next_change(t, "a")
    log = log .. "never"
  end)
  eq(obs.observer_count(t, "a"), 1)
  task:cancel()
  task:cancel()
  eq(log, "c")
  eq(task.done, true)
  eq(obs.observer_count(t, "a"), 0)
  t.a = 1
  turn()
  eq(log, "c")
end)
turns("task: awaiting a cancelled one", function()
  local task = obs.task(function() obs.sleep(10) end)
  local waiter = obs.task(function() return pcall(task.await, task) end)
  task:cancel()
  local ok, message = waiter:await()
  eq(ok, false)
  assert(tostring(message):find("cancel"))
end)
turns("task: an error that no task awaits is reported like a watcher's", function()
  reports = {}
  obs.on_error(function(e, where) reports[#reports + 1] = { error = e, where = where } end)
  obs.task(function() obs.sleep(0.001); error("in task") end); local place = here()
  obs.sleep(0.01)
  obs.on_error(nil)
  eq(#reports, 1)
  assert(tostring(reports[1].error):find("in task"))
  eq(reports[1].where.kind, "task")
  eq(reports[1].where.site, place)
end)
check("task: waiting functions elsewhere are an error", function()
  fails("task", obs.sleep, 1)
  fails("task", obs.next_change, {}, "a")
  local task = obs.task(function() obs.sleep(0.001) end)
  fails("task", task.await, task)
  fails("function", obs.task)
  fails("function", obs.task, 5)
  local ok, message = coroutine.resume(coroutine.create(function() obs.sleep(1) end))
  assert(not ok and message:find("task"))
end)
turns("sleep expects a number", function()
  fails("sleep", obs.sleep)
  fails("sleep", obs.sleep, "x")
  fails("sleep", obs.sleep, -1)
  fails("sleep", obs.sleep, 0 / 0)
  -- The task continues.
  obs.sleep(0)
end)
turns("sleep lasts as long as it says", function()
  local start = obs.now()
  obs.sleep(0.03)
  assert(obs.now() - start >= 0.03 - 1e-9)
end)
turns("next_change: true after the next delivery, false on timeout", function()
  local t = { u = { x = 1 } }
  obs.after(0.01, function() t.u.x = 2 end)
  eq(obs.next_change(t, "u.x"), true)
  eq(t.u.x, 2)
  eq(obs.next_change(t, "u.x", 0.01), false)
  obs.after(0.01, function() t.u.x = 3 end)
  eq(obs.next_change(t, "u.x", 1), true)
  eq(obs.observer_count(t, "u"), 0)
  fails("path", obs.next_change, t, "a..b")
  fails("list of key paths is empty", obs.next_change, t, {})
  fails("key path expected, got nil", obs.next_change, t)
  fails("table", obs.next_change, 5, "a")
  obs.sleep(0)
end)
turns("next_change: a change in this very turn counts", function()
  local t = {}
  local task = obs.task(function() return obs.next_change(t, "a", 5) end)
  t.a = 1
  eq(task:await(), true)
end)
turns("tasks that start tasks, deep", function()
  local most = 0
  local function start(n)
    most = math.max(most, n)
    if n < 150 then
      local task = obs.task(function() start(n + 1) end)
    end
  end
  start(1)
  eq(most, 150)
end)
turns("tasks that endlessly start tasks are an error, not a crash", function()
  reports = {}
  obs.on_error(function(e) reports[#reports + 1] = tostring(e) end)
  local function start() obs.task(start) end
  obs.task(start)
  turn()
  obs.on_error(nil)
  assert(#reports >= 1)
  assert(reports[1]:find("overflow"), reports[1])
end)
turns("a plain yield in a task lets others run", function()
  local log = ""
  local a = obs.task(function() for i = 1, 3 do log = log .. "a"; coroutine.yield() end end)
  local b = obs.task(function() for i = 1, 3 do log = log .. "b"; coroutine.yield() end end)
  a:await()
  b:await()
  turn()
  eq(log, "ababab")
end)
turns("coroutines inside a task that wait: an error or a wait, never a silent loss", function()
  local ok, message = pcall(function()
    local co = coroutine.wrap(function() obs.sleep(0.01); return "woke" end)
    return co()
  end)
  assert(not ok, "a coroutine is no task")
  assert(tostring(message):find("task"), message)
end)
turns("waiting across pcall, metamethods and iterators", function()
  local ok, v = pcall(function() obs.sleep(0.001); return 5 end)
  eq(v, 5)
  local t = setmetatable({}, { __index = function(_, k) obs.sleep(0.001); return k end })
  eq(t.x, "x")
  for _ in (function() obs.sleep(0.001) return nil end) do end
end)

-- on_error
turns("on_error: an error in it is reported elsewhere, and nothing recurses", function()
  -- A hook that raises an error replaces it for one call; the report goes to the host.
  local t = {}
  local calls = 0
  obs.on_error(function() calls = calls + 1; t.b = calls end)
  obs.observe(t, "a", function() error("x") end)
  t.a = 1
  turn()
  obs.on_error(nil)
  eq(calls, 1)
end)
check("on_error can be replaced and removed", function()
  local log = ""
  obs.on_error(function() log = log .. 1 end)
  obs.on_error(function() log = log .. 2 end)
  local t = {}
  obs.observe(t, "a", function() error("x") end)
  t.a = 1
  obs.flush()
  obs.on_error(nil)
  obs.stop(t)
  eq(log, "2")
end)
check("break_on_change and break_on_call check their arguments", function()
  fails("break_on_change", obs.break_on_change, 5, "a")
  fails("break_on_change", obs.break_on_change, {}, 5)
end)
check("the module is the same each time, and has all its names", function()
  eq(require "obs", obs)
  for _, name in ipairs {
    "observe", "stop", "path", "get", "set", "trigger", "batch", "flush", "bind", "scope",
    "observed_keys", "observer_count", "on_observed", "describe", "why", "whynot",
    "break_on_change", "log", "record", "limits", "stats", "raw", "after", "every", "next_turn",
    "now", "task", "sleep", "next_change", "on_error", "on_exit",
  } do eq(type(obs[name]), "function") end
end)
check("debug.sethook inside and around callbacks", function()
  local t, lines = {}, 0
  obs.observe(t, "a", function(o)
    debug.sethook(function() lines = lines + 1 end, "l")
    local x = o.a
    debug.sethook()
  end)
  t.a = 1
  debug.sethook(function() lines = lines + 1; t.b = lines end, "", 1)
  t.a = 2
  obs.flush()
  debug.sethook()
  obs.flush()
  assert(lines > 0)
end)
check("goto and close around registrations", function()
  local t, calls = {}, 0
  do
    local n = 0
    ::again::
    local w <close> = setmetatable({}, { __close = function() calls = calls + 1; t.a = calls end })
    obs.observe(t, "a", nothing)
    n = n + 1
    if n < 3 then goto again end
  end
  eq(calls, 3)
  eq(obs.flush(), 3)
end)
check("errors of obs.batch, scope, task and get name the caller's line", function()
  for _, call in ipairs {
    function() obs.batch(1) end, function() obs.scope(3) end, function() obs.task(1) end,
    function() obs.get(nil, "x") end, function() obs.bind(nil, {}, "x") end,
  } do
    fails("^[^:]*Functions.lua:%d+: bad argument #1", call)
  end
end)
check("a method called with a dot is an error that names the expected argument", function()
  fails("bad argument #1 to 'await' %(obs.Task expected", obs.task(nothing).await)
  fails("bad argument #1 to 'stop' %(obs.Scope expected", obs.scope(nothing).stop)
end)
turns("a chain of 2,000 tasks that wait for each other needs no stack", function()
  local last = obs.task(function() obs.sleep(0) return 0 end)
  for _ = 1, 2000 do
    local previous = last
    last = obs.task(function() return previous:await() + 1 end)
  end
  eq(last:await(), 2000)
end)
turns("a timeout that was not needed does not keep the loop", function()
  local before = obs.now()
  local task = obs.task(function() obs.sleep(1) return 5 end)
  eq(task:await(1000), 5)
  assert(obs.now() - before < 2)
end)
check("the module does not call replacements of its functions by scripts", function()
  local own = {}
  for name, value in next, obs do own[name] = value end
  for name, value in next, own do
    if type(value) == "function" then obs[name] = function() error(name .. " was called") end end
  end
  local ok, message = pcall(function()
    local t, log = { a = 1, list = {} }, {}
    own.observe_keys(t, "a", function(key) log[#log + 1] = key end)
    own.copy_of(t, "copy", "list")
    own.backed(t, "b", { b = 2 })
    own.bind({}, t, "a")
    own.computed(t, "double", { "a" }, function(self) return self.a * 2 end)
    local M = own.model("Item", { x = own.none })
    assert(M().x == nil and own.get(t, "double") == 2)
    local history = own.history(t)
    t.a, t.b = 2, 3
    own.flush()
    history:undo()
    assert(own.transaction({ t }, function() t.a = 5 own.abort() end) == false)
    own.flush()
    eq(("%d %d %d %s"):format(t.a, t.double, t.b, table.concat(log)), "1 2 3 aa")
  end)
  for name, value in next, own do obs[name] = value end
  assert(ok, message)
end)

finish()
