-- Rules T1–T14, as a script sees them.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

local file = debug.getinfo(1, "S").short_src:match "[^/]+$"

-- A callback that notes a text.
function noting(text) return function() note(text) end end

-- T1–T3 -------------------------------------------------------------------------------------------

story("T1, T6: one call per flush, with the latest state, whatever has changed how often", [[
  local t = { a = 1, b = { c = 1 } }
  obs.observe(t, { "a", "b.c", "*", "b" }, function(o) note(o.a, o.b.c) end)
  for i = 2, 50 do
    t.a = i
    t.b.c = i
    t.b = { c = i }
  end  --> 50 50
  --> 0
]])
turns("T1: the ends of a timer's turn and of a task's step deliver", function()
  local t, seen = {}, 0
  obs.observe(t, "a", function() seen = seen + 1 end)
  t.a = 0
  eq(seen, 0)
  obs.after(0, function() eq(seen, 1); t.a = 1; t.a = 2 end)
  obs.after(0, function() eq(seen, 2); t.a = 3 end)
  turn()
  obs.sleep(0.001)
  eq(seen, 3)
end)
check("T2: each registration of a function is called with its objects and nothing else", function()
  local t, o, got = {}, {}, {}
  local function f(...) got[#got + 1] = table.pack(...) end
  obs.observe(t, "a", f, { observer = o })
  obs.observe(t, "a", f)
  t.a = 1
  eq(obs.flush(), 2)
  for i, observer in ipairs { o, nil } do
    assert(got[i][1] == t and got[i][2] == observer)
    eq(got[i].n, 2)
  end
end)
story("T3: watchers are called in order of registration, whatever triggers them", [[
  local t, u = {}, {}
  obs.observe(t, "start", function() note "1" t.c, t.b, u.a = 1, 1, 1 end)
  obs.observe(t, "b", noting "2")
  obs.observe(u, "a", noting "3")
  obs.observe(t, "c", noting "4")
  obs.observe(t, "start", noting "5")
  t.start = 1              --> 1, 2, 3, 4, 5
  t.c, u.a, t.b = 2, 2, 2  --> 2, 3, 4
]])

-- T4 ----------------------------------------------------------------------------------------------

story("T4: a watcher that is due again waits for the next flush of the script", [[
  local t = { n = 0 }
  obs.observe(t, "n", function() note(t.n) if t.n < 3 then t.n = t.n + 1 end end)
  t.n = 1  --> 1
  eq(obs.stats().pending, 1)
           --> 2
           --> 3
           --> 0
]])
turns("T4: at the end of a turn it runs in the next, which starts at once", function()
  local t, calls = { n = 0, a = 0, b = 0 }, 0
  obs.observe(t, "n", function() calls = calls + 1; if t.n < 100 then t.n = t.n + 1 end end)
  -- Two watchers that trigger each other settle, too.
  obs.observe(t, "a", function() t.b = math.min(t.a, 10) end)
  obs.observe(t, "b", function() t.a = t.b + 1 end)
  local before = obs.stats().turns
  local timer = false
  obs.after(0, function() timer = true end)
  t.n, t.a = 1, 1
  turn()
  eq(t.n, 100)
  eq(calls, 100)
  eq(t.a, 11)
  assert(obs.stats().turns - before >= 100)
end)
story("T4: a watcher without a reason for a call does not count as called in the flush", [[
  local t, first = { a = 1 }, { k = 1 }
  local function take_back(b)
    obs.transaction({ t }, function()
      t.a, t.b = 5, b
      error "taken back"
    end)
  end
  obs.changes(t, noting "changes")
  take_back()
  eq(obs.flush(), 0)  --= 0
  local history = obs.history(t)
  t.a = 2
  t.a = 1
  eq(obs.flush(), 0)  --= 0
  -- A later write of another watcher is delivered in the same flush.
  obs.observe_keys(t, "b", noting "b")
  obs.observe(first, "k", function() t.a, t.b = 3, 1 end)
  take_back(5)
  first.k = 2
  eq(obs.flush(), 3)  --= b, changes
  history:stop()
]])
check("T4: a watcher that compares keys and always writes does not repeat in one flush", function()
  local t, compared, called = { a = 1 }, 0, 0
  obs.observe_keys(t, "a", function() called = called + 1 end, {
    equals = function()
      compared = compared + 1
      if compared < 10 then t.a = t.a + 1 end
      return true
    end,
  })
  local u = { k = 1 }
  obs.observe(u, "k", function() t.a = t.a + 1 end)
  t.a = 2
  u.k = 2
  eq(obs.flush(), 1)
  eq(called, 0)
  eq(compared < 10, true)
end)
for path, observe in pairs {
  double = function(t, path, heard, state)
    obs.computed(t, "double", { "v" }, function(self) return self.v * 2 end)
    obs.observe(t, path, heard)
    obs.observe(t, "v", function() if state.is_on then t.v = t.v + 1 end end)
  end,
  ["**"] = false, ["**.v"] = false, ["o.**"] = false,
} do
  turns("T4: after its call was dropped, a watcher hears the next change: " .. path, function()
    local t, state, calls = { v = 1, o = { v = 1 } }, { is_on = true }, 0
    local function heard()
      calls = calls + 1
      if state.is_on and not observe then t.o = { v = calls } end
    end
    if observe then observe(t, path, heard, state) else obs.observe(t, path, heard) end
    reporting(function()
      t.v, t.o = 2, { v = 0 }
      repeat turn() until #reports > 0
    end)
    state.is_on, calls = false, 0
    t.v, t.o = -5, { v = -1 }
    turn()
    eq(calls, 1)
  end)
end

-- T5 ----------------------------------------------------------------------------------------------

check("T5: writing the same value delivers nothing", function()
  local long = ("x"):rep(50)
  for _, v in ipairs { 1, 1.5, "s", true, false, {}, print, 0 / 0, long .. long } do
    local t = { a = v }
    local n = counter(t, { "a", "*" })
    t.a = type(v) == "string" and long .. (v:match(long .. "(.+)") or "") == v and long .. long or v
    rawset(t, "a", v)
    eq(n(), 0)
    t.a = nil
    eq(n(), 1)
    t.a = nil
    eq(n(), 0)
    t.a = v
    eq(n(), 1)
  end
end)
story("T5: 1.0 equals 1, and is stored", [[
  local t = { a = 1 }
  watch(t, { "a", "*" })
  t.a = 1.0  --> 0
  eq(math.type(t.a), "float")
]])
story("T5: tables are compared by identity, whatever __eq says", [[
  local m = { __eq = function() return true end }
  local t = { a = setmetatable({}, m) }
  watch(t, "a")
  t.a = setmetatable({}, m)  --> 1
]])
story("T5: an inherited value counts as the value", [[
  local base = setmetatable({}, { __index = { a = 1 } })
  local t = setmetatable({}, { __index = base })
  watch(t, "a")
  t.a = 1    --> 0
  t.a = 2    --> 1
  t.a = nil  --> 1
  t.a = 1    --> 0
]])
for _, is_immediate in ipairs { false, true } do
  immediate = is_immediate
  story("T5: `equals` compares an operator or a size with the value delivered last", [[
    local items, mode = obs.array { { p = 1 }, { p = 2 } }, nil
    local function watch_with(path, is_equal)
      return obs.observe(items, path, noting "called", {
        immediate = immediate,
        equals = function(old, new)
          note(old .. ">" .. new)
          return is_equal(old, new)
        end,
      })
    end
    local w = watch_with("@sum.p", function(old, new) return new - old < 5 end)
    items[1].p = 2   --> 3>4
    items[1].p = 5   --> 3>7
    items[1].p = 6   --> 3>8, called
    items[1].p = 7   --> 8>9
    w:stop()
    watch_with("count", function(old, new) return old // 2 == new // 2 end)
    items:append {}  --> 2>3
    items:append {}  --> 2>4, called
    items:append {}  --> 4>5
  ]])
end
story("T5: `equals` is called for each changed element, until one differs", [[
  local function near(old, new) return old and new and math.abs(new - old) < 10 end
  local list = obs.array { 1, 2, 3 }
  watch(list, "*", { immediate = true, equals = near })
  watch(list, "*", { equals = near, name = "flush" })
  list:set { 2, 3, 100 }                      --> *: 3 3>100, flush
  list:set { 3, 4, 101 }                      --> 0
  list:insert(2, 5)                           --> *: 3 101>4, flush
  list:sort(function(a, b) return a > b end)  --> 2
  list:clear()                                --> 2
]])
story("T5: `equals` is not called for elements that an operation left unchanged", [[
  local list = obs.array { 1, 3, 2 }
  watch(list, "#1", { equals = function(old, new) note(old .. ">" .. new) return false end })
  list:sort()
  list:set { 1, 2 }
  obs.assign(list, { 1, 2 })  --> 0
  list:reverse()              --> 1>2, #1
]])
story("T5, Z4: forgetting a property whose value is nil is no change", [[
  local t, value = {}, nil
  local function declare() obs.lazy(t, "k", function() return value end) return t.k end
  eq(declare(), nil)
  watch(t, "k")
  obs.forget(t, "k")  --> 0
  value = 1
  eq(declare(), 1)    --> 1
  obs.forget(t, "k")  --> 1
  local u = {}
  obs.computed(u, "q", function(self) return self.items end)
  watch(u, "*")
  watch(u, "*.r")
  obs.forget(u, "q")  --> 0
  obs.lazy(u, "q", function() return 5 end)
  eq(u.q, 5)          --> 0
  obs.forget(u, "q")  --> *, *.r
]])
story("trigger: an assignment with a previous value, otherwise a change; same wiring", [[
  local x = { v = 1 }
  local t = { x = x }
  watch(t, "*.v")
  obs.trigger(t, "y", x)          --> 1
  x.v = 2                         --> 1
  obs.trigger(t, "x", {})         --> 1
  t.x = nil                       --> 1
  x.v = 3                         --> 0
  t.x = x                         --> 1
  obs.trigger(t, "x", x)          --> 0
  obs.trigger(t, "x")             --> 1
  obs.trigger(t, "nothing", nil)  --> 0
]])
story("trigger: of a lazy property, valid or not, delivers and computes nothing", [[
  local t, runs = {}, 0
  obs.lazy(t, "v", function() runs = runs + 1 return {} end)
  watch(t, "v")
  obs.observe(t, "v", noting "now", { immediate = true })
  t.v.x = 1
  obs.trigger(t, "v")  --> now, v
  eq(runs, 1)
]])

-- T7 ----------------------------------------------------------------------------------------------

for _, is_immediate in ipairs { false, true } do
  immediate = is_immediate
  story("T7: no call after stop, of a pending watcher, a later one and the running one", [[
    local t, ws = {}, {}
    local options = { immediate = immediate }
    for i = 1, 9 do
      ws[i] = obs.observe(t, "a", function()
        note(i)
        if i == 1 then for j = 3, 9 do ws[j]:stop() end end
        if i == 2 then
          ws[2]:stop()
          if not immediate then t.a = 9 end
        end
      end, options)
    end
    obs.batch(function()
      t.a = 1
      ws[3]:stop()
    end)     --> 1, 2
    assert(not ws[2].active and not ws[9].active)
    t.a = 2  --> 1
    obs.stop(t)
    t.a = 3  --> 0
  ]])
end

story("L5: stop by observer or by callback ends only matching watchers", [[
  local t, one, other = {}, {}, {}
  local f = noting "f"
  watch(t, "a", { observer = one, name = "one" })
  watch(t, "a", { observer = other, name = "other" })
  obs.observe(t, "a", f)
  eq(obs.stop(t, { observer = one }), 1)
  t.a = 1  --> other, f
  eq(obs.stop(t, { callback = f }), 1)
  t.a = 2  --> other
  eq(obs.stop(t, { observer = one }), 0)
]])

-- T9 ----------------------------------------------------------------------------------------------

story("T9: a call comes inside the write, after the value is stored, in order of registration", [[
  local t = {}
  for i = 1, 3 do
    obs.observe(t, { "a", "*", "a" }, function(o, _, c)
      note(i, o.a, c.path, c.key, c.old, c.new)
    end, { immediate = true })
  end
  t.a = 5    --= 1 5 a a nil 5, 2 5 a a nil 5, 3 5 a a nil 5
  t.a = 5    --= 0
  t.a = nil  --> 1 nil a a 5 nil, 2 nil a a 5 nil, 3 nil a a 5 nil
]])
check("T9: path, key, old and new value of a change are unchanged", function()
  local t, last = { 1, 2, u = { x = 1 }, l = { 1 } }, nil
  local function hear(_, _, change) last = change end
  local w = obs.observe(t, "*", hear, { immediate = true })
  local k = {}
  for _, key in ipairs { 3, "s", true, 2.5, k } do
    t[key] = k
    eq(last.key, key)
    eq(math.type(last.key), math.type(key))
    eq(last.new, k)
    eq(last.old, nil)
    eq(last.path, "*")
  end
  w:stop()
  obs.observe(t, { "zzz", "u.x", "l.*" }, hear, { immediate = true })
  t.u.x = 2
  eq(("%s %s"):format(last.path, last.key), "u.x x")
  local old = t.u
  t.u = { x = 3 }
  eq(("%s %s"):format(last.path, last.key), "u.x u")
  assert(last.old == old and last.new == t.u)
  t.l[2] = 5
  eq(("%s %s"):format(last.path, last.key), "l.* 2")
end)
story("T9: a watcher of * and of an operator receives the changed value", [[
  local t = { items = obs.array {} }
  obs.computed(t, "n", { "items.@count" }, function(self) return #self.items end)
  eq(t.n, 0)
  watch(t, { "*", "items.@sum.items.@count" }, { immediate = true })
  t.items[1] = {}  --= *: n 0>1
  obs.stop(t)
]])
story("T9: a batch delays calls to its end: once, in order of registration, first change", [[
  local t = { a = 0, b = 0 }
  watch(t, "a", { immediate = true })
  watch(t, { "b", "a" }, { immediate = true })
  note(obs.batch(function(x, y)
    obs.batch(function() t.b = 1 end)
    t.a = 1
    t.a = 2
    note "end"
    return x, y
  end, "p", "q"))  --= end, a: a 0>1, b: b 0>1, p q
  t.a = 3          --= 2
]])
story("T9: a batch that raises delivers, and the error passes through unchanged", [[
  local t, e = {}, {}
  watch(t, "a", { immediate = true })
  local ok, caught = pcall(obs.batch, function() t.a = 1; error(e) end)  --= 1
  assert(not ok and caught == e)
  eq(t.a, 1)
  t.a = 2  --= 1
]])
story("T9: a batch calls each watcher once, at its end, even if the flush also has to call it", [[
  local t = { a = 1, b = 1 }
  local function hear(name)
    return function(_, _, c) note(name .. (c and ":" .. c.old .. c.new or "")) end
  end
  obs.observe(t, { "a", "b" }, hear "first", { immediate = true, initial = true })
  obs.observe(t, "a", hear "second", { immediate = true }):schedule()
  obs.batch(function()
    t.a = 2
    t.b = 2
    t.a = 3
  end)  --= first:12, second:12
                   --> first, second
]])
story("T9: a batch that leaves an operator, a size or a property unchanged", [[
  local t = { items = obs.array { 1, 2 }, n = 1 }
  obs.computed(t, "odd", { "n" }, function(self) return self.n % 2 end)
  for _, path in ipairs { "items.@sum", "items.count", "items.@first", "items.@max", "odd" } do
    obs.observe(t, path, noting(path), { immediate = true })
  end
  obs.batch(function()
    t.items:append(3)
    t.items[1] = 7
    t.n = 2
    t.items:remove()
    t.items[1] = 1
    t.n = 3
  end)                                         --= 0
  obs.batch(function() t.items:append(3) end)  --= items.@sum, items.count, items.@max
]])
story("T9: of several changes in a batch the first is delivered, whatever its kind", [[
  local t = { n = 1, m = 1 }
  obs.computed(t, "twice", { "n" }, function(self) return self.n * 2 end)
  watch(t, { "m", "twice" }, { immediate = true })
  obs.batch(function()
    t.n = 2
    t.m = 2
    local _ = t.twice
    t.n = 3
  end)  --= twice: twice 2>6
  obs.batch(function()
    t.m = 3
    t.n = 4
  end)  --= m: m 2>3
]])
story("T9, Z4: a batch that changes a computed property and members delivers both", [[
  for _, paths in ipairs { { "members.a", "total" }, { "total", "members.a" } } do
    local t = { members = obs.set_of {}, v = 0 }
    obs.computed(t, "total", { "v" }, function(self) return self.v end)
    watch(t, paths, { immediate = true })
    obs.batch(function() t.members:add(1) t.v = 1 end)  --= members.a: 1 nil>1
    t.v = 2                                             --= total: total 1>2
  end
]])
story("T9: a batch inside an immediate watcher drops no call of others", [[
  for _, outermost in ipairs { function(f) f() end, obs.batch } do
    for _, is_first in ipairs { true, false } do
      local t = { a = 1, b = 1, c = 1 }
      local function listen() watch(t, { "a", "b", "c" }, { immediate = true }) end
      if is_first then listen() end
      obs.observe(t, "a", function()
        obs.batch(function()
          t.b = 2
          t.b = 3
          t.c = 2
        end)
      end, { immediate = true })
      if not is_first then listen() end
      outermost(function() t.a = 2 end)  --= a: a 1>2, b: b 1>2
    end
  end
]])
story("T9: calls of other watchers inside of an immediate callback are not lost", [[
  local t, u = { a = 1 }, { b = 1 }
  local other, run = watch(u, "b", { name = "scheduled" }), watch(u, "b", { name = "run" })
  local paused = watch(u, "b", { name = "resumed" })
  paused:pause()
  u.b = 2    --> 2
  reporting(function()
    obs.observe(t, "a", function()
      other:schedule()
      run:run()
      paused:resume()
      watch(t, "a", { initial = true, name = "initial" })
      watch(u, "b", { initial = true, name = "elsewhere" })
    end, { immediate = true, once = true })
    t.a = 2  --= run
             --> scheduled, resumed, initial, elsewhere
  end)
  eq(#reports, 0)
]])
story("T9: a watcher that pauses itself is not called again before it resumes", [[
  local t, w = { a = 1 }, nil
  w = obs.observe(t, "a", function(_, _, change)
    note(change.new)
    w:pause()
    if t.a < 4 then
      t.a = t.a + 1
      t.a = t.a + 1
    end
  end, { immediate = true })
  t.a = 2     --= 2
  t.a = 10    --= 0
  w:resume()  --= 3
]])
story("T9, C9: a paused immediate watcher compares computed values when it resumes", [[
  local t = { a = 1, items = { 1 } }
  obs.computed(t, "q", { "a" }, function(self) return self.a end)
  local watchers = {}
  for i, path in ipairs { "q", "items.@sum", "items.@count" } do
    watchers[i] = watch(t, { path, "x" }, { immediate = true })
    watchers[i]:pause()
  end
  local function resume()
    for _, w in ipairs(watchers) do
      w:resume()
      w:pause()
    end
  end
  t.a, t.items[2] = 2, 2
  t.a, t.items[2] = 1, nil
  resume()    --= 0
  t.a, t.items[2] = 2, 2
  t.x = 1
  t.a, t.items[2] = 3, 3
  resume()    --= q: q 1>3, items.@sum: 2 nil>2, items.@count: 2 nil>2
  obs.batch(function()
    t.x = 2
    t.a, t.items[3] = 4, 1
    resume()  --= 0
  end)        --= 0
  resume()    --= x: x 1>2, x: x 1>2, x: x 1>2
  resume()    --= 0
]])
story("T9: a watcher is not re-entered: its own triggers call it after its return, 100 times", [[
  local t, depth = { n = 0 }, 0
  obs.observe(t, "n", function(_, _, c)
    eq(depth, 0)
    depth = depth + 1
    note(c.new)
    if t.n < last then t.n = t.n + 1 end
    depth = depth - 1
  end, { immediate = true, name = "runaway" })
  last = 3
  t.n = 1                               --= 1, 2, 3
  last = math.huge
  for _ = 1, 2 do
    reporting(function() t.n = -1 end)  --= 101
    eq(#reports, 1)
    has(tostring(reports[1].error), "runaway")
    has(tostring(reports[1].error), "Delivery.lua:")
  end
  eq(obs.limits().immediate_depth, 100)
  eq(obs.limits { immediate_depth = 5 }.immediate_depth, 5)
  reporting(function() t.n = -1 end)    --= 6
  obs.limits { immediate_depth = 100 }
  eq(#reports, 1)
]])
check("T9: two watchers that trigger each other endlessly are an error, not a hang", function()
  local t = { a = 0, b = 0 }
  reporting(function()
    obs.observe(t, "a", function() t.b = t.b + 1 end, { immediate = true, name = "ping" })
    obs.observe(t, "b", function() t.a = t.a + 1 end, { immediate = true, name = "pong" })
    t.a = 1
  end)
  assert(#reports >= 1)
  assert(tostring(reports[1].error):find("p[io]ng"))
end)

-- Makes `n` objects, each with an immediate watcher that writes to the next one.
local function chain(n, body)
  local nodes = {}
  for i = 1, n do nodes[i] = { v = 0 } end
  for i, node in ipairs(nodes) do
    obs.observe(node, "v", function(_, _, change)
      body(i, change, function() if nodes[i + 1] then nodes[i + 1].v = node.v end end, nodes)
    end, { immediate = true })
  end
  return nodes
end

check("T9: immediate calls nested deeper than 50 are queued, in order", function()
  local log, depth, most = {}, 0, 0
  chain(400, function(i, _, continue)
    depth = depth + 1
    most = math.max(most, depth)
    log[#log + 1] = i
    continue()
    depth = depth - 1
  end)[1].v = 1
  eq(#log, 400)
  for i = 1, 400 do eq(log[i], i) end
  assert(most <= 51, most)
end)
check("T9: a watcher that waits behind deep calls is not called once it is paused", function()
  local log, last = {}, nil
  local nodes = chain(59, function(i, _, continue, nodes)
    if i == 59 then nodes.last.v = nodes[59].v end
    continue()
    if i == 1 then last:pause() end
  end)
  nodes.last = { v = 0 }
  last = obs.observe(nodes.last, "v", function(t) log[#log + 1] = t.v end, { immediate = true })
  nodes[1].v = 5
  eq(#log, 0)
  last:resume()
  eq(table.concat(log, ","), "5")
end)
check("T9: changes are delivered in their order: those behind deep calls", function()
  local log = {}
  local nodes = chain(60, function(i, change, continue, nodes)
    if i == 60 then log[#log + 1] = { change.old, change.new } end
    continue()
    if i == 40 then nodes[60].v = 2 end
  end)
  nodes[40].v = -1
  nodes[1].v = 1
  assert(#log > 2)
  for i = 2, #log do eq(log[i][1], log[i - 1][2]) end
end)
story("T9: changes are delivered in their order: outer writes, and those that a batch delayed", [[
  local t = { a = 0, v = 0 }
  obs.observe(t, "v", function() if t.v == 5 then t.v = 1 end end, { immediate = true })
  watch(t, "v", { immediate = true })
  t.v = 5                                    --= v: v 0>5, v: v 5>1
  local u = { a = 0, v = 0 }
  obs.observe(u, "a", function() u.v = 1 end, { immediate = true })
  watch(u, "v", { immediate = true })
  obs.batch(function() u.a, u.v = 1, 5 end)  --= v: v 0>5, v: v 5>1
]])
check("T9: a comparison that stops its own watcher, and raises", function()
  reporting(function()
    for i = 1, 20 do
      local o, w = { a = 1 }, nil
      w = obs.observe(o, "a", function() error("called") end, {
        name = "comparing", immediate = i % 2 == 0,
        equals = function()
          w:stop()
          error("x", 0)
        end,
      })
      o.a = 2
      obs.flush()
      collectgarbage()
    end
  end)
  eq(#reports, 20)
  for _, report in ipairs(reports) do
    eq(report.error, "x")
    eq(report.where.name, "comparing")
  end
end)

-- T10 ---------------------------------------------------------------------------------------------

check("T10: an error is reported with its places, others run, the watcher stays", function()
  for kind, is_immediate in pairs { watcher = false, immediate = true } do
    local t, calls, line = {}, 0, nil
    reporting(function()
      line = debug.getinfo(1, "l").currentline + 1
      obs.observe(t, "a", function() error("boom") end, { name = "bad", immediate = is_immediate })
      obs.observe(t, "a", function() calls = calls + 1 end, { immediate = is_immediate })
      t.a = 1
      obs.flush()
      t.a = 2
      obs.flush()
    end)
    eq(calls, 2)
    eq(#reports, 2)
    local where = reports[1].where
    has(reports[1].error, ("%s:%d: boom"):format(file, line))
    has(where.site, ("%s:%d"):format(file, line))
    if not is_immediate then has(where.cause, ("%s:%d"):format(file, line + 2)) end
    has(where.traceback, "traceback")
    eq(("%s %s %s"):format(where.kind, where.name, math.type(where.turn)), kind .. " bad integer")
  end
end)
check("T10: a watcher that stops itself and then raises is reported in the same way", function()
  reporting(function()
    for _, is_immediate in ipairs { true, false } do
      local t, w = { a = 1 }, nil
      w = obs.observe(t, "a", function(o)
        o.a = 3
        w:stop()
        collectgarbage()
        error("x", 0)
      end, { name = "stopping", immediate = is_immediate })
      t.a = 2
      obs.flush()
    end
  end)
  local line = debug.getinfo(1, "l").currentline - 4
  eq(#reports, 2)
  for _, report in ipairs(reports) do
    eq(report.where.name, "stopping")
    has(report.where.site, ("%s:%d"):format(file, line - 6))
  end
  has(reports[2].where.cause, ("%s:%d"):format(file, line))
end)
check("T10: the error value is reported as it was raised, with or without a text", function()
  for _, e in ipairs {
    { error = nil }, { error = {} }, { error = print }, { error = true }, { error = 42 },
    { error = setmetatable({}, { __tostring = function() error("x") end }) },
    { error = setmetatable({}, { __tostring = function() return {} end }) },
    { error = coroutine.create(print) }, { error = "\0\255" },
  } do
    local t = {}
    reporting(function()
      obs.observe(t, "a", function() error(e.error, 0) end)
      obs.observe(t, "a", function() error(e.error, 0) end, { immediate = true })
      t.a = 1
      obs.flush()
    end)
    eq(#reports, 2)
    if e.error ~= nil then eq(reports[1].error, e.error) end
  end
end)
check("T10: a stack overflow in a callback is an error like others", function()
  local t, calls = {}, 0
  reporting(function()
    local function deep() return 1 + deep() end
    obs.observe(t, "a", function() deep() end)
    obs.observe(t, "a", function() calls = calls + 1 end)
    t.a = 1
    obs.flush()
  end)
  eq(calls, 1)
  eq(#reports, 1)
  assert(tostring(reports[1].error):find("stack overflow"))
end)

-- T11 ---------------------------------------------------------------------------------------------

for _, is_immediate in ipairs { false, true } do
  immediate = is_immediate
  story("T11: a watcher added in a call is called starting with the next change", [[
    local t, added = {}, nil
    obs.observe(t, "a", function()
      note(1)
      added = added or obs.observe(t, "a", noting "2", { immediate = immediate })
    end, { immediate = immediate })
    t.a = 1  --> 1
             --> 0
    t.a = 2  --> 1, 2
  ]])
end
check("T11: a thousand watchers stopped by the first of them", function()
  local t, calls = {}, 0
  obs.observe(t, "a", function() obs.stop(t) end)
  for i = 1, 1000 do obs.observe(t, "a", function() calls = calls + 1 end) end
  t.a = 1
  eq(obs.flush(), 1)
  eq(calls, 0)
  eq(#obs.observed_keys(t), 0)
end)

-- T12, T14 ----------------------------------------------------------------------------------------

check("T12: flush inside a watcher, an immediate one, a hook or a batch is an error", function()
  local t, caught = {}, {}
  local function try(where)
    local ok, message = pcall(obs.flush)
    caught[where] = not ok and message
  end
  obs.observe(t, "a", function() try "watcher" end)
  obs.observe(t, "a", function() try "immediate" end, { immediate = true })
  obs.on_observed(t, function() try "hook" end)
  obs.observe(t, "b", nothing)
  t.a = 1
  obs.batch(try, "batch")
  obs.flush()
  obs.observe(t, "e", function() end, { equals = function() try "equals" return true end })
  t.e = 1
  for _, where in ipairs { "watcher", "immediate", "hook", "batch", "equals" } do
    assert(caught[where] and caught[where]:find("flush"), where .. ": " .. tostring(caught[where]))
  end
end)
check("T12: hooks that observe and stop end like watchers that trigger themselves", function()
  reporting(function()
    local t, f, calls = { k = 1 }, nothing, 0
    obs.on_observed(t, function(t, _, on)
      calls = calls + 1
      if on then obs.stop(t) else obs.observe(t, "k", f) end
    end)
    obs.observe(t, "k", f)
    eq(calls, 100)
  end)
  eq(#reports, 1)
  assert(tostring(reports[1].error):find("hooks of .* set each other off 100 times.*'k'"),
    reports[1].error)
end)
story("T12: a failed registration calls no hooks", [[
  local User = obs.model("User", { name = "", friend = obs.none })
  local t = { a = { b = User {} } }
  for _, object in ipairs { t, t.a } do obs.on_observed(object, function(_, ...) note(...) end) end
  fails("nam", obs.observe, t, "a.b.nam", nothing)  --= 0
  obs.observe(t, "a.b.name", nothing):stop()        --= a true, b true, a false, b false
]])
check("T12: a watcher cannot yield, with a clear error", function()
  local t = {}
  reporting(function()
    obs.observe(t, "a", function() coroutine.yield(1) end)
    obs.observe(t, "a", function() coroutine.yield(1) end, { immediate = true })
    t.a = 1
    obs.flush()
    local co = coroutine.create(function() t.a = 2; obs.flush(); return "done" end)
    local ok, result = coroutine.resume(co)
    assert(ok and result == "done", tostring(result))
    obs.stop(t)
    -- A watcher cannot wait in a flush by a task, either.
    obs.observe(t, "a", function() obs.sleep(0) end)
    obs.task(function() t.a = 3; obs.flush() end)
  end)
  eq(#reports, 5)
  for i = 1, 5 do assert(tostring(reports[i].error):find "yield.*task", reports[i].error) end
end)
turns("T12: a watcher may use coroutines, and start tasks, which may wait", function()
  local t, log = {}, {}
  obs.observe(t, "a", function()
    for v in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) do
      log[#log + 1] = v
    end
    obs.task(function()
      log[#log + 1] = "task"
      obs.sleep(0.01)
      log[#log + 1] = "woke"
    end)
  end)
  t.a = 1
  turn()
  eq(table.concat(log, " "), "1 2 3 task")
  obs.sleep(0.02)
  eq(table.concat(log, " "), "1 2 3 task woke")
end)
check("T12: recursion through writes, observes and stops ends", function()
  local t = { n = 0 }
  local function again()
    if t.n < 300 then
      obs.observe(t, "n", again, { once = true })
      t.n = t.n + 1
    end
  end
  obs.observe(t, "n", again, { immediate = true, once = true })
  t.n = 1
  for _ = 1, 1000 do if obs.flush() == 0 then break end end
  eq(t.n, 300)
end)
check("100,000 watchers on one key", function()
  local t, calls, count = {}, 0, os.getenv "OBS_LIGHT" and 10000 or 100000
  local function f() calls = calls + 1 end
  local ws = {}
  for i = 1, count do ws[i] = obs.observe(t, "a", f) end
  t.a = 1
  eq(obs.flush(), count)
  eq(calls, count)
  for i = 1, count, 2 do ws[i]:stop() end
  t.a = 2
  eq(obs.flush(), count // 2)
  eq(obs.observer_count(t, "a"), count // 2)
  eq(obs.stop(t, "a"), count // 2)
  eq(obs.flush(), 0)
end)

-- T4's limit comes last: it needs the end of a turn.
turns("T4, T14: endless triggering is an error that names the watcher and its place", function()
  local t = { n = 0 }
  reports = {}
  obs.on_error(function(e, where) reports[#reports + 1] = tostring(e) end)
  eq(obs.limits().retrigger_turns, 1000)
  obs.limits { retrigger_turns = 20 }
  obs.observe(t, "n", function() t.n = t.n + 1 end, { name = "forever" }); local place = here()
  t.n = 1
  turn()
  obs.on_error(nil)
  eq(#reports, 1)
  has(reports[1], "forever")
  has(reports[1], place:match "[^/]+$")
  assert(t.n >= 20 and t.n <= 23, t.n)
  turn()
  obs.limits { retrigger_turns = 1000 }
  -- It stays registered, and works.
  obs.stop(t)
end)

finish()
