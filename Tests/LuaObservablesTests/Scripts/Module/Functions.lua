-- The functions of the script API: arguments, defaults, results, errors.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

local unpack = table.unpack

-- Arguments ---------------------------------------------------------------------------------------

check("the module is the same each time", function() eq(require "obs", obs) end)
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
          :format(count + 1, name), value, unpack(arguments, 1, count + 1))
      end
    end
    most[name] = nil
  end
  eq(next(most), nil)
  obs.bind({}, {}, "a", nil)
  local w, history = obs.observe({}, "a", nothing), obs.history {}
  fails("bad argument #1 to 'pause' .no value expected, got number", w.pause, w, 1)
  fails("bad argument #2 to 'observe' .no value expected, got number", w.observe, w, "b", 1)
  fails("bad argument #2 to 'mark' .no value expected, got number", history.mark, history, "a", 1)
end)

-- Function, a pattern of the error, arguments. The function is part of the message.
local NAN = 0 / 0
local function with(option, value) return { {}, "a", nothing, { [option] = value } } end
for _, case in ipairs {
  { "observe", "#1 .*table", 5, "a", nothing }, { "observe", "#1 .*nil", nil, "a", nothing },
  { "observe", "#1 .*string", "t", "a", nothing },
  { "observe", "#1 .*function", print, "a", nothing },
  { "observe", "#1 ", io.stdout, "a", nothing }, { "observe", "#2 ", {}, nil, nothing },
  { "observe", "#2 ", {}, 5, nothing }, { "observe", "#2 ", {}, true, nothing },
  { "observe", "#2 .*empty", {}, {}, nothing }, { "observe", "#2 ", {}, { "a", 5 }, nothing },
  { "observe", "#3 .*function", {}, "a" }, { "observe", "#3 .*function", {}, "a", 5 },
  { "observe", "#3 .*function", {}, "a", {} }, { "observe", "#4 .*table", {}, "a", nothing, 5 },
  { "observe", "unknown option 'imediate'.*immediate", unpack(with("imediate", true)) },
  { "observe", "unknown option 'Once'.*once", unpack(with("Once", true)) },
  { "observe", "unknown option 'zzz'", unpack(with("zzz", true)) },
  { "observe", "option", unpack(with(1, "immediate")) },
  { "observe", "'observer'", unpack(with("observer", 5)) },
  { "observe", "'equals'", unpack(with("equals", 5)) },
  { "observe", "'name'", unpack(with("name", {})) },
  { "observe", "'on_end'", unpack(with("on_end", 5)) },
  { "observe", "'on_end'", unpack(with("on_end", "x")) },
  { "get", "#1 ", nil, "a" }, { "get", "#2 ", {}, nil }, { "get", "path", {}, "a..b" },
  { "set", "'b'", { a = {} }, "a.b.c", 1 }, { "set", "a%.b%.c%.d.*'b'", { a = {} }, "a.b.c.d", 1 },
  { "set", "number", { a = 5 }, "a.b", 1 }, { "set", "path", {}, "*", 1 },
  { "set", "path", {}, "a..b", 1 }, { "set", "#1 ", 5, "a", 1 },
  { "trigger", "trigger", {} }, { "trigger", "trigger", 5, "a" },
  { "batch", "function" }, { "batch", "function", 5 },
  { "bind", "#3 .*list of keys is empty", {}, {}, {} }, { "bind", "bind", {}, {} },
  { "bind", "bind", {}, 5, { "a" } }, { "bind", "bind", 5, {}, { "a" } },
  { "scope", "function" }, { "raw", "table", 5 },
  { "after", "#1 ", "x", nothing }, { "after", "#1 ", -1, nothing },
  { "after", "#1 ", NAN, nothing }, { "after", "#2 ", 1 }, { "every", "#1 ", 0, nothing },
  { "every", "#2 ", 1, 5 }, { "next_turn", "#1 " }, { "on_exit", "#1 " }, { "on_error", "#1 ", 5 },
  { "break_on_change", "break_on_change", 5, "a" }, { "break_on_change", "break_on_change", {}, 5 },
  { "task", "function" }, { "task", "function", 5 },
  -- Waiting functions, outside tasks.
  { "sleep", "task", 1 }, { "next_change", "task", {}, "a" },
} do
  local name, pattern = case[1], case[2]
  check(("%s: a wrong argument is an error: %s"):format(name, pattern), function()
    -- "#1 …" is the text for a bad argument.
    fails(pattern:gsub("^#(%d) ", "bad argument #%1 to '" .. name .. "'"), obs[name],
      unpack(case, 3, 6))
  end)
