-- Rules P1–P9 and P11, as a script sees them.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- P1
check("P1: text is split at dots", function()
  local t = { a = { b = { c = 1 } } }
  local n = counter(t, "a.b.c")
  t.a.b.c = 2
  eq(n(), 1)
  eq(obs.get(t, "a.b.c"), 2)
end)
check("P1: an escaped dot belongs to the name", function()
  local t = { ["a.b"] = 1, a = { b = 1 } }
  local n = counter(t, "a\\.b")
  t.a.b = 2
  eq(n(), 0)
  t["a.b"] = 2
  eq(n(), 1)
  eq(obs.get(t, "a\\.b"), 2)
end)
check("P1: a doubled backslash is one", function()
  local t = { ["a\\b"] = 1 }
  local n = counter(t, "a\\\\b")
  t["a\\b"] = 2
  eq(n(), 1)
  obs.set(t, "a\\\\b", 5)
  eq(t["a\\b"], 5)
end)
for _, case in ipairs {
  { "", "empty" }, { ".", "" }, { "a.", "a%." }, { ".a", "%.a" }, { "a..b", "a%." }, { "#", "#" },
  { "a.#", "a%." }, { "#x", "#x" }, { "#-1", "#%-1" }, { "#1.5.", "" }, { "a\\", "a" },
  { "a.b.", "a%.b%." },
} do
  check("P1: a bad path is an error that shows it: " .. case[1], function()
    for _, f in ipairs {
      function() obs.observe({}, case[1], nothing) end, function() obs.get({}, case[1]) end,
      function() obs.set({}, case[1], 1) end, function() obs.stop({}, case[1]) end,
      function() obs.break_on_change({}, case[1]) end,
      function() obs.observe({}, { "fine", case[1] }, nothing) end,
      function() obs.observe({}, "fine", nothing):observe(case[1]) end,
    } do
      local message = fails("path", f)
      assert(message:find(case[2]), message)
      if case[1] ~= "" then assert(message:find("component"), message) end
    end
  end)
