-- Rules T1–T14, as a script sees them.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- T1, T2, T3
check("T1: once per flush, however many paths and however often", function()
  local t = { a = 1, b = { c = 1 } }
  local n = counter(t, { "a", "b.c", "*", "b" })
  for i = 2, 50 do
    t.a = i
    t.b.c = i
    t.b = { c = i }
  end
  eq(n(), 1)
  eq(n(), 0)
end)
turns("T1: the end of a timer's turn delivers", function()
  local t, seen = {}, 0
  obs.observe(t, "a", function() seen = seen + 1 end)
  obs.after(0, function() t.a = 1; t.a = 2 end)
  obs.after(0, function() eq(seen, 1); t.a = 3 end)
  obs.sleep(0.001)
  eq(seen, 2)
end)
turns("T1: the end of a task's step delivers", function()
  local t, seen = {}, 0
  obs.observe(t, "a", function() seen = seen + 1 end)
  t.a = 1
  eq(seen, 0)
  turn()
  eq(seen, 1)
end)
check("T2: one function registered twice is called twice", function()
  local t, calls = {}, 0
  local function f() calls = calls + 1 end
  obs.observe(t, "a", f)
  obs.observe(t, "a", f)
  t.a = 1
  eq(obs.flush(), 2)
  eq(calls, 2)
end)
check("T2: the callback receives observed and observer, and nothing else", function()
  local t, o, got = {}, {}, nil
  obs.observe(t, "a", function(...) got = table.pack(...) end, { observer = o })
  t.a = 1
  obs.flush()
  assert(got[1] == t and got[2] == o)
  assert(got.n == 2, "n is " .. got.n)
  obs.observe(t, "b", function(...) got = table.pack(...) end)
  t.b = 1
  obs.flush()
  assert(got[1] == t and got[2] == nil)
end)
check("T3: earliest registered first, whatever was written first", function()
  local t, u, log = {}, {}, {}
  obs.observe(t, "a", function() log[#log + 1] = "1" end)
  obs.observe(u, "a", function() log[#log + 1] = "2" end)
  obs.observe(t, "b", function() log[#log + 1] = "3" end)
  t.b, u.a, t.a = 1, 1, 1
  obs.flush()
  eq(table.concat(log), "123")
end)
check("T3: a watcher triggered in between runs in its place", function()
  local t, log = {}, {}
  obs.observe(t, "start", function() log[#log + 1] = "1"; t.c = 1; t.b = 1 end)
  obs.observe(t, "b", function() log[#log + 1] = "2" end)
  obs.observe(t, "c", function() log[#log + 1] = "3" end)
  obs.observe(t, "start", function() log[#log + 1] = "4" end)
  t.start = 1
  eq(obs.flush(), 4)
  eq(table.concat(log), "1234")
end)

-- T4
check("T4: a watcher that is due again waits for the next flush of the script", function()
  local t, calls = { n = 0 }, 0
  obs.observe(t, "n", function() calls = calls + 1; if t.n < 5 then t.n = t.n + 1 end end)
  t.n = 1
  eq(obs.flush(), 1)
  eq(obs.flush(), 1)
  eq(calls, 2)
  eq(obs.stats().pending, 1)
  while obs.flush() > 0 do end
  eq(t.n, 5)
end)
turns("T4: at the end of a turn it runs in the next, which starts at once", function()
  local t, calls = { n = 0 }, 0
  obs.observe(t, "n", function() calls = calls + 1; if t.n < 100 then t.n = t.n + 1 end end)
  local before = obs.stats().turns
  local timer = false
  obs.after(0, function() timer = true end)
  t.n = 1
  turn()
  eq(t.n, 100)
  eq(calls, 100)
  assert(obs.stats().turns - before >= 100)
end)
turns("T4: two watchers that trigger each other settle, both called", function()
  local t, log = { a = 0, b = 0 }, 0
  obs.observe(t, "a", function() log = log + 1; t.b = math.min(t.a, 10) end)
  obs.observe(t, "b", function() log = log + 1; t.a = t.b + 1 end)
  t.a = 1
  turn()
  eq(t.b, 10)
  eq(t.a, 11)
end)

-- T5
check("T5: writing the same delivers nothing", function()
  local u = {}
  for _, v in ipairs { 1, 1.5, "s", true, false, u, print } do
    local t = { a = v }
    local n = counter(t, { "a", "*" })
    t.a = v
    rawset(t, "a", v)
    eq(n(), 0)
  end
  local t = {}
  local n = counter(t, { "a", "*" })
  t.a = nil
  eq(n(), 0)
  t.a = 1
  n()
  t.a = 1.0
  eq(n(), 0)
  eq(math.type(t.a), "float")
end)
check("T5: NaN equals NaN", function()
  local t = { a = 0 / 0 }
  local n = counter(t, "a")
  t.a = 0 / 0
  eq(n(), 0)
  t.a = 1
  eq(n(), 1)
  t.a = 0 / 0
  eq(n(), 1)
end)
check("T5: tables are compared by identity, whatever __eq says", function()
  local m = { __eq = function() return true end }
  local t = { a = setmetatable({}, m) }
  local n = counter(t, "a")
  t.a = setmetatable({}, m)
  eq(n(), 1)
end)
check("T5: an inherited value counts as the value", function()
  local t = setmetatable({}, { __index = { a = 1 } })
  local n = counter(t, "a")
  t.a = 1
  eq(n(), 0)
  t.a = 2
  eq(n(), 1)
  t.a = nil
  eq(n(), 1)
  t.a = 1
  eq(n(), 0)
end)
check("T5: A to B to A in one turn delivers once", function()
  local t = { a = "A" }
  local n = counter(t, "a")
  t.a = "B"
  t.a = "A"
  eq(n(), 1)
end)
check("T5: equal strings that are not the same object", function()
  local long = ("x"):rep(100)
  local t = { a = long }
  local n = counter(t, "a")
  t.a = ("x"):rep(50) .. ("x"):rep(50)
  eq(n(), 0)
end)

-- T6, T7
check("T6: the callback reads the latest state", function()
  local t, seen = {}, nil
  obs.observe(t, "a", function(o) seen = o.a end)
  t.a = 1
  t.a = 2
  obs.flush()
  eq(seen, 2)
end)
check("T7: no call after stop, not even a pending one", function()
  local t = {}
  local n, w = counter(t, "a")
  t.a = 1
  w:stop()
  eq(n(), 0)
  assert(not w.active)
end)
check("T7: not even in the current flush", function()
  local t, called = {}, false
  local second
  obs.observe(t, "a", function() second:stop() end)
  second = obs.observe(t, "a", function() called = true end)
  t.a = 1
  eq(obs.flush(), 1)
  assert(not called)
end)
check("T7: a watcher can stop itself", function()
  local t, calls = {}, 0
  local w
  w = obs.observe(t, "a", function() calls = calls + 1; w:stop(); t.a = calls + 10 end)
  t.a = 1
  obs.flush()
  obs.flush()
  eq(calls, 1)
end)

-- T9
check("T9, C9: a paused immediate watcher compares computed values when it resumes", function()
  local t, log = { a = 1, items = { 1 } }, {}
  obs.computed(t, "q", { "a" }, function(self) return self.a end)
  local watchers = {}
  for i, path in ipairs { "q", "items.@sum", "items.@count" } do
    watchers[i] = obs.observe(t, { path, "x" }, function(_, _, change)
      log[#log + 1] = ("%s %s %s"):format(change.path, change.old, change.new)
    end, { immediate = true })
    watchers[i]:pause()
  end
  local function resumed()
    for i in ipairs(log) do log[i] = nil end
    for _, w in ipairs(watchers) do
      w:resume()
      w:pause()
    end
    return table.concat(log, ", ")
  end
  t.a, t.items[2] = 2, 2
  t.a, t.items[2] = 1, nil
  eq(resumed(), "")
  t.a, t.items[2] = 2, 2
  t.x = 1
  t.a, t.items[2] = 3, 3
  eq(resumed(), "q 1 3, items.@sum nil 2, items.@count nil 2")
  obs.batch(function()
    t.x = 2
    t.a, t.items[3] = 4, 1
    eq(resumed(), "")
  end)
  eq(resumed(), "x 1 2, x 1 2, x 1 2")
  eq(resumed(), "")
end)

check("T9: inside the write, after the value is stored, in order of registration", function()
  local t, log = {}, {}
  for i = 1, 3 do
    obs.observe(t, "a", function(o, observer, change)
      log[#log + 1] = i .. ":" .. tostring(o.a) .. change.path .. tostring(change.key)
        .. tostring(change.old) .. tostring(change.new)
    end, { immediate = true })
  end
  t.a = 5
  log[#log + 1] = "after"
  eq(table.concat(log, " "), "1:5aanil5 2:5aanil5 3:5aanil5 after")
  t.a = 5
  eq(#log, 4)
  t.a = nil
  eq(log[5], "1:nilaa5nil")
end)
check("T9: once per change, not per path", function()
  local t, calls = { a = 1 }, 0
  obs.observe(t, { "a", "*", "a" }, function() calls = calls + 1 end, { immediate = true })
  t.a = 2
  eq(calls, 1)
  t.a = 3
  eq(calls, 2)
end)
check("T4: a watcher without a reason for a call does not count as called in the flush", function()
  local t, first, calls = { a = 1 }, { k = 1 }, 0
  obs.changes(t, function() calls = calls + 1 end)
  obs.transaction({ t }, function()
    t.a = 5
    error "taken back"
  end)
  eq(obs.flush(), 0)
  local history = obs.history(t)
  t.a = 2
  t.a = 1
  eq(obs.flush(), 0)
  eq(calls, 0)
  -- A later write of another watcher is delivered in the same flush.
  local heard = 0
  obs.observe_keys(t, "b", function() heard = heard + 1 end)
  obs.observe(first, "k", function() t.a, t.b = 3, 1 end)
  obs.transaction({ t }, function()
    t.a, t.b = 5, 5
    error "taken back"
  end)
  first.k = 2
  eq(obs.flush(), 3)
  eq(calls, 1)
  eq(heard, 1)
  history:stop()
end)
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
check("T9: a batch inside an immediate watcher drops no call of others", function()
  for _, outermost in ipairs { function(f) f() end, obs.batch } do
    for _, first in ipairs { true, false } do
      local t, heard = { a = 1, b = 1, c = 1 }, {}
      local function listen()
        obs.observe(t, { "a", "b", "c" }, function(_, _, change)
          heard[#heard + 1] = change.path .. change.old .. change.new
        end, { immediate = true })
      end
      if first then listen() end
      obs.observe(t, "a", function()
        obs.batch(function()
          t.b = 2
          t.b = 3
          t.c = 2
        end)
      end, { immediate = true })
      if not first then listen() end
      outermost(function() t.a = 2 end)
      eq(table.concat(heard, " "), "a12 b12")
    end
  end
end)
check("T9: the change of a nested path has its key", function()
  local t, log = { u = { x = 1 } }, {}
  obs.observe(t, "u.x", function(o, _, c) log[#log + 1] = c end, { immediate = true })
  t.u.x = 2
  eq(log[1].path, "u.x")
  eq(log[1].key, "x")
  local old = t.u
  t.u = { x = 3 }
  eq(log[2].key, "u")
  eq(log[2].old, old)
  eq(log[2].new, t.u)
  eq(log[2].path, "u.x")
end)
check("T9: keys, old and new values are unchanged", function()
  local t, last = { 1, 2 }, nil
  obs.observe(t, "*", function(_, _, c) last = c end, { immediate = true })
  local k = {}
  for _, key in ipairs { 3, "s", true, 2.5, k } do
    t[key] = k
    eq(last.key, key)
    eq(math.type(last.key), math.type(key))
    eq(last.new, k)
    eq(last.old, nil)
    eq(last.path, "*")
  end
end)
check("T9: batch delays them to its end, one call with the first change", function()
  local t, log = { a = 0 }, {}
  obs.observe(t, { "a", "b" }, function(o, _, c)
    log[#log + 1] = ("%s %s>%s %s"):format(c.key, c.old, c.new, o.a)
  end, { immediate = true })
  local r1, r2 = obs.batch(function(x, y)
    t.a = 1
    t.a = 2
    t.b = 1
    eq(#log, 0)
    return x, y
  end, "p", "q")
  eq(r1, "p")
  eq(r2, "q")
  eq(#log, 1)
  eq(log[1], "a 0>1 2")
  t.a = 3
  eq(#log, 2)
end)
check("T9: batches nest", function()
  local t, calls = {}, 0
  obs.observe(t, "a", function() calls = calls + 1 end, { immediate = true })
  obs.batch(function()
    obs.batch(function() t.a = 1 end)
    eq(calls, 0)
    t.a = 2
  end)
  eq(calls, 1)
end)
check("T9: in a batch, in order of registration", function()
  local t, log = {}, ""
  obs.observe(t, "a", function() log = log .. 1 end, { immediate = true })
  obs.observe(t, "b", function() log = log .. 2 end, { immediate = true })
  obs.batch(function() t.b = 1; t.a = 1 end)
  eq(log, "12")
end)
check("T9: a batch that raises delivers, and the error passes through unchanged", function()
  local t, calls, e = {}, 0, {}
  obs.observe(t, "a", function() calls = calls + 1 end, { immediate = true })
  local ok, caught = pcall(obs.batch, function() t.a = 1; error(e) end)
  assert(not ok and caught == e)
  eq(calls, 1)
  eq(t.a, 1)
  t.a = 2
  eq(calls, 2)
end)
check("T9: in a batch, each is called once after it, also if the flush has to call it", function()
  local t, log = { a = 1, b = 1 }, {}
  local function note(name)
    return function(_, _, change)
      log[#log + 1] = name .. (change and ":" .. change.old .. change.new or "")
    end
  end
  local first = obs.observe(t, { "a", "b" }, note "first", { immediate = true, initial = true })
  local second = obs.observe(t, "a", note "second", { immediate = true })
  second:schedule()
  obs.batch(function()
    t.a = 2
    t.b = 2
    t.a = 3
  end)
  eq(table.concat(log, ","), "first:12,second:12")
  obs.flush()
  eq(table.concat(log, ","), "first:12,second:12,first,second")
  first:stop()
end)
check("T9: a batch that leaves an operator, a size or a property unchanged", function()
  local t, calls = { items = obs.array { 1, 2 }, n = 1 }, 0
  obs.computed(t, "odd", { "n" }, function(self) return self.n % 2 end)
  for _, path in ipairs { "items.@sum", "items.count", "items.@first", "items.@max", "odd" } do
    obs.observe(t, path, function() calls = calls + 1 end, { immediate = true })
  end
  obs.batch(function()
    t.items:append(3)
    t.items[1] = 7
    t.n = 2
    t.items:remove()
    t.items[1] = 1
    t.n = 3
  end)
  eq(calls, 0)
  obs.batch(function() t.items:append(3) end)
  eq(calls, 3)
end)
check("T9: of several changes in a batch the first is delivered, whatever its kind", function()
  local t, log = { n = 1, m = 1 }, {}
  obs.computed(t, "twice", { "n" }, function(self) return self.n * 2 end)
  obs.observe(t, { "m", "twice" }, function(_, _, change)
    log[#log + 1] = ("%s %s %s %s"):format(change.path, change.key, change.old, change.new)
  end, { immediate = true })
  obs.batch(function()
    t.n = 2
    t.m = 2
    local _ = t.twice
    t.n = 3
  end)
  obs.batch(function()
    t.m = 3
    t.n = 4
  end)
  eq(table.concat(log, ";"), "twice twice 2 6;m m 2 3")
end)
check("T9: inside of an immediate callback", function()
  -- Calls of other watchers are not lost.
  reporting(function()
    local t, u, log = { a = 1 }, { b = 1 }, {}
    local function note(name) return function() log[#log + 1] = name end end
    local other = obs.observe(u, "b", note "scheduled")
    local run = obs.observe(u, "b", note "run")
    local paused = obs.observe(u, "b", note "resumed")
    paused:pause()
    u.b = 2
    obs.flush()
    log = {}
    obs.observe(t, "a", function()
      other:schedule()
      run:run()
      paused:resume()
      obs.observe(t, "a", note "initial", { initial = true })
      obs.observe(u, "b", note "initial elsewhere", { initial = true })
    end, { immediate = true, once = true })
    t.a = 2
    eq(table.concat(log, ","), "run")
    obs.flush()
    eq(table.concat(log, ","), "run,scheduled,resumed,initial,initial elsewhere")
  end)
  eq(#reports, 0)
end)
check("T9: a watcher that pauses itself is not called again before it resumes", function()
  local t, log = { a = 1 }, {}
  local w
  w = obs.observe(t, "a", function(_, _, change)
    log[#log + 1] = change.new
    w:pause()
    if t.a < 4 then
      t.a = t.a + 1
      t.a = t.a + 1
    end
  end, { immediate = true })
  t.a = 2
  eq(table.concat(log, ","), "2")
  t.a = 10
  w:resume()
  eq(table.concat(log, ","), "2,3")
end)
check("T9: a watcher that waits behind deep calls is not called once it is paused", function()
  local chain, log = {}, {}
  for i = 1, 60 do chain[i] = { n = 0 } end
  local last
  for i = 1, 59 do
    obs.observe(chain[i], "n", function(t)
      chain[i + 1].n = t.n
      if i == 1 then last:pause() end
    end, { immediate = true })
  end
  last = obs.observe(chain[60], "n", function(t) log[#log + 1] = t.n end, { immediate = true })
  chain[1].n = 5
  eq(#log, 0)
  last:resume()
  eq(table.concat(log, ","), "5")
end)
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
check("T9: an immediate watcher stopped inside a batch is not called", function()
  local t, calls = {}, 0
  local w = obs.observe(t, "a", function() calls = calls + 1 end, { immediate = true })
  obs.batch(function() t.a = 1; w:stop() end)
  eq(calls, 0)
end)
check("T9: it is not re-entered; calls that it triggers itself follow after its return", function()
  local t, depth, most, calls = { n = 0 }, 0, 0, 0
  obs.observe(t, "n", function(_, _, c)
    depth = depth + 1
    calls = calls + 1
    most = math.max(most, depth)
    if t.n < 10 then t.n = t.n + 1 end
    depth = depth - 1
  end, { immediate = true })
  t.n = 1
  eq(most, 1)
  eq(calls, 10)
  eq(t.n, 10)
end)
check("T9: at most 100 times, then an error that names it", function()
  local t, calls = { n = 0 }, 0
  reporting(function()
    obs.observe(t, "n", function()
      calls = calls + 1
      t.n = t.n + 1
    end, { immediate = true, name = "runaway" })
    t.n = 1
  end)
  eq(#reports, 1)
  assert(tostring(reports[1].error):find("runaway"), tostring(reports[1].error))
  assert(tostring(reports[1].error):find("Delivery.lua:%d+"), tostring(reports[1].error))
  assert(calls == 100 or calls == 101, calls)
  local before = calls
  -- It works again afterwards.
  reporting(function() t.n = -1 end)
  eq(#reports, 1)
  assert(calls > before + 90)
end)
check("T9: the limit can be set", function()
  local old = obs.limits()
  eq(old.retrigger_turns, 1000)
  eq(old.immediate_depth, 100)
  local now = obs.limits { immediate_depth = 5 }
  eq(now.immediate_depth, 5)
  local t, calls = { n = 0 }, 0
  reporting(function()
    obs.observe(t, "n", function() calls = calls + 1; t.n = t.n + 1 end, { immediate = true })
    t.n = 1
  end)
  obs.limits { immediate_depth = 100 }
  eq(#reports, 1)
  assert(calls <= 6, calls)
end)
check("T9: immediate calls nested deeper than 50 are queued, in order", function()
  local n, log, depth, most = 200, {}, 0, 0
  local nodes = {}
  for i = 1, n do nodes[i] = { v = 0 } end
  for i = 1, n do
    obs.observe(nodes[i], "v", function()
      depth = depth + 1
      most = math.max(most, depth)
      log[#log + 1] = i
      if nodes[i + 1] then nodes[i + 1].v = 1 end
      depth = depth - 1
    end, { immediate = true })
  end
  nodes[1].v = 1
  eq(#log, n)
  for i = 1, n do eq(log[i], i) end
  assert(most <= 51, most)
end)
check("T5: `equals` compares an operator or a size with the value delivered last", function()
  for _, immediate in ipairs { false, true } do
    local items, asked, calls = obs.array { { p = 1 }, { p = 2 } }, {}, 0
    local function watch(path, is_equal)
      obs.observe(items, path, function() calls = calls + 1 end, {
        immediate = immediate,
        equals = function(old, new)
          asked[#asked + 1] = old .. ">" .. new
          return is_equal(old, new)
        end,
      })
    end
    watch("@sum.p", function(old, new) return new - old < 5 end)
    for price = 2, 7 do
      items[1].p = price
      obs.flush()
    end
    eq(table.concat(asked, " "), "3>4 3>5 3>6 3>7 3>8 8>9")
    eq(calls, 1)
    asked, calls = {}, 0
    obs.stop(items)
    watch("count", function(old, new) return old // 2 == new // 2 end)
    for _ = 1, 3 do
      items:append {}
      obs.flush()
    end
    eq(table.concat(asked, " "), "2>3 2>4 4>5")
    eq(calls, 1)
  end
end)
check("T9, Z4: a batch that changes a computed property and members delivers both", function()
  for _, paths in ipairs { { "members.a", "total" }, { "total", "members.a" } } do
    local t, calls = { members = obs.set_of {}, v = 0 }, 0
    obs.computed(t, "total", { "v" }, function(self) return self.v end)
    obs.observe(t, paths, function(_, _, change)
      calls = calls + 1
      eq(change.key, calls == 1 and 1 or "total")
      eq(change.path, calls == 1 and "members.a" or "total")
    end, { immediate = true })
    obs.batch(function() t.members:add(1) t.v = 1 end)
    eq(calls, 1)
    t.v = 2
    eq(calls, 2)
  end
end)
check("T9: a watcher that hears a nested write has received the outer one before", function()
  local t, log = { v = 0 }, {}
  obs.observe(t, "v", function() if t.v == 5 then t.v = 1 end end, { immediate = true })
  obs.observe(t, "v", function(_, _, change)
    log[#log + 1] = change.old .. ">" .. change.new
  end, { immediate = true })
  t.v = 5
  eq(table.concat(log, " "), "0>5 5>1")
end)
check("T9: a change that a batch delayed is delivered before a later one", function()
  local t, log = { a = 0, v = 0 }, {}
  obs.observe(t, "a", function() t.v = 1 end, { immediate = true })
  obs.observe(t, "v", function(_, _, change)
    log[#log + 1] = change.old .. ">" .. change.new
  end, { immediate = true })
  obs.batch(function() t.a, t.v = 1, 5 end)
  eq(table.concat(log, " "), "0>5 5>1")
end)
check("T9: a change that waits behind deep calls is delivered before a later one", function()
  local nodes, log = {}, {}
  for i = 1, 60 do nodes[i] = { v = 0 } end
  for i, node in ipairs(nodes) do
    obs.observe(node, "v", function(_, _, change)
      if i == 60 then log[#log + 1] = change.old .. ">" .. change.new end
      if nodes[i + 1] then nodes[i + 1].v = 1 end
      if i == 40 then nodes[60].v = 2 end
    end, { immediate = true })
  end
  nodes[40].v = -1
  nodes[1].v = 1
  for i = 2, #log do eq(log[i]:match("^[^>]+"), log[i - 1]:match("[^>]+$")) end
end)
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
check("T9: the path of the change is one of the watcher's", function()
  local t, got = { a = { 1 } }, nil
  obs.observe(t, { "zzz", "a.*" }, function(_, _, c) got = c end, { immediate = true })
  t.a[2] = 5
  eq(got.path, "a.*")
  eq(got.key, 2)
end)

-- T10
check("T10: an error is reported, the others run, the watcher stays", function()
  local t, calls = {}, 0
  local site
  reporting(function()
    site = debug.getinfo(1, "l").currentline + 1
    obs.observe(t, "a", function() error("boom") end, { name = "bad" })
    obs.observe(t, "a", function() calls = calls + 1 end)
    t.a = 1
    eq(obs.flush(), 2)
    t.a = 2
    obs.flush()
  end)
  eq(calls, 2)
  eq(#reports, 2)
  assert(reports[1].error:find("Delivery.lua:" .. site .. ": boom", 1, true), reports[1].error)
  eq(reports[1].where.kind, "watcher")
  eq(reports[1].where.name, "bad")
  assert(reports[1].where.site:find("Delivery.lua:" .. site, 1, true), reports[1].where.site)
  eq(math.type(reports[1].where.turn), "integer")
end)
check("T10: also of a watcher that stopped itself, with the write that caused the call", function()
  local t, w = {}, nil
  local registered = debug.getinfo(1, "l").currentline + 2
  reporting(function()
    w = obs.observe(t, "a", function(o) o.a = 2; w:stop(); error("last words") end)
    t.a = 1
    obs.flush()
  end)
  eq(#reports, 1)
  local where = reports[1].where
  assert(where.site:find("Delivery.lua:" .. registered, 1, true), where.site)
  assert(where.cause:find("Delivery.lua:" .. registered + 1, 1, true), where.cause)
  assert(where.traceback:find("last words") or where.traceback:find("traceback"), where.traceback)
end)
check("T10: a watcher that stops itself and then raises is reported with its name", function()
  reporting(function()
    for _, immediate in ipairs { true, false } do
      local t, w = { a = 1 }, nil
      w = obs.observe(t, "a", function()
        w:stop()
        collectgarbage()
        error("x", 0)
      end, { name = "stopping", immediate = immediate })
      t.a = 2
      obs.flush()
    end
  end)
  eq(#reports, 2)
  for _, report in ipairs(reports) do eq(report.where.name, "stopping") end
end)
check("T10: the error value is reported as it was raised", function()
  local t, e = {}, {}
  reporting(function()
    obs.observe(t, "a", function() error(e) end)
    t.a = 1
    obs.flush()
  end)
  eq(reports[1].error, e)
end)
check("T10: errors without text, and errors whose text fails", function()
  for _, e in ipairs {
    { error = nil }, { error = {} },
    { error = setmetatable({}, { __tostring = function() error("x") end }) },
    { error = setmetatable({}, { __tostring = function() return {} end }) }, { error = print },
    { error = true }, { error = 42 },
    { error = coroutine.create(print) }, { error = "\0\255" },
  } do
    local t = {}
    reporting(function()
      obs.observe(t, "a", function() error(e.error, 0) end)
      t.a = 1
      obs.flush()
      obs.observe(t, "a", function() error(e.error, 0) end, { immediate = true })
      t.a = 2
      obs.stop(t)
    end)
    eq(#reports, 2)
    if e.error ~= nil then eq(reports[1].error, e.error) end
  end
end)
check("T10: an error in an immediate watcher doesn't reach the writer", function()
  local t, after = {}, false
  reporting(function()
    obs.observe(t, "a", function() error("boom") end, { immediate = true })
    obs.observe(t, "a", function() after = true end, { immediate = true })
    t.a = 1
  end)
  assert(after)
  eq(t.a, 1)
  eq(#reports, 1)
  eq(reports[1].where.kind, "immediate")
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

-- T11
check("T11: a watcher added in a flush is called from the next change on", function()
  local t, log = {}, ""
  local added
  obs.observe(t, "a", function()
    log = log .. "1"
    if not added then
      added = obs.observe(t, "a", function() log = log .. "2" end)
    end
  end)
  t.a = 1
  obs.flush()
  obs.flush()
  eq(log, "1")
  t.a = 2
  obs.flush()
  eq(log, "112")
end)
check("T11: a thousand watchers stopped by the first of them", function()
  local t, calls = {}, 0
  obs.observe(t, "a", function() obs.stop(t) end)
  for i = 1, 1000 do obs.observe(t, "a", function() calls = calls + 1 end) end
  t.a = 1
  eq(obs.flush(), 1)
  eq(calls, 0)
  eq(#obs.observed_keys(t), 0)
end)
check("T11: an immediate watcher that stops itself and others", function()
  local t, calls = {}, 0
  local ws = {}
  for i = 1, 10 do
    ws[i] = obs.observe(t, "a", function()
      calls = calls + 1
      for j = 1, 10 do ws[j]:stop() end
    end, { immediate = true })
  end
  t.a = 1
  t.a = 2
  eq(calls, 1)
end)
check("T11: an immediate watcher added inside one hears the next change", function()
  local t, log = {}, ""
  local added
  obs.observe(t, "a", function()
    log = log .. 1
    if not added then
      added = obs.observe(t, "a", function() log = log .. 2 end, { immediate = true })
    end
  end, { immediate = true })
  t.a = 1
  eq(log, "1")
  t.a = 2
  eq(log, "112")
end)

-- T4
turns("T4: a watcher of a computed property whose call was dropped hears the next "
  .. "change", function()
  local t, heard = { v = 1, on = true }, 0
  obs.computed(t, "double", { "v" }, function(self) return self.v * 2 end)
  obs.observe(t, "double", function() heard = heard + 1 end)
  obs.observe(t, "v", function() if t.on then t.v = t.v + 1 end end)
  reporting(function()
    t.v = 2
    repeat turn() until #reports > 0
  end)
  t.on, heard = false, 0
  t.v = -5
  turn()
  eq(heard, 1)
end)

turns("T4: a watcher of objects below whose call was dropped hears the next change", function()
  for _, path in ipairs { "**", "**.v", "o.**" } do
    local t, on, heard = { o = { v = 1 } }, true, 0
    obs.observe(t, path, function()
      heard = heard + 1
      if on then t.o = { v = heard } end
    end)
    reporting(function()
      t.o = { v = 0 }
      repeat turn() until #reports > 0
    end)
    on, heard = false, 0
    t.o = { v = -1 }
    turn()
    eq(heard, 1)
  end
end)

-- T12
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
check("T12: a failed registration calls no hooks", function()
  local User = obs.model("User", { name = "", friend = obs.none })
  local t, log = { a = { b = User {} } }, {}
  for _, object in ipairs { t, t.a } do
    obs.on_observed(object, function(_, key, on) log[#log + 1] = key .. tostring(on) end)
  end
  fails("nam", obs.observe, t, "a.b.nam", nothing)
  eq(#log, 0)
  obs.observe(t, "a.b.name", nothing):stop()
  eq(table.concat(log, ","), "atrue,btrue,afalse,bfalse")
end)
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
  end)
  eq(#reports, 4)
  for i = 1, 4 do
    assert(tostring(reports[i].error):find("watcher cannot yield"), reports[i].error)
    assert(tostring(reports[i].error):find("task"), reports[i].error)
  end
end)
check("T12: a watcher may use coroutines", function()
  local t, sum = {}, 0
  obs.observe(t, "a", function()
    for v in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) do
      sum = sum + v
    end
  end)
  t.a = 1
  obs.flush()
  eq(sum, 6)
end)
check("T12: a watcher may start tasks", function()
  local t, log = {}, ""
  obs.observe(t, "a", function()
    log = log .. "w"
    obs.task(function() log = log .. "t" end)
  end)
  t.a = 1
  obs.flush()
  eq(log, "wt")
end)
turns("T12: a task started by a watcher may wait", function()
  local t, log = {}, ""
  obs.observe(t, "a", function()
    obs.task(function() log = log .. "1"; obs.sleep(0.01); log = log .. "2" end)
  end)
  t.a = 1
  turn()
  eq(log, "1")
  obs.sleep(0.02)
  eq(log, "12")
end)
check("T12: waiting functions inside a watcher are an error even in a flush by a task", function()
  local t = {}
  reporting(function()
    obs.observe(t, "a", function() obs.sleep(0) end)
    obs.task(function() t.a = 1; obs.flush() end)
  end)
  eq(#reports, 1)
  local message = tostring(reports[1].error)
  assert(message:find("cannot yield") or message:find("outside a task"), reports[1].error)
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
check("T14: with on_error the script continues", function() assert(true) end)

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

check("T5: `equals` is called for each changed element, until one differs", function()
  local function near(old, new) return old and new and math.abs(new - old) < 10 end
  local list, log = obs.array { 1, 2, 3 }, {}
  obs.observe(list, "*", function(_, _, change)
    log[#log + 1] = ("%s %s→%s"):format(change.key, change.old, change.new)
  end, { immediate = true, equals = near })
  local n = counter(list, "*", { equals = near })
  list:set { 2, 3, 100 }
  eq(table.concat(log, ", "), "3 3→100")
  eq(n(), 1)
  list:set { 3, 4, 101 }
  eq(#log, 1)
  eq(n(), 0)
  list:insert(2, 5)
  eq(log[2], "3 101→4")
  eq(n(), 1)
  list:sort(function(a, b) return a > b end)
  eq(#log, 3)
  eq(n(), 1)
  list:clear()
  eq(#log, 4)
end)
check("T5, Z4: forgetting a property whose value is nil is no change", function()
  local t, value = {}, nil
  local function declare() obs.lazy(t, "k", function() return value end) return t.k end
  eq(declare(), nil)
  local n = counter(t, "k")
  obs.forget(t, "k")
  eq(n(), 0)
  value = 1
  eq(declare(), 1)
  eq(n(), 1)
  obs.forget(t, "k")
  eq(n(), 1)
  local u = {}
  obs.computed(u, "q", function(self) return self.items end)
  local all, below = counter(u, "*"), counter(u, "*.r")
  obs.forget(u, "q")
  eq(all() + below(), 0)
  obs.lazy(u, "q", function() return 5 end)
  eq(u.q, 5)
  eq(all(), 0)
  obs.forget(u, "q")
  eq(all(), 1)
end)
check("trigger: an assignment with a previous value, otherwise a change; same wiring", function()
  local x = { v = 1 }
  local t = { x = x }
  local n = counter(t, "*.v")
  obs.trigger(t, "y", x)
  eq(n(), 1)
  x.v = 2
  eq(n(), 1)
  obs.trigger(t, "x", {})
  eq(n(), 1)
  t.x = nil
  eq(n(), 1)
  x.v = 3
  eq(n(), 0)
  t.x = x
  eq(n(), 1)
  obs.trigger(t, "x", x)
  eq(n(), 0)
  obs.trigger(t, "x")
  eq(n(), 1)
  obs.trigger(t, "nothing", nil)
  eq(n(), 0)
end)
check("trigger: of a lazy property, valid or not, delivers and computes nothing", function()
  local t, runs = {}, 0
  obs.lazy(t, "v", function() runs = runs + 1 return {} end)
  local n, log = counter(t, "v"), 0
  obs.observe(t, "v", function() log = log + 1 end, { immediate = true })
  t.v.x = 1
  obs.trigger(t, "v")
  eq(log, 1)
  eq(n(), 1)
  eq(runs, 1)
end)
check("T5: `equals` is not called for elements that an operation left unchanged", function()
  local list, asked = obs.array { 1, 3, 2 }, {}
  local function never(old, new) asked[#asked + 1] = ("%s>%s"):format(old, new) return false end
  local slot = counter(list, "#1", { equals = never })
  list:sort()
  list:set { 1, 2 }
  obs.assign(list, { 1, 2 })
  eq(slot(), 0)
  eq(#asked, 0)
  list:reverse()
  eq(slot(), 1)
  eq(table.concat(asked, " "), "1>2")
end)

-- T4's limit comes last: it needs the end of a turn.
turns("T4: endless triggering is an error that names the watchers and their places", function()
  local t = { a = 0, b = 0, n = 0 }
  reports = {}
  obs.on_error(function(e, where) reports[#reports + 1] = tostring(e) end)
  obs.limits { retrigger_turns = 20 }
  obs.observe(t, "n", function() t.n = t.n + 1 end, { name = "forever" })
  local line = debug.getinfo(1, "l").currentline - 1
  t.n = 1
  turn()
  obs.on_error(nil)
  eq(#reports, 1)
  assert(reports[1]:find("forever"), reports[1])
  assert(reports[1]:find("Delivery.lua:" .. line, 1, true), reports[1])
  assert(t.n >= 20 and t.n <= 23, t.n)
  turn()
  obs.limits { retrigger_turns = 1000 }
  -- It stays registered, and works.
  obs.stop(t)
end)
check("T9: a watcher of * and of an operator receives the changed value", function()
  local t, told = { items = obs.array {} }, {}
  obs.computed(t, "n", { "items.@count" }, function(self) return #self.items end)
  eq(t.n, 0)
  obs.observe(t, { "*", "items.@sum.items.@count" }, function(_, _, change)
    told[#told + 1] = ("%s: %s %s %s"):format(change.path, change.key, change.old, change.new)
  end, { immediate = true })
  t.items[1] = {}
  eq(table.concat(told, ", "), "*: n 0 1")
  obs.stop(t)
end)

finish()