end
check("errors carry the place of the caller", function()
  for _, call in ipairs {
    function() obs.observe({}, "a..b", nothing) end,
    function() obs.batch(1) end, function() obs.scope(3) end, function() obs.task(1) end,
    function() obs.get(nil, "x") end, function() obs.bind(nil, {}, "x") end,
  } do
    fails("^[^:]*Functions.lua:%d+: bad argument #", call)
  end
end)
check("a dot in place of a colon, or the other way round, is a clear error", function()
  local t = {}
  fails("#3 to 'observe' .function expected, got string; it is called with a dot, as obs.observe%)",
    function() obs:observe(t, "a", nothing) end)
  fails("called with a dot, as obs.after", function() obs:after(1, nothing) end)
  fails("called with a dot, as obs.whynot", function() obs:whynot(obs.observe(t, "a", nothing)) end)
  fails("#1 to 'stop' .watcher expected, got no value; it is called with a colon, as w:stop..%)",
    function() obs.observe(t, "a", nothing).stop() end)
  fails("bad argument #1 to 'await' %(obs.Task expected", obs.task(nothing).await)
  fails("bad argument #1 to 'stop' %(obs.Scope expected", obs.scope(nothing).stop)
  local other = { observe = true, whynot = nothing }
  assert(not fails("function expected", obs.observe, other, "a", 5):find "dot")
end)