end
check("P1: a path that fails leaves no watcher behind", function()
  local t = {}
  pcall(obs.observe, t, { "x", "a..b" }, nothing)
  eq(obs.observer_count(t, "x"), 0)
  eq(#obs.observed_keys(t), 0)
end)

-- P2
check("P2: a star hears every property", function()
  local t = { a = 1 }
  local n = counter(t, "*")
  t.a = 2
  eq(n(), 1)
  t.b = 1
  eq(n(), 1)
  t[1] = 1
  eq(n(), 1)
  t[true] = 1
  eq(n(), 1)
  t.b = nil
  eq(n(), 1)
end)
check("P2: a star is a wildcard only alone, and an escaped one is a key", function()
  local t = { ["*"] = 1, x = 1 }
  local n = counter(t, "\\*")
  t.x = 2
  eq(n(), 0)
  t["*"] = 2
  eq(n(), 1)
end)
check("P2: #n is the slot", function()
  local t = { "a", "b" }
  local n = counter(t, "#2")
  t[2] = "c"
  eq(n(), 1)
  t[1] = "z"
  eq(n(), 0)
  table.insert(t, 1, "y")
  eq(n(), 1)
  t[3], t[2] = nil, nil
  eq(n(), 1)
end)
check("P2: #n may lie beyond the end", function()
  local t = {}
  local n = counter(t, "#3")
  t[1] = 1
  t[2] = 1
  eq(n(), 0)
  t[3] = 1
  eq(n(), 1)
end)
check("P2: digits of an absent index are an error that suggests #n", function()
  fails("#4", obs.observe, { 1, 2, 3 }, "4", nothing)
  fails("#1", obs.observe, {}, "1", nothing)
  fails("#7", obs.observe, { list = { 1 } }, "list.7", nothing)
end)
check("P2: digits of an integer key outside of the list are the key", function()
  local t = { [10] = "a" }
  local n = counter(t, "10")
  t[10] = "b"
  eq(n(), 1)
  t[10] = nil
  eq(n(), 1)
  t[10] = "c"
  eq(n(), 1)
end)
check("P2: zero is an integer key", function()
  local t = { [0] = "a", "b" }
  local n = counter(t, "0")
  t[0] = "b"
  eq(n(), 1)
  fails("#0", obs.observe, { "b" }, "0", nothing)
end)
check("P2: @count is the size of a plain list", function()
  local t = { 1, 2 }
  local n = counter(t, "@count")
  t[3] = 1
  eq(n(), 1)
  eq(obs.get(t, "@count"), 3)
  t[1] = 9
  eq(n(), 0)
  t[4] = 1
  t[4] = nil
  eq(n(), 0)
  table.remove(t)
  eq(n(), 1)
  t.name = "x"
  eq(n(), 0)
end)
check("P2: count is a name on a plain table", function()
  local t = { 1, 2 }
  local n = counter(t, "count")
  t[3] = 1
  eq(n(), 0)
  t.count = 5
  eq(n(), 1)
end)
check("P2: @count below a name follows the list", function()
  local t = { items = { 1 } }
  local n = counter(t, "items.@count")
  t.items[2] = 1
  eq(n(), 1)
  t.items = { 1, 2 }
  eq(n(), 1) -- P5: replaced
  t.items = { 1, 2, 3 }
  eq(n(), 1)
  t.items[4] = 4
  eq(n(), 1)
  eq(obs.get(t, "items.@count"), 4)
  t.items = nil
  eq(n(), 1)
  eq(obs.get(t, "items.@count"), nil)
end)
check("P2: an unknown operator on a plain table is an error that names it", function()
  fails("@nope", obs.observe, {}, "@nope", nothing)
  fails("@nope", obs.get, {}, "@nope")
end)
check("P2: obs.path spells keys of any type", function()
  local key, f = {}, print
  local t = {
    [1] = "a", ["x.y"] = "b", [true] = "c", [key] = "d", [1.5] = "e", [f] = "f", ["#1"] = "g",
    ["*"] = "h", ["1"] = "i", [-3] = "j", [""] = "k",
  }
  for k in pairs {
    [1] = 1, ["x.y"] = 1, [true] = 1, [key] = 1, [1.5] = 1, [f] = 1, ["#1"] = 1, ["*"] = 1,
    ["1"] = 1, [-3] = 1, [""] = 1,
  } do
    local path = obs.path(k)
    eq(obs.get(t, path), t[k])
    local n = counter(t, path)
    t[k] = {}
    eq(n(), 1)
    eq(n(), 0)
    eq(obs.stop(t, path), 1)
    t[k] = {}
    eq(n(), 0)
  end
end)
check("P2: obs.path takes integers as keys, whatever moves", function()
  local t = { "a", "b" }
  local n = counter(t, obs.path(2))
  table.insert(t, 1, "z")
  eq(n(), 1)
  t[2] = "q"
  eq(n(), 1)
end)
check("P2: a float with an integer value is the integer key", function()
  local t = { 5 }
  local n = counter(t, obs.path(1.0))
  t[1] = 6
  eq(n(), 1)
  eq(obs.get(t, obs.path(1.0)), 6)
end)
check("P2: paths made by obs.path equal each other", function()
  local t = { a = { 1 } }
  counter(t, obs.path("a", 1))
  eq(obs.stop(t, obs.path("a", 1)), 1)
end)
check("P2: obs.path of nil, NaN or nothing is an error", function()
  fails("nil", obs.path, nil)
  fails("NaN", obs.path, 0 / 0)
  fails("key", obs.path)
  fails("#2", obs.path, "a", nil)
end)

-- P3: one object at one step is one state, however many routes lead to it.
check("P3: twenty stars over three tables that contain each other", function()
  local a, b, c = { n = 0 }, { n = 0 }, { n = 0 }
  for _, x in ipairs { a, b, c } do x.a, x.b, x.c = a, b, c end
  local n, w = counter(a, ("*."):rep(20) .. "n")
  b.n = 1
  eq(n(), 1)
  eq(obs.observer_count(b, "n"), 1)
  -- Cutting routes leaves the others intact; an object without a route is silent.
  a.b, c.b = nil, nil
  eq(n(), 1)
  b.n = 2
  eq(n(), 0)
  c.n = 2
  eq(n(), 1)
  a.b = b
  eq(n(), 1)
  b.n = 3
  eq(n(), 1)
  w:stop()
  for _, x in ipairs { a, b, c } do eq(#obs.observed_keys(x), 0) end
end)
check("P3: routes of different lengths through lists that contain each other", function()
  local x, y = obs.array {}, obs.array {}
  local leaf, other = { price = 1 }, { price = 1 }
  local holder = { list = x }
  x:append(y, leaf)
  y:append(x, other)
  local n = counter(holder, "list.price")
  other.price = 2
  eq(n(), 1)
  holder.list = y
  eq(n(), 1)
  leaf.price = 2
  eq(n(), 1)
  y:remove_value(x)
  eq(n(), 1)
  leaf.price = 3
  eq(n(), 0)
  other.price = 3
  eq(n(), 1)
end)
check("P3: routes that change places through lists that contain each other", function()
  local item = { price = 1 }
  local a, b, c = obs.array {}, obs.array {}, obs.array {}
  a:append(b)
  b:append(a, item)
  c:append(b)
  local root = obs.array { a, c }
  local n = counter(root, "price")
  -- First `b` is found through `c`, and `a` through `b`; then `a` from the root again.
  root:remove_value(a)
  eq(n(), 1)
  root:append(a)
  eq(n(), 1)
  b:remove_value(a)
  eq(n(), 1)
  -- Now only `a` leads to `b`.
  c:remove_value(b)
  eq(n(), 1)
  item.price = 2
  eq(n(), 1)
  a:remove_value(b)
  eq(n(), 1)
  item.price = 3
  eq(n(), 0)
  eq(#obs.observed_keys(item), 0)
end)
check("P3: a shared object is heard until the last route to it is cut", function()
  local shared = { price = 1 }
  local t = { a = { x = shared }, b = { x = shared }, c = { x = { price = 1 } } }
  local n = counter(t, "*.x.price")
  eq(obs.observer_count(shared, "price"), 1)
  t.a = nil
  eq(n(), 1)
  shared.price = 2
  eq(n(), 1)
  t.c.x = shared
  eq(n(), 1)
  t.b.x = nil
  eq(n(), 1)
  shared.price = 3
  eq(n(), 1)
  t.c = nil
  eq(n(), 1)
  shared.price = 4
  eq(n(), 0)
  eq(obs.observer_count(shared, "price"), 0)
end)
check("C9: a sum over objects that share the summed object", function()
  local shared = { v = 5 }
  local t = { list = { { x = shared }, { x = shared }, { x = { v = 1 } } } }
  local calls = 0
  obs.observe(t, "list.@sum.x.v", function() calls = calls + 1 end)
  local function sum()
    obs.flush()
    return obs.get(t, "list.@sum.x.v")
  end
  eq(sum(), 11)
  shared.v = 6
  eq(sum(), 13)
  t.list[1].x = nil
  eq(sum(), 7)
  table.remove(t.list, 2)
  eq(sum(), 1)
  t.list[1].x = shared
  eq(sum(), 7)
  eq(calls, 4)
  local one, two = obs.array { 1, 2 }, obs.array { 3 }
  local u = { list = { { x = one }, { x = one }, { x = two } } }
  obs.observe(u, "list.@unionOfArrays.x", nothing)
  local function union()
    obs.flush()
    return table.concat(obs.get(u, "list.@unionOfArrays.x"), " ")
  end
  eq(union(), "1 2 1 2 3")
  one:append(9)
  eq(union(), "1 2 9 1 2 9 3")
  u.list[1].x = two
  eq(union(), "3 1 2 9 3")
  table.remove(u.list, 2)
  eq(union(), "3 3")
  two:append(4)
  eq(union(), "3 4 3 4")
end)
check("P6: a path of 10,000 equal steps on a ring, whose object is replaced", function()
  local holder, ring = {}, {}
  ring.next = ring
  holder.next = ring
  local n = counter(holder, ("next."):rep(9999) .. "next")
  local other = {}
  other.next = other
  holder.next = other
  eq(n(), 1)
  ring.next = nil
  eq(n(), 0)
  other.next = nil
  eq(n(), 1)
end)
check("8,000 paths in one watcher", function()
  local paths, t = {}, {}
  for i = 1, 8000 do paths[i] = "k" .. i .. ".x" end
  local n, w = counter(t, paths)
  for i = 1, 8000 do t["k" .. i] = { x = i } end
  eq(n(), 1)
  t.k4000.x = 0
  eq(n(), 1)
  eq(obs.stop(t, "k4000.x"), 1)
  t.k4000.x = 1
  eq(n(), 0)
  eq(obs.stop(t), 7999)
  eq(w.active, false)
end)

-- P3
check("P3: a star may be in the middle", function()
  local t = { a = { x = 1 }, b = { x = 1 } }
  local n = counter(t, "*.x")
  t.a.x = 2
  eq(n(), 1)
  t.a.y = 2
  eq(n(), 0)
  t.c = { x = 1 }
  eq(n(), 1)
  t.c.x = 2
  eq(n(), 1)
  local a = t.a
  t.a = nil
  eq(n(), 1)
  a.x = 3
  eq(n(), 0)
end)
check("P3: a path may have several stars", function()
  local t = { a = { b = { x = 1 } }, l = { { x = 1 }, { x = 2 } } }
  local n = counter(t, "*.*.x")
  t.a.b.x = 2
  eq(n(), 1)
  t.l[1].x = 2
  t.l[2].x = 2
  eq(n(), 1)
  t.l[3] = { x = 1 }
  eq(n(), 1)
  t.l[3].x = 2
  eq(n(), 1)
end)
check("P3: stars behind stars at the end", function()
  local t = { a = { 1 } }
  local n = counter(t, "*.*")
  t.a.q = 2
  eq(n(), 1)
  t.b = {}
  eq(n(), 1)
  t.b.z = 1
  eq(n(), 1)
end)

-- P4, P5
check("P4: parts may be nil at registration, which calls no watcher", function()
  local t = {}
  local n = counter(t, "a.b.c")
  eq(n(), 0)
  t.a = {}
  eq(n(), 1)
  t.a.b = {}
  eq(n(), 1)
  t.a.b.c = 1
  eq(n(), 1)
  t.a = nil
  eq(n(), 1)
  t.a = { b = { c = 1 } }
  eq(n(), 1)
  t.a.b.c = 2
  eq(n(), 1)
end)
check("P5: a change from unreachable to unreachable is delivered", function()
  local t = { a = {} }
  local n = counter(t, "a.b.c")
  t.a = { other = 1 }
  eq(n(), 1)
  t.a = 5
  eq(n(), 1)
  t.a = nil
  eq(n(), 1)
  t.a = nil
  eq(n(), 0)
end)
check("P5: an equal leaf behind a replaced element delivers", function()
  local t = { a = { zip = "1" } }
  local n = counter(t, "a.zip")
  t.a = { zip = "1" }
  eq(n(), 1)
end)

-- P6
check("P6: the old branch is silent and the new one heard", function()
  local t = { a = { b = { c = 1 } } }
  local n = counter(t, "a.b.c")
  local oldA, oldB = t.a, t.a.b
  t.a = { b = { c = 1 } }
  eq(n(), 1)
  oldB.c = 2
  oldA.b = {}
  eq(n(), 0)
  t.a.b.c = 2
  eq(n(), 1)
  t.a.b = { c = 2 }
  eq(n(), 1)
  t.a.b.c = 3
  eq(n(), 1)
end)
check("P6: functions that look at the paths of a pending watcher lose no call", function()
  -- Each function updates the links between the pending write and the flush.
  local look = {
    run = function(w) w:run() end,
    observed_keys = function(_, t) obs.observed_keys(t) end,
    whynot = function(w) obs.whynot(w) end,
    describe = function(_, t) obs.describe(t) end,
  }
  for name, ask in pairs(look) do
    local x, y, z = { b = 1 }, { b = 2 }, { b = 3 }
    local t = { a = x }
    local n, w = counter(t, "a.b")
    t.a = y
    ask(w, t)
    t.a = z
    assert(n() >= 1, name)
    y.b = 5
    eq(n(), 0)
    z.b = 5
    eq(n(), 1)
  end
end)
check("C9: asking for an observed value within a turn does not freeze it", function()
  local list, log = obs.array { 3 }, {}
  obs.observe(list, "@sum", function() log[#log + 1] = "called " .. obs.get(list, "@sum") end)
  for _, value in ipairs { 4, 3, 5 } do
    list[1] = value
    log[#log + 1] = obs.get(list, "@sum")
  end
  obs.flush()
  eq(table.concat(log, ","), "4,3,5,called 5")
end)
check("P6: equality never decides the wiring", function()
  local meta = { __eq = function() return true end }
  local function new(x) return setmetatable({ x = x }, meta) end
  local t = { a = new(1) }
  local n = counter(t, "a.x")
  local old = t.a
  t.a = new(1)
  eq(n(), 1)
  old.x = 5
  eq(n(), 0)
  t.a.x = 5
  eq(n(), 1)
end)
check("P6: in one turn, replaced and written behind, in both orders", function()
  local t = { a = { x = 1 } }
  local n = counter(t, "a.x")
  for i = 1, 5 do t.a = { x = i } end
  eq(n(), 1)
  t.a.x = 9
  eq(n(), 1)
  local a = t.a
  t.a = { x = 1 }
  t.a = a
  eq(n(), 1)
  a.x = 10
  eq(n(), 1)
end)
check("P6: immediate watchers follow at once", function()
  local t, log = { a = { x = 1 } }, {}
  obs.observe(t, "a.x", function(_, _, change)
    log[#log + 1] = tostring(change.key) .. tostring(change.new)
  end, { immediate = true })
  local old = t.a
  t.a = { x = 1 }
  old.x = 7
  t.a.x = 8
  eq(#log, 2)
  eq(log[2], "x8")
end)

-- P7
check("P7: a path may lead into a value that cannot be observed", function()
  for _, value in ipairs { 5, "text", true, print, io.stdout, coroutine.create(print) } do
    local t = { a = value }
    local n = counter(t, "a.b.c")
    eq(n(), 0)
    t.a = { b = { c = 1 } }
    eq(n(), 1)
    t.a.b.c = 2
    eq(n(), 1)
    t.a.b = value
    eq(n(), 1)
    t.a = value
    eq(n(), 1)
    eq(obs.get(t, "a.b.c"), nil)
  end
end)

-- P8
check("P6: a key that stores its inherited value, or drops it, enters or leaves `*`", function()
  for _, is_immediate in ipairs { false, true } do
    local b, t = { v = 1 }, setmetatable({}, { __index = { x = nil } })
    setmetatable(t, { __index = { x = b } })
    local calls = 0
    obs.observe(t, "*.v", function() calls = calls + 1 end, { immediate = is_immediate })
    local function n()
      calls = 0
      obs.flush()
      return calls
    end
    local function after(change)
      calls = 0
      change()
      local inside = calls
      return inside + n()
    end
    eq(after(function() b.v = 2 end), 0)
    eq(after(function() t.x = b end), 0)
    eq(after(function() b.v = 3 end), 1)
    eq(after(function() t.x = nil end), 0)
    eq(after(function() b.v = 4 end), 0)
    -- In one turn.
    eq(after(function()
      t.x = b
      b.v = 5
    end), 1)
    eq(after(function() b.v = 6 end), 1)
  end
end)

check("P6: … and the elements of operators", function()
  local t = setmetatable({}, { __index = { 1 } })
  local n = counter(t, { "@count", "@sum" })
  t[1] = 1
  eq(n(), 1)
  eq(obs.get(t, "@sum"), 1)
  t[1] = nil
  eq(n(), 1)
  eq(obs.get(t, "@sum"), 0)
end)

check("P8: an object that a wildcard reaches directly and in an array counts once", function()
  for _, is_first in ipairs { true, false } do
    local e = { a = 1 }
    local t = is_first and { x = e } or { items = obs.array { e } }
    local n = counter(t, "*.a")
    if is_first then t.items = obs.array { e } else t.x = e end
    eq(n(), 1)
    eq(obs.observer_count(e, "a"), 1)
    t.x = nil
    eq(n(), 1)
    e.a = 2
    eq(n(), 1)
    t.x = e
    t.items:clear()
    eq(n(), 1)
    eq(obs.observer_count(e, "a"), 1)
    e.a = 3
    eq(n(), 1)
    t.x = nil
    eq(n(), 1)
    e.a = 4
    eq(n(), 0)
    eq(obs.observer_count(e, "a"), 0)
  end
end)

check("P8: a path may loop back to its root", function()
  local t = { name = "x" }
  t.me = t
  local n = counter(t, "me.me.name")
  t.name = "y"
  eq(n(), 1)
  local other = { name = "z" }
  t.me = other
  eq(n(), 1)
  t.name = "z"
  eq(n(), 0)
  other.me = { name = 1 }
  eq(n(), 1)
  other.me.name = 2
  eq(n(), 1)
end)
check("P8: two routes to one object make one call; cutting one leaves the other", function()
  local shared = { x = 1 }
  local t = { a = shared, b = shared }
  local n, w = counter(t, { "a.x", "b.x" })
  shared.x = 2
  eq(n(), 1)
  t.a = nil
  eq(n(), 1)
  shared.x = 3
  eq(n(), 1)
  eq(obs.stop(t, "b.x"), 1)
  shared.x = 4
  eq(n(), 0)
  assert(w.active)
  t.a = shared
  eq(n(), 1)
end)
check("P8: two routes through stars", function()
  local shared = { x = 1 }
  local t = { a = shared, b = shared }
  local n = counter(t, "*.x")
  shared.x = 2
  eq(n(), 1)
  t.a = nil
  eq(n(), 1)
  shared.x = 3
  eq(n(), 1)
  t.b = nil
  eq(n(), 1)
  shared.x = 4
  eq(n(), 0)
end)
check("P8: a cycle cut in the middle of the turn", function()
  local a, b = { v = 1 }, { v = 1 }
  a.n, b.n = b, a
  local n = counter(a, "n.n.n.v")
  b.v = 2
  eq(n(), 1)
  b.n = nil
  eq(n(), 1)
  b.v = 3
  eq(n(), 0)
  b.n = a
  eq(n(), 1)
  b.v = 4
  eq(n(), 1)
end)
check("P9: any name of a plain table is fine", function()
  obs.observe({}, "no such.name é", nothing)
end)

-- P11
check("P9: a getter that stops watchers while its path is registered stops only them", function()
  reporting(function()
    for _ = 1, 20 do
      local t, calls = { b = 1 }, 0
      obs.lazy(t, "g", function()
        obs.stop(t, "b")
        error("x", 0)
      end)
      local w = obs.observe(t, { "b", "g.a" }, function() calls = calls + 1 end)
      collectgarbage()
      eq(w.active, true)
      t.b = 2
      eq(obs.flush(), 0)
      t.g = { a = 1 }
      eq(obs.flush(), 1)
      t.g.a = 2
      eq(obs.flush(), 1)
      eq(calls, 2)
    end
  end)
  eq(#reports, 20)
end)
check("P9: a getter that stops the watcher that is being registered", function()
  local t = { b = 1 }
  obs.lazy(t, "g", function()
    obs.stop(t)
    return { a = 1 }
  end)
  local w = obs.observe(t, { "b", "g.a", "c" }, function() error("called") end)
  eq(w.active, false)
  t.b, t.c = 2, 2
  eq(obs.flush(), 0)
end)
check("P11: observing a metamethod by name is a clear error", function()
  for _, name in ipairs { "__index", "__gc", "__anything", "a.__mode" } do
    local message = fails("__", obs.observe, { a = {} }, name, nothing)
    assert(message:find("metamethod"), message)
  end
  fails("metamethod", obs.observe, {}, obs.path("__index"), nothing)
end)
check("P11: keys with two underscores are never intercepted", function()
  local t = setmetatable({}, { __index = function() return 1 end })
  local n = counter(t, "*")
  t.__name = "x"
  eq(n(), 0)
  eq(rawget(t, "__name"), "x")
end)

-- Spellings
check("strings with NUL and invalid UTF-8 are keys, values and paths", function()
  for _, k in ipairs { "a\0b", "\255\254", "\xC3", "é", "\0" } do
    local t = { [k] = { [k] = "v\0" } }
    local n = counter(t, k .. "." .. k)
    t[k][k] = "v\0\255"
    eq(n(), 1)
    eq(obs.get(t, k .. "." .. k), "v\0\255")
    obs.set(t, k .. "." .. k, "w\0")
    eq(n(), 1)
    eq(t[k][k], "w\0")
    eq(obs.observer_count(t, k), 1)
    local keys = obs.observed_keys(t)
    eq(#keys, 1)
    eq(keys[1], k)
    eq(obs.stop(t, k .. "." .. k), 1)
  end
end)
check("very long names", function()
  local k = ("x"):rep(100000)
  local t = { [k] = 1 }
  local n = counter(t, k)
  t[k] = 2
  eq(n(), 1)
  eq(obs.observed_keys(t)[1], k)
end)
check("string keys that look like numbers are not numbers", function()
  local t = { ["1"] = "s", "i" }
  local n, m = counter(t, obs.path("1")), nil
  t["1"] = "x"
  eq(n(), 1)
  t[1] = "j"
  eq(n(), 0)
  n, m = counter(t, "#1")
  t["1"] = "y"
  eq(n(), 0)
  t[1] = "k"
  eq(n(), 1)
end)
check("a path of 10,000 components", function()
  local parts, t = {}, {}
  local leaf = t
  for i = 1, 9999 do
    parts[i] = "a"
    leaf.a = {}
    leaf = leaf.a
  end
  parts[10000] = "x"
  local path = table.concat(parts, ".")
  local n = counter(t, path)
  leaf.x = 1
  eq(n(), 1)
  eq(obs.get(t, path), 1)
  t.a = {}
  eq(n(), 1)
  leaf.x = 2
  eq(n(), 0)
  eq(obs.stop(t, path), 1)
end)
check("a path through 1,000 nested tables", function()
  local t = {}
  local leaf, keys = t, {}
  for i = 1, 1000 do
    leaf["k" .. i] = {}
    leaf = leaf["k" .. i]
    keys[i] = "k" .. i
  end
  keys[1001] = "x"
  local n = counter(t, obs.path(table.unpack(keys, 1, 200)))
  local m = counter(t, table.concat(keys, "."))
  leaf.x = 1
  eq(m(), 1)
  t.k1.k2.k3.k4 = nil
  eq(n(), 1)
end)
check("P2: a path in another notation is an error that shows the right one", function()
  local function misspelt(path, message)
    fails(message, obs.observe, {}, path, print)
    fails(message, obs.get, {}, path)
  end
  misspelt("a[1].b",
    "'a%.1%.b' is probably meant %(keys with such names: obs%.path%(\"a%[1%]\", \"b\"%)%)")
  misspelt("a['x']", "'a%.x' is probably meant")
  misspelt("a.*b", "component 2 of key path 'a%.⟨here⟩%*b': write '%*' as a separate component; "
    .. "'a%.%*%.b' is probably")
  misspelt(" a", "a name does not begin or end with a space; 'a' is probably meant")
  misspelt("a .b", "'a%.b' is probably meant")
  local t = { ["a[1]"] = { [" b"] = 1 }, ["**"] = 2 }
  local n = counter(t, { obs.path("a[1]", " b"), "a\\[1]", obs.path "**" })
  t["a[1]"][" b"] = 2
  eq(n(), 1)
  t["**"] = 3
  eq(n(), 1)
end)
check("P2: digits that are a string in the table", function()
  fails('its key "1" is a string: obs%.path%("1"%)', obs.observe, { ["1"] = 1 }, "1", print)
end)
check("P2: behind a wildcard the position may be missing in all elements", function()
  local t = { a = {}, b = { { x = 1 } } }
  local n = counter(t, { "*.1.x", "*.7", "*.#7", "*.c.7" })
  t.b[1].x = 2
  eq(n(), 1)
  counter({ a = {} }, "*.7")
  counter({ a = {} }, "*.7.x")
end)
check("C8: a name over a plain list gives a hint", function()
  local t = { items = { { lit = 1 } } }
  local w = obs.observe(t, "items.lit", print)
  local hint = "'items.lit' names a key of a plain list, but its elements have this key: "
    .. "'items.*.lit' names the elements' key"
  assert(obs.whynot(w).detail:find(hint, 1, true))
  assert(obs.describe(t):find(hint, 1, true))
  local other = obs.observe(t, "items.*.lit", print)
  assert(not obs.whynot(other).detail:find("plain list", 1, true))
  local named = obs.observe(t, "items.name", print)
  assert(not obs.whynot(named).detail:find("plain list", 1, true))
end)

finish()
