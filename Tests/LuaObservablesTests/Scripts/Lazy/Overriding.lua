-- Rules Z4 and Z5: changes delivered to watchers of lazy properties, and overridden properties.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function full(t)
  t = t or {first = "Ada", last = "King"}
  local runs = 0
  obs.computed(t, "full", {"first", "last"}, function(self)
    runs = runs + 1
    return self.first .. " " .. self.last
  end)
  return t, function()
    local count = runs
    runs = 0
    return count
  end
end

check("Z4: computed at registration; called only if the new value differs", function()
  local t, runs = full()
  local n = counter(t, "full")
  eq(runs(), 1)
  eq(n(), 0)
  t.first = "Augusta"
  t.last = "Lovelace"
  eq(runs(), 0)
  eq(n(), 1)
  eq(runs(), 1)
  t.first, t.last = "Ada", "King"
  t.first, t.last = "Augusta", "Lovelace"
  eq(n(), 0)
end)
check("Z4: the callback receives observed and observer, and reads the value", function()
  local t, me, log = full(), {name = "me"}, {}
  obs.observe(t, "full", function(observed, observer)
    eq(observed, t)
    eq(observer.name, "me")
    log[#log + 1] = observed.full
  end, {observer = me})
  t.first = "Augusta"
  obs.flush()
  eq(table.concat(log, ","), "Augusta King")
end)
check("Z4: an immediate watcher receives key, old and new", function()
  local t, log = full(), {}
  obs.observe(t, "full", function(_, _, change)
    log[#log + 1] = ("%s %s %s %s"):format(change.path, change.key, change.old, change.new)
  end, {immediate = true})
  t.first = "Augusta"
  t.full = "me"
  eq(table.concat(log, ","), "full full Ada King Augusta King,full full Augusta King me")
end)
check("Z4: in the middle of a path it is computed when the wiring needs it", function()
  local a, b = {x = 1}, {x = 2}
  local t, runs = {which = "a"}, 0
  obs.computed(t, "current", {"which"}, function(self)
    runs = runs + 1
    return self.which == "a" and a or b
  end)
  local n = counter(t, "current.x")
  eq(runs, 1)
  a.x = 5
  eq(n(), 1)
  t.which = "b"
  eq(n(), 1)
  a.x = 6
  eq(n(), 0)
  b.x = 7
  eq(n(), 1)
  eq(runs, 2)
end)
check("Z4: in the middle of an immediate path", function()
  local a, b, log = {x = 1}, {x = 2}, {}
  local t = {which = "a"}
  obs.computed(t, "current", {"which"}, function(self) return self.which == "a" and a or b end)
  obs.observe(t, "current.x", function() log[#log + 1] = t.current.x end, {immediate = true})
  t.which = "b"
  a.x = 9
  b.x = 3
  eq(table.concat(log, " "), "2 3")
end)
check("Z4: a middle that computes another object with an equal leaf is delivered", function()
  local t = {n = 1}
  obs.computed(t, "box", {"n"}, function() return {x = 1} end)
  local n = counter(t, "box.x")
  t.n = 2
  eq(n(), 1)
end)
check("Z4: tables are compared by identity, numbers by value, NaN with itself", function()
  for _, case in ipairs {
    {function() return {} end, 1}, {function() return 0 / 0 end, 0},
    {function() return 1 end, 0}, {function() end, 0},
  } do
    local t = {n = 1}
    obs.computed(t, "x", {"n"}, case[1])
    local n = counter(t, "x")
    t.n = 2
    eq(n(), case[2])
  end
end)
check("Z4: equals replaces the comparison", function()
  local t = {n = 1}
  obs.computed(t, "x", {"n"}, function(self) return self.n end)
  local n = counter(t, "x", {equals = function(old, new) return math.abs(old - new) < 5 end})
  t.n = 3
  eq(n(), 0)
  t.n = 60
  eq(n(), 1)
end)
check("Z4: watchers by list, with other paths", function()
  local t = full()
  t.age = 1
  local n = counter(t, {"full", "age", "first"})
  t.age = 2
  t.first = "Bob"
  eq(n(), 1)
  t.last = "Ross"
  eq(n(), 1)
end)
check("Z4: unwatched again, it computes no more", function()
  local t, runs = full()
  local n, w = counter(t, "full")
  w:stop()
  runs()
  t.first = "x"
  eq(n(), 0)
  eq(runs(), 0)
  eq(t.full, "x King")
end)
check("Z4: watcher:run and schedule", function()
  local t, runs = full()
  local n, w = counter(t, "full")
  w:schedule()
  eq(n(), 1)
  w:run()
  eq(runs(), 1)
end)
check("W1: observer counts include watchers of a property, not its dependencies", function()
  local t = full()
  local log = {}
  obs.on_observed(t, function(_, key, on) log[#log + 1] = key .. " " .. tostring(on) end)
  eq(t.full, "Ada King")
  eq(obs.observer_count(t, "first"), 0)
  eq(#obs.observed_keys(t), 0)
  local w = obs.observe(t, "full", function() end)
  eq(obs.observer_count(t, "full"), 1)
  eq(obs.observer_count(t, "first"), 0)
  w:stop()
  eq(table.concat(log, ", "), "full true, full false")
end)
-- Each body gets a function that declares a property, and whether it reads before it assigns.
local function each_way(body)
  for way = 0, 3 do
    body(function(t, name, deps, get)
      if way < 2 then obs.computed(t, name, deps, get) else obs.computed(t, name, get) end
    end, way % 2 == 0)
  end
end
check("Z5: an assignment ends with the next change, whatever was read before", function()
  each_way(function(declare, is_read)
    local t = { v = 1 }
    declare(t, "b", { "v" }, function(s) return s.v * 10 end)
    declare(t, "c", { "b" }, function(s) return s.b + 1 end)
    if is_read then
      eq(t.c, 11)
      t.v = 2
    end
    t.c = 7
    eq(t.c, 7)
    t.v = 3
    eq(t.c, 31)
  end)
end)
check("Z5: a change in between counts, whether it was read", function()
  each_way(function(declare, is_read)
    local t = { v = 1 }
    declare(t, "b", { "v" }, function(s) return s.v * 10 end)
    declare(t, "c", { "b" }, function(s) return s.b + 1 end)
    t.c = 7
    t.v = 2
    if is_read then eq(t.c, 21) end
    t.v = 1
    eq(t.c, 11)
  end)
end)
check("Z5: a property between them that keeps its value does not prolong it", function()
  each_way(function(declare)
    local t = { v = 1 }
    declare(t, "sign", { "v" }, function(s) return s.v > 0 end)
    declare(t, "c", { "sign" }, function(s) return s.sign and "plus" or "minus" end)
    t.c = "assigned"
    t.v = 2
    eq(t.c, "plus")
  end)
end)
check("Z5: a tracked getter runs before an assignment to find its dependencies", function()
  local t = { flag = true, a = 1, b = 2 }
  local runs = 0
  obs.computed(t, "c", function(s)
    runs = runs + 1
    return s.flag and s.a or s.b
  end)
  eq(t.c, 1)
  t.flag = false
  t.c = 7
  eq(runs, 2)
  t.a = 10
  eq(t.c, 7)
  t.b = 20
  eq(t.c, 20)
  t.c = 8
  eq(runs, 3)
end)
check("Z5: the errors of these getters are dropped", function()
  each_way(function(declare)
    reporting(function()
      local t = { v = -1 }
      declare(t, "root", { "v" }, function(s)
        if s.v < 0 then error("no root", 0) end
        return s.v
      end)
      declare(t, "c", { "root" }, function(s) return s.root + 1 end)
      t.c = 7
      eq(#reports, 0)
      eq(t.c, 7)
      t.v = -2
      fails("no root", function() return t.c end)
      t.c = 8
      t.v = 4
      eq(t.c, 5)
    end)
  end)
end)
check("Z5: a getter that forgets its property while it is assigned", function()
  local t = { v = 1 }
  obs.computed(t, "c", function(s)
    obs.forget(s, "c")
    return s.v
  end)
  pcall(function() t.c = 7 end)
  t.c = 8
  eq(t.c, 8)
end)
check("Z2, Z5: an override ends also if objects below it were replaced before", function()
  for _, path in ipairs { "**", "a.**", "**.x", "a.*", "a.x" } do
    local t = { a = { x = 0, sub = { x = 1 } } }
    obs.computed(t, "n", { path }, function(t) return t.a.x end)
    eq(t.n, 0)
    t.a.sub = {}
    t.n = "assigned"
    eq(t.n, "assigned")
    t.a.x = 1
    eq(t.n, 1)
    t.a.sub = { x = 1 }
    eq(t.n, 1)
    t.n = "assigned"
    t.a = { x = 2 }
    eq(t.n, 2)
  end
end)
check("Z5: nil and false override too", function()
  local t = full()
  t.full = false
  eq(t.full, false)
  t.full = nil
  eq(obs.is_valid(t, "full"), true)
  eq(t.full, nil)
  t.first = "Bob"
  eq(t.full, "Bob King")
end)
check("Z5: rawset, obs.set and table functions override", function()
  local t = full()
  rawset(t, "full", "raw")
  eq(t.full, "raw")
  t.first = "Bob"
  eq(t.full, "Bob King")
  obs.set(t, "full", "set")
  eq(t.full, "set")
  local other = {t = t}
  obs.set(other, "t.full", "far")
  eq(t.full, "far")
  obs.invalidate(t)
  eq(t.full, "Bob King")
end)
check("Z5: a read-only property rejects an override", function()
  local t = {a = 1}
  obs.lazy(t, "x", {get = function(self) return self.a end, deps = {"a"}, readonly = true})
  for _, write in ipairs {
    function() t.x = 2 end, function() rawset(t, "x", 2) end, function() obs.set(t, "x", 2) end,
    function() t.x = nil end,
  } do
    fails("'x' is read%-only", write)
  end
  eq(t.x, 1)
  fails("'x' is read%-only", function() t.x = 2 end)
  t.a = 5
  eq(t.x, 5)
end)
check("T4: a watcher that overrides its own property settles", function()
  local t, calls = full(), 0
  obs.observe(t, "full", function()
    calls = calls + 1
    t.full = "Z"
  end)
  t.first = "B"
  for _ = 1, 5 do obs.flush() end
  eq(t.full, "Z")
  assert(calls <= 2, calls)
end)
turns("Z4: delivered at the end of the turn, also to tasks that wait", function()
  local t, log = full(), {}
  obs.observe(t, "full", function() log[#log + 1] = t.full end)
  local task = obs.task(function() return obs.next_change(t, "full", 5) end)
  t.first = "B"
  eq(#log, 0)
  turn()
  eq(table.concat(log), "B King")
  turn()
  eq(task.done, true)
  eq(task:await(), true)
end)
check("Z4: obs.bind copies a computed property", function()
  local t, copy = full(), {}
  local w = obs.bind(copy, t, {"full"})
  eq(copy.full, "Ada King")
  t.first = "B"
  obs.flush()
  eq(copy.full, "B King")
  w:stop()
end)
check("W4: why names the write behind the call, describe lists the watcher", function()
  local t = full()
  local w = obs.observe(t, "full", function() end, {name = "greeter"})
  assert(obs.describe(t):find "greeter", obs.describe(t))
  obs.record(true)
  t.first = "B"
  obs.flush()
  local reasons, text = obs.why(w)
  obs.record(false)
  assert(text:find "first" or text:find "full", text)
  w:stop()
end)
check("Z4: a watcher that has seen another one's assignment is not called again", function()
  local t, log = {n = 1}, {}
  obs.computed(t, "x", {"n"}, function(self) return self.n end)
  for i = 1, 3 do
    obs.observe(t, "x", function()
      log[#log + 1] = i .. "=" .. t.x
      if i == 2 then t.x = 100 end
    end)
  end
  t.n = 2
  obs.flush()
  eq(table.concat(log, " "), "1=2 2=2 3=100")
  log = {}
  t.n = 3
  obs.flush()
  eq(table.concat(log, " "), "1=3 2=3")
end)
check("Z5: an override after a replaced object lasts until the new branch changes", function()
  local declared = {
    ["a.c"] = {"a.c"}, ["a.*"] = {"a.*"}, ["*.c"] = {"*.c"}, ["count"] = {"a.c", "@count"},
  }
  for name, deps in pairs(declared) do
    for _, is_watched in ipairs {false, true} do
      local x, y = {c = 1}, {c = 2}
      local t = {a = x}
      obs.computed(t, "q", deps, function(s) return s.a.c end)
      local n = is_watched and counter(t, "q") or function() return 0 end
      local _ = t.q
      t.a = y
      t.q = 9
      eq(t.q, 9, name)
      n()
      y.c = 5
      eq(t.q, 5, name)
      n()
      t.q = 8
      x.c = 7
      eq(t.q, 8, name)
      eq(n(), is_watched and 1 or 0, name)
    end
  end
end)
check("Z5: the same with a dependency of another object, and in a model", function()
  local x, y = {c = 1}, {c = 2}
  local source, t = {a = x}, {}
  obs.computed(t, "q", {{source, "a.c"}}, function() return source.a.c end)
  local M = obs.model("M", {a = obs.none, q = obs.computed({"a.c"}, function(s) return s.a.c end)})
  local m = M {a = x}
  local _ = t.q + m.q
  source.a, m.a = y, y
  t.q, m.q = 9, 9
  y.c = 5
  eq(t.q, 5)
  eq(m.q, 5)
  t.q, m.q = 8, 8
  x.c = 7
  eq(t.q, 8)
  eq(m.q, 8)
end)
check("Z2: a lazy property in the middle of a dependency returns another object", function()
  local t = {}
  obs.lazy(t, "p", function() return {} end)
  obs.computed(t, "q", {"p.c"}, function(s) return s.p.c end)
  local n = counter(t, "p.c")
  local _ = t.q
  for i = 1, 3 do
    obs.invalidate(t)
    _ = t.q
    n()
    t.p.c = i
    eq(t.q, i)
    eq(n(), 1)
  end
  local old = t.p
  obs.invalidate(t, "p")
  _ = t.q
  n()
  old.c = 7
  eq(t.q, nil)
  eq(n(), 0)
end)
check("Z2: two lazy objects in a row", function()
  local t, made = {}, 0
  obs.lazy(t, "a", function()
    made = made + 1
    local a = {n = made}
    obs.lazy(a, "b", function(self) return {c = self.n} end)
    return a
  end)
  obs.computed(t, "q", {"a.b.c"}, function(s) return s.a.b.c end)
  eq(t.q, 1)
  obs.invalidate(t, "a")
  eq(t.q, 2)
  t.a.b.c = 10
  eq(t.q, 10)
  obs.invalidate(t.a, "b")
  eq(t.q, 2)
  t.a.b.c = 11
  eq(t.q, 11)
end)
check("Z4: A to B to A is silent beside immediate watchers, and for watchers added at B", function()
  local t, log = {n = 1}, {}
  obs.computed(t, "x", {"n"}, function(self) return self.n end)
  local function note(name)
    return function(_, _, change)
      log[#log + 1] = name .. (change and " " .. change.old .. " " .. change.new or "")
    end
  end
  local function told()
    obs.flush()
    local text = table.concat(log, ",")
    log = {}
    return text
  end
  obs.observe(t, "x", note "coalesced")
  local immediate = obs.observe(t, "x", note "immediate", {immediate = true})
  t.n = 2
  t.n = 1
  eq(told(), "immediate 1 2,immediate 2 1")
  immediate:stop()
  t.n = 2
  local late = obs.observe(t, "x", note "late")
  t.n = 1
  eq(told(), "late")
  t.n = 2
  late:stop()
  late = obs.observe(t, "x", note "late")
  t.n = 3
  t.n = 2
  eq(told(), "coalesced")
  t.n = 4
  local later = obs.observe(t, "x", note "later")
  t.n = 5
  t.n = 4
  eq(told(), "coalesced,late")
  later:stop()
end)
check("C9: an operator that failed at registration is delivered when it has a value", function()
  local function string_of(value) return {v = value} end
  local t, calls = {list = {string_of "x", string_of(1)}}, {}
  obs.on_error(function() end)
  for _, path in ipairs {"list.@sum.v", "list.@min.v", "list.@avg.v"} do
    calls[path] = 0
    obs.observe(t, path, function() calls[path] = calls[path] + 1 end)
  end
  t.list[1].v = 0
  t.list[2].v = 0
  obs.flush()
  eq(calls["list.@sum.v"], 1)
  eq(calls["list.@min.v"], 1)
  t.list[1].v = "x"
  obs.flush()
  t.list[1].v = 0
  obs.flush()
  obs.on_error(nil)
  for path, count in pairs(calls) do eq(count, 1, path) end
end)

finish()