-- observe -----------------------------------------------------------------------------------------

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
-- Options, the calls that registration, a write and another write cause, and whether the watcher
-- has ended then.
for options, expected in pairs {
  [{}] = "0 1 1", [{ immediate = false, initial = false, once = false }] = "0 1 1",
  [{ immediate = true }] = "0 1 1", [{ initial = true }] = "1 1 1",
  [{ initial = true, immediate = true }] = "1 1 1", [{ once = true }] = "0 1 0 ended",
  [{ once = true, immediate = true }] = "0 1 0 ended",
  [{ initial = true, once = true }] = "1 0 0 ended",
  [{ initial = true, immediate = true, once = true }] = "1 0 0 ended",
} do
  local names = {}
  for name, value in pairs(options) do names[#names + 1] = name .. "=" .. tostring(value) end
  table.sort(names)
  check("observe with the options " .. table.concat(names, ", "), function()
    local t, calls, w = { a = 1 }, 0, nil
    local function calls_of(value)
      calls = 0
      t.a = value
      obs.flush()
      return calls
    end
    w = obs.observe(t, "a", function()
      calls = calls + 1
      -- The one call of a watcher that ends may write.
      if options.once then t.a = t.a + 100 end
    end, options)
    local found = ("%d %d %d"):format(calls_of(1), calls_of(2), calls_of(3))
    eq(found .. (w.active and "" or " ended"), expected)
    eq(obs.observer_count(t, "a"), w.active and 1 or 0)
  end)
end
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
for _, is_immediate in ipairs { false, true } do
  immediate = is_immediate
  story("equals: replaces the comparison", [[
    local t = { a = 1 }
    watch(t, "a", { immediate = immediate, name = "near", equals = function(old, new)
      note(old .. ">" .. new)
      return math.abs(old - new) < 5
    end })
    t.a = 3    --> 1>3
    t.a = 20   --> 2
    watch(t, "a", { equals = function() return false end, name = "never" })
    t.a = 20   --> any
    t.a = t.a  --> any
    local calls = 0
    obs.observe(t, "a", function() calls = calls + 1 end, { equals = function() return false end })
    t.a = 20
    obs.flush()
    eq(calls, 1)
  ]])
end
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
story("equals: a replaced middle is still rewired", [[
  local t = { u = { x = 1 } }
  watch(t, "u.x", { equals = function() return true end, name = "never" })
  watch(t, "u.x", { equals = rawequal, name = "differs" })
  local old = t.u
  t.u = { x = 1 }  --> differs
  t.u.x = 2        --> differs
  old.x = 5        --> 0
]])
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

-- Watcher -----------------------------------------------------------------------------------------

story("Watcher: pause remembers changes as one, also a pending call, and resume delivers it", [[
  local t = { u = { x = 1 } }
  local w = watch(t, { "a", "u.x" })
  t.a = 1
  w:pause()
  t.a = 2          --> 0
  t.u = { x = 2 }  --> 0
  w:resume()       --> 1
                  --> 0
  w:pause()
  w:resume()       --> 0
  w:resume()
  t.u.x = 3        --> 1
]])
story("Watcher: a paused immediate one receives one change at resume", [[
  local t = { a = 0 }
  local w = watch(t, "a", { immediate = true })
  w:pause()
  t.a = 1
  t.a = 2     --= 0
  w:resume()  --= a: a 0>1
  t.a = 3     --= a: a 2>3
]])
story("Watcher: observe adds a path and returns itself", [[
  local t = {}
  local w = watch(t, "a")
  eq(w:observe("b"), w)
  eq(w:observe(obs.path("c.d")), w)
  t.a, t.b = 1, 1  --> 1
  t["c.d"] = 1     --> 1
  fails("path", w.observe, w, 5)
  fails("path", w.observe, w, "a..b")
  t.b = 2          --> 1
]])
for _, is_immediate in ipairs { false, true } do
  immediate = is_immediate
  story("Watcher: run calls now, schedule in this turn's flush, until it is stopped", [[
    local t = { a = 1 }
    local w = obs.observe(t, "a", function(o, _, change)
      assert(o == t and not change)
      note "call"
    end, { immediate = immediate })
    w:run()       --= call
                  --> 0
    w:schedule()
    w:schedule()  --= 0
                  --> call
    w:schedule()
    w:stop()
    w:run()       --> 0
  ]])
end
story("Watcher: a scheduled call and one for a change are one", [[
  local t = { a = 1 }
  watch(t, "a"):schedule()
  t.a = 2  --> 1
]])
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
check("Watcher: methods expect a watcher, and unknown fields are nil", function()
  local w = obs.observe({}, "a", nothing)
  fails("watcher", w.stop, {})
  fails("watcher", w.stop)
  eq(w.nope, nil)
  eq(pcall(function() w.name = "x" end), false)
end)

-- get, set and trigger ----------------------------------------------------------------------------

check("get reads through a path, and through metatables", function()
  local t = { a = { b = { 1, 2, { c = "x" } } } }
  for path, value in pairs {
    ["a.b.3.c"] = "x", ["a.b.#2"] = 2, ["a.b.9.c"] = false, ["a.x.y.z"] = false,
    [obs.path("a", "b", 1)] = 1, ["a.b.@count"] = 3,
  } do
    eq(obs.get(t, path), value or nil)
  end
  local inherits = setmetatable({}, { __index = function(_, k) return { k = k } end })
  eq(obs.get(inherits, "z.k"), "z")
end)
story("set writes the last component, and returns nothing", [[
  local t = { a = { 1, 2 } }
  watch(t, { "a.*", "a.x" })
  obs.set(t, "a.x", 5)  --> 1
  obs.set(t, "a.#1", 9)
  obs.set(t, "a.2", 8)  --> 1
  eq(("%d %d %d"):format(t.a.x, t.a[1], t.a[2]), "5 9 8")
  obs.set(t, "y", nil)
  eq(select("#", obs.set(t, "y", 1)), 0)
]])
story("trigger is like an assignment from previous to the current value", [[
  local t = { a = 5 }
  watch(t, "a")
  watch(t, "a", { immediate = true })
  obs.trigger(t, "a", 3)   --> a: a 3>5, a
  obs.trigger(t, "a", 5)   --> 0
  obs.trigger(t, "a")      --> 2
  obs.trigger(t, "b", 1)
  obs.trigger({}, "b", 1)  --> 0
]])

-- batch, flush and bind ---------------------------------------------------------------------------

story("batch passes arguments, and neither delays nor delivers calls of the flush", [[
  local t = {}
  watch(t, "a")
  obs.batch(function() t.a = 1 end)  --= 0
  eq(select("#", obs.batch(function(...) return ... end, nil, nil)), 2)
  eq(obs.flush(), 1)
  for i = 1, 5 do watch(t, "a") end
  t.a = 2
  eq(obs.flush(), 6)                 --= 7
  eq(obs.flush(), 0)
]])
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
story("bind copies now and then once per turn", [[
  local source, destination = { a = 1, b = 2, c = 3 }, {}
  local function show() note(destination.a, destination.b, destination.c) end
  local w = obs.bind(destination, source, { "a", "b" })
  source.a = 10            show()  --= 1 2 nil
  obs.flush()              show()  --= 10 2 nil
  destination.b, source.a = "own", 11
  obs.flush()              show()  --= 11 own nil
  source.b = 5 obs.flush() show()  --= 11 5 nil
  source.b = nil
  obs.flush()              show()  --= 11 nil nil
  w:stop()
  source.a = 12
  obs.flush()              show()  --= 11 nil nil
]])
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
check("bindings chain, and both ways they settle", function()
  local a, b, c = { x = 1 }, {}, {}
  obs.bind(b, a, { "x" })
  obs.bind(c, b, { "x" })
  obs.bind(a, c, { "x" })
  for i, changed in ipairs { a, b, c } do
    changed.x = i * 10
    for _ = 1, 5 do obs.flush() end
    eq(("%d %d %d"):format(a.x, b.x, c.x), ("%d %d %d"):format(i * 10, i * 10, i * 10))
  end
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
end)
check("bind ends when the destination dies", function()
  local source = { x = 1 }
  obs.bind({}, source, { "x" })
  collectgarbage() collectgarbage()
  eq(obs.observer_count(source, "x"), 0)
end)

-- scope and raw -----------------------------------------------------------------------------------

turns("scope: everything registered inside ends together", function()
  local t, log, d = { s = 1 }, {}, {}
  local inner
  local function add(name) return function() log[#log + 1] = name end end
  local scope = obs.scope(function()
    obs.observe(t, "a", add "watcher")
    obs.after(0.01, add "after")
    obs.every(0.01, add "every")
    obs.next_turn(add "next")
    obs.bind(d, t, { "s" })
    obs.task(function() obs.sleep(0.01); log[#log + 1] = "task" end)
    inner = obs.scope(function() obs.observe(t, "a", add "inner") end)
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
end)
check("scope: later watchers are not in it, and a nested one can be stopped alone", function()
  local t, later, inner, a, b = {}, nil, nil, nil, nil
  local outer = obs.scope(function()
    a = obs.observe(t, "a", function() later = obs.observe(t, "b", nothing) end)
    inner = obs.scope(function() b = obs.observe(t, "b", nothing) end)
  end)
  t.a = 1
  obs.flush()
  local after = obs.observe(t, "c", nothing)
  inner:stop()
  assert(a.active and not b.active)
  outer:stop()
  assert(not a.active and later.active and after.active)
end)
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
  local f = function() end
  eq(obs.raw({ f = f }).f, f)
  eq(getmetatable(obs.raw(setmetatable({}, {}))), nil)
end)

-- Timers ------------------------------------------------------------------------------------------

turns("timers: each in its own turn, not before its time, in order of creation", function()
  local log, t, start = {}, {}, obs.now()
  eq(math.type(start), "float")
  local function add(entry) log[#log + 1] = entry end
  obs.observe(t, "a", function() add "flush" end)
  for i = 1, 2 do
    obs.after(0.02, function()
      assert(obs.now() - start >= 0.02 - 1e-9)
      add("after" .. i)
      t.a = i
    end)
  end
  local stopped = obs.after(0.01, error)
  stopped:stop()
  stopped:stop()
  local last = obs.after(0, function() add "soon" end)
  obs.next_turn(function() add "next" end)
  t.a = 0
  obs.sleep(0.05)
  eq(table.concat(log, " "), "flush next soon after1 flush after2 flush")
  last:stop()
  last:ref()
  last:unref()
end)
turns("every: again and again until stopped", function()
  local n, timer = 0, nil
  timer = obs.every(0.01, function() n = n + 1; if n == 3 then timer:stop() end end)
  obs.sleep(0.2)
  eq(n, 3)
end)
-- Runs `body`, a task that waits, and returns the errors that are reported meanwhile.
local function reported(body)
  local found = {}
  obs.on_error(function(e, where) found[#found + 1] = { error = tostring(e), where = where } end)
  body()
  obs.on_error(nil)
  return found
end
turns("errors of timers and of tasks that no task awaits are reported; timers continue", function()
  local n, timer, place, task_place = 0, nil, nil, nil
  local found = reported(function()
    timer = obs.every(0.01, function()
      n = n + 1
      if n == 2 then timer:stop() end
      error("tick")
    end)
    place = here(-5)
    obs.sleep(0.05)
    obs.task(function() obs.sleep(0.01); error("in task") end); task_place = here()
    obs.sleep(0.05)
  end)
  eq(#found, 3)
  for i, expected in ipairs {
    { "timer", place, "tick" }, { "timer", place, "tick" }, { "task", task_place, "in task" },
  } do
    eq(found[i].where.kind, expected[1])
    eq(found[i].where.site, expected[2])
    has(found[i].error, expected[3])
  end
end)

-- Tasks -------------------------------------------------------------------------------------------

turns("task: arguments, results, done", function()
  local task = obs.task(function(a, b) obs.sleep(0.01); return a, b, nil end, 1, 2)
  eq(task.done, false)
  for _ = 1, 2 do
    local r = table.pack(task:await())
    eq(r.n, 3)
    eq(r[1] + r[2], 3)
    eq(task.done, true)
  end
  -- A task that never waits is done at once.
  task = obs.task(function() return 5 end)
  eq(task.done, true)
  eq(task:await(), 5)
end)
turns("task: await raises the task's error, for each waiter", function()
  local e = {}
  local task = obs.task(function() obs.sleep(0.01); error(e) end)
  local second
  obs.task(function() local ok, caught = pcall(task.await, task); second = not ok and caught end)
  for _ = 1, 2 do
    local ok, caught = pcall(task.await, task)
    assert(not ok and caught == e)
  end
  turn()
  eq(second, e)
end)
turns("task: await returns false on timeout; one that is not needed keeps no loop", function()
  local finished, before = false, obs.now()
  local task = obs.task(function() obs.sleep(0.05); finished = true return "v" end)
  eq(task:await(0.01), false)
  eq(finished, false)
  eq(task:await(1000), "v")
  eq(finished, true)
  assert(obs.now() - before < 1)
end)
turns("task: several wait for one, and a chain of 2,000 needs no stack", function()
  local log = ""
  local task = obs.task(function() obs.sleep(0.01); return "x" end)
  local waiting = {}
  for i = 1, 3 do
    waiting[i] = obs.task(function() local x = task:await(); log = log .. i .. x end)
  end
  for i = 1, 3 do waiting[i]:await() end
  eq(log, "1x2x3x")
  local last = obs.task(function() obs.sleep(0) return 0 end)
  for _ = 1, 2000 do
    local previous = last
    last = obs.task(function() return previous:await() + 1 end)
  end
  eq(last:await(), 2000)
end)
turns("task: cancel ends it, closes its variables, and fails its waiters", function()
  local t, log = {}, ""
  local task = obs.task(function()
    local guard <close> = setmetatable({}, { __close = function() log = log .. "c" end })
    obs.next_change(t, "a")
    log = log .. "never"
  end)
  local waiter = obs.task(function() return pcall(task.await, task) end)
  eq(obs.observer_count(t, "a"), 1)
  task:cancel()
  task:cancel()
  eq(log, "c")
  eq(task.done, true)
  eq(obs.observer_count(t, "a"), 0)
  local ok, message = waiter:await()
  eq(ok, false)
  has(tostring(message), "cancel")
  t.a = 1
  turn()
  eq(log, "c")
end)
check("task: waiting functions elsewhere are an error", function()
  local task = obs.task(function() obs.sleep(0.001) end)
  fails("task", task.await, task)
  fails("task", coroutine.wrap(function() obs.sleep(1) end))
end)
turns("sleep expects a number, and lasts as long as it says", function()
  for _, value in ipairs { "x", -1, 0 / 0 } do fails("sleep", obs.sleep, value) end
  fails("sleep", obs.sleep)
  -- The task continues.
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
  -- A change in this very turn counts.
  local task = obs.task(function() return obs.next_change(t, "a", 5) end)
  t.a = 1
  eq(task:await(), true)
end)
turns("tasks that start tasks: 150 deep, and endlessly, which is an error", function()
  local most = 0
  local function start(n)
    most = math.max(most, n)
    if n < 150 then obs.task(function() start(n + 1) end) end
  end
  start(1)
  eq(most, 150)
  local found = reported(function()
    local function again() obs.task(again) end
    obs.task(again)
    turn()
  end)
  assert(#found >= 1)
  has(found[1].error, "overflow")
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
turns("waiting across pcall, metamethods and iterators, but not in a coroutine", function()
  local ok, v = pcall(function() obs.sleep(0.001); return 5 end)
  eq(v, 5)
  local t = setmetatable({}, { __index = function(_, k) obs.sleep(0.001); return k end })
  eq(t.x, "x")
  for _ in (function() obs.sleep(0.001) return nil end) do end
  fails("task", coroutine.wrap(function() obs.sleep(0.01); return "woke" end))
end)

-- on_error, and code around callbacks -------------------------------------------------------------

turns("on_error: replaced, removed, and an error in it recurses nowhere", function()
  local t, log = {}, {}
  obs.on_error(function() log[#log + 1] = "replaced" end)
  obs.on_error(function()
    log[#log + 1] = "called"
    t.b = #log
  end)
  obs.observe(t, "a", function() error("x") end)
  t.a = 1
  turn()
  obs.on_error(nil)
  obs.stop(t)
  eq(table.concat(log, " "), "called")
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
