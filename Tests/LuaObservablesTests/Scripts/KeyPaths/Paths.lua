-- Rules P1–P9 and P11, as a script sees them. Collections/Cases has P3 to P8 for lists.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

-- P1, P2: spelling --------------------------------------------------------------------------------

-- A path, its table, and the assigned key that the watcher hears; it hears no other key.
for _, case in ipairs {
  { "P1: text is split at dots", "a.b.c", { a = { b = { c = 1 } } } },
  { "P1: an escaped dot belongs to the name", "a\\.b", { ["a.b"] = 1, a = { b = 1 } }, "a.b" },
  { "P1: a doubled backslash is one", "a\\\\b", { ["a\\b"] = 1 }, "a\\b" },
  { "P2: an escaped star is a key", "\\*", { ["*"] = 1, x = 1 }, "*" },
  { "P2: count is a name on a plain table", "count", { 1, 2 }, "count" },
  { "P2: digits of an integer key outside of the list are the key", "10", { [10] = 1 }, 10 },
  { "P2: zero is an integer key", "0", { [0] = 1, 2 }, 0 },
  { "P9: any name of a plain table is fine", "no such.name é", { ["no such"] = {} } },
  { "very long names", ("x"):rep(100000), {}, ("x"):rep(100000) },
} do
  local sentence, path, t, key = table.unpack(case)
  check(sentence, function()
    local n = counter(t, path)
    t.x, t[3], t[1] = {}, {}, {}
    if t.a then t.a.b = { c = 1 } end
    n()
    obs.set(t, path, 5)
    eq(n(), 1)
    eq(obs.get(t, path), 5)
    if key then
      eq(t[key], 5)
      has(obs.observed_keys(t)[1], tostring(key))
      t[key] = nil
      eq(n(), 1)
      t.x, t.y = {}, {}
      eq(n(), 0)
    end
  end)
end
for _, case in ipairs {
  { "", "empty" }, { ".", "" }, { "a.", "a%." }, { ".a", "%.a" }, { "a..b", "a%." }, { "#", "#" },
  { "a.#", "a%." }, { "#x", "#x" }, { "#-1", "#%-1" }, { "#1.5.", "" }, { "a\\", "a" },
  { "a.b.", "a%.b%." },
} do
  check("P1: a bad path is an error that shows it: " .. case[1], function()
    local t = {}
    for _, f in ipairs {
      function() obs.observe(t, case[1], nothing) end, function() obs.get(t, case[1]) end,
      function() obs.set(t, case[1], 1) end, function() obs.stop(t, case[1]) end,
      function() obs.break_on_change(t, case[1]) end,
      function() obs.observe(t, { "fine", case[1] }, nothing) end,
      function() obs.observe({}, "fine", nothing):observe(case[1]) end,
    } do
      local message = fails("path", f)
      assert(message:find(case[2]), message)
      if case[1] ~= "" then assert(message:find("component"), message) end
    end
    -- No watcher is left behind.
    eq(#obs.observed_keys(t), 0)
  end)
end
check("P2: a path in another notation is an error that shows the right one", function()
  for path, message in pairs {
    ["a[1].b"] =
      "'a%.1%.b' is probably meant %(keys with such names: obs%.path%(\"a%[1%]\", \"b\"%)%)",
    ["a['x']"] = "'a%.x' is probably meant",
    ["a.*b"] = "component 2 of key path 'a%.⟨here⟩%*b': write '%*' as a separate component; "
      .. "'a%.%*%.b' is probably",
    [" a"] = "a name does not begin or end with a space; 'a' is probably meant",
    ["a .b"] = "'a%.b' is probably meant",
  } do
    fails(message, obs.observe, {}, path, print)
    fails(message, obs.get, {}, path)
  end
  local t = { ["a[1]"] = { [" b"] = 1 }, ["**"] = 2 }
  local n = counter(t, { obs.path("a[1]", " b"), "a\\[1]", obs.path "**" })
  t["a[1]"][" b"] = 2
  eq(n(), 1)
  t["**"] = 3
  eq(n(), 1)
end)
check("P2: digits of an absent index, and unknown operators, are errors with a hint", function()
  for _, case in ipairs {
    { "#4", { 1, 2, 3 }, "4" }, { "#1", {}, "1" }, { "#0", { "b" }, "0" },
    { "#7", { list = { 1 } }, "list.7" }, { "@nope", {}, "@nope" },
    { 'its key "1" is a string: obs%.path%("1"%)', { ["1"] = 1 }, "1" },
  } do
    fails(case[1], obs.observe, case[2], case[3], nothing)
  end
  fails("@nope", obs.get, {}, "@nope")
end)
check("P2: obs.path spells keys of any type", function()
  for _, k in ipairs {
    1, 1.0, "x.y", true, {}, 1.5, print, "#1", "*", "1", -3, "", "a\0b", "\255\254", "\xC3", "é",
  } do
    local t, path = { [k] = "value", other = 1 }, obs.path(k)
    eq(obs.get(t, path), "value")
    local n = counter(t, path)
    t[k] = {}
    eq(n(), 1)
    t.other, t[2] = 2, 2
    eq(n(), 0)
    -- Another path that is made in the same way is equal.
    eq(obs.stop(t, obs.path(k)), 1)
    t[k] = {}
    eq(n(), 0)
  end
  fails("nil", obs.path, nil)
  fails("NaN", obs.path, 0 / 0)
  fails("key", obs.path)
  fails("#2", obs.path, "a", nil)
end)
check("strings with NUL and invalid UTF-8 are keys, values and paths", function()
  for _, k in ipairs { "a\0b", "\255\254", "\xC3", "é", "\0" } do
    local t, path = { [k] = { [k] = "v\0" } }, k .. "." .. k
    local n = counter(t, path)
    obs.set(t, path, "v\0\255")
    eq(n(), 1)
    eq(t[k][k], "v\0\255")
    eq(obs.get(t, path), "v\0\255")
    eq(table.concat(obs.observed_keys(t)), k)
    eq(obs.stop(t, path), 1)
  end
end)
story("P2: equal keys of different types stay apart", [[
  local t = { ["1"] = "s", "i" }
  watch(t, obs.path "1", { name = "text" })
  watch(t, "#1", { name = "slot" })
  watch(t, obs.path(1), { name = "key" })
  watch(t, obs.path(true), { name = "true" })
  watch(t, obs.path "true", { name = "text true" })
  watch(t, obs.path(1.5), { name = "1.5" })
  watch(t, obs.path "1.5", { name = "text 1.5" })
  t["1"] = "x"             --> text
  t[1] = "j"               --> slot, key
  table.insert(t, 1, "z")  --> slot, key
  t[true] = 1              --> true
  t["true"] = 1            --> text true
  t[1.5] = 1               --> 1.5
  t["1.5"] = 1             --> text 1.5
]])
story("P2: @count is the size of a plain list, wherever it is", [[
  local t = { 1, 2, items = { 1 } }
  watch(t, { "@count", "items.@count" })
  t[3] = 1                           --> 1
  t[1] = 9
  t[4] = 1
  t[4] = nil
  t.name = "x"                       --> 0
  table.remove(t)                    --> 1
  t.items[2] = 1                     --> 1
  t.items = { 1, 2 }                 --> 1
  t.items[4], t.items[3] = 4, 3
  eq(obs.get(t, "items.@count"), 4)  --> 1
  t.items = nil                      --> 1
  eq(obs.get(t, "items.@count"), nil)
]])
story("P2: behind a wildcard the position may be missing in all elements", [[
  local t = { a = {}, b = { { x = 1 } } }
  watch(t, { "*.1.x", "*.7", "*.#7", "*.c.7" })
  t.b[1].x = 2  --> 1
  watch({ a = {} }, { "*.7", "*.7.x" })
]])
check("C8: a name over a plain list gives a hint", function()
  local t = { items = { { lit = 1 } } }
  local hint = "'items.lit' names a key of a plain list, but its elements have this key: "
    .. "'items.*.lit' names the elements' key"
  for path, has_hint in pairs {
    ["items.lit"] = true, ["items.*.lit"] = false, ["items.name"] = false,
  } do
    local w = obs.observe(t, path, print)
    eq(obs.whynot(w).detail:find(hint, 1, true) ~= nil, has_hint)
    eq(obs.describe(t):find(hint, 1, true) ~= nil, has_hint)
    w:stop()
  end
end)

-- P3: one object at one step is one state, however many routes lead to it -------------------------

story("P3: stars anywhere, several times, and at the end", [[
  local t = { a = { x = 1 }, l = { { x = 1 }, { x = 2 } } }
  watch(t, "*")
  watch(t, "*.x")
  watch(t, "*.*")
  watch(t, "*.*.x")
  t.a.x = 2            --> *.x, *.*, *.*.x
  t.a.y = 2            --> *.*, *.*.x
  t.l[1].x = 2
  t.l[2].x = 2         --> *.*.x
  t.l[3] = { x = 1 }   --> *.*, *.*.x
  t[true] = { x = 1 }  --> *, *.x, *.*, *.*.x
  t[true].x = 2        --> *.x, *.*, *.*.x
  local a = t.a
  t.a = nil            --> *, *.x, *.*, *.*.x
  a.x = 3              --> 0
]])
story("P3: twenty stars over three tables that contain each other", [[
  local a, b, c = { n = 0 }, { n = 0 }, { n = 0 }
  for _, x in ipairs { a, b, c } do x.a, x.b, x.c = a, b, c end
  local w = watch(a, ("*."):rep(20) .. "n")
  b.n = 1              --> 1
  eq(obs.observer_count(b, "n"), 1)
  -- Cutting routes leaves the others intact; an object without a route is silent.
  a.b, c.b = nil, nil  --> 1
  b.n = 2              --> 0
  c.n = 2              --> 1
  a.b = b              --> 1
  b.n = 3              --> 1
  w:stop()
  for _, x in ipairs { a, b, c } do eq(#obs.observed_keys(x), 0) end
]])
story("P3: routes of different lengths through lists that contain each other", [[
  local x, y = obs.array {}, obs.array {}
  local leaf, other = { price = 1 }, { price = 1 }
  local holder = { list = x }
  x:append(y, leaf)
  y:append(x, other)
  watch(holder, "list.price")
  other.price = 2    --> 1
  holder.list = y    --> 1
  leaf.price = 2     --> 1
  y:remove_value(x)  --> 1
  leaf.price = 3     --> 0
  other.price = 3    --> 1
]])
story("P3: routes that change places through lists that contain each other", [[
  local item = { price = 1 }
  local a, b, c = obs.array {}, obs.array {}, obs.array {}
  a:append(b)
  b:append(a, item)
  c:append(b)
  local root = obs.array { a, c }
  watch(root, "price")
  -- First `b` is found through `c`, and `a` through `b`; then `a` from the root again.
  root:remove_value(a)  --> 1
  root:append(a)        --> 1
  b:remove_value(a)     --> 1
  -- Now only `a` leads to `b`.
  c:remove_value(b)     --> 1
  item.price = 2        --> 1
  a:remove_value(b)     --> 1
  item.price = 3        --> 0
  eq(#obs.observed_keys(item), 0)
]])
story("P3, P8: a shared object is heard until the last route to it is cut", [[
  local shared = { price = 1 }
  local t = { a = { x = shared }, b = { x = shared }, c = { x = { price = 1 } } }
  watch(t, "*.x.price")
  eq(obs.observer_count(shared, "price"), 1)
  t.a = nil         --> 1
  shared.price = 2  --> 1
  t.c.x = shared    --> 1
  t.b.x = nil       --> 1
  shared.price = 3  --> 1
  t.c = nil         --> 1
  shared.price = 4  --> 0
  eq(obs.observer_count(shared, "price"), 0)
]])
story("C9: operators over objects that share an object", [[
  local shared, one, two = { v = 5 }, obs.array { 1, 2 }, obs.array { 3 }
  local t = { list = { { x = shared }, { x = shared }, { x = { v = 1 } } } }
  local u = { list = { { x = one }, { x = one }, { x = two } } }
  obs.observe(t, "list.@sum.x.v", function() note(obs.get(t, "list.@sum.x.v")) end)
  obs.observe(u, "list.@unionOfArrays.x", function()
    note(table.concat(obs.get(u, "list.@unionOfArrays.x"), " "))
  end)
  shared.v = 6             --> 13
  t.list[1].x = nil        --> 7
  table.remove(t.list, 2)  --= 0
  eq(obs.flush(), 1)       --= 1
  t.list[1].x = shared     --> 7
  one:append(9)            --> 1 2 9 1 2 9 3
  u.list[1].x = two        --> 3 1 2 9 3
  table.remove(u.list, 2)  --> 3 3
  two:append(4)            --> 3 4 3 4
]])

-- P4–P6 -------------------------------------------------------------------------------------------

story("P4, P5: parts may be nil or unreachable, which are changes, too", [[
  local t = {}
  watch(t, "a.b.c")        --> 0
  t.a = {}                 --> 1
  t.a.b = {}               --> 1
  t.a.b.c = 1              --> 1
  t.a = { other = 1 }      --> 1
  t.a = 5                  --> 1
  t.a = nil                --> 1
  t.a = nil                --> 0
  t.a = { b = { c = 1 } }  --> 1
  t.a.b.c = 2              --> 1
]])
story("P5, P6: after an equal replacement the old branch is silent and the new one heard", [[
  local meta = { __eq = function() return true end }
  local function new(c) return setmetatable({ c = c }, meta) end
  local t = { a = { b = new(1) } }
  watch(t, "a.b.c")
  local oldA, oldB = t.a, t.a.b
  t.a = { b = new(1) }    --> 1
  oldB.c, oldA.b = 2, {}  --> 0
  t.a.b.c = 2             --> 1
  t.a.b = new(2)          --> 1
  t.a.b.c = 3             --> 1
  -- In one turn: replacements with a write behind the last one; then a replacement and its undoing.
  for i = 1, 5 do t.a = { b = new(i) } end
  t.a.b.c = 9             --> 1
  local a = t.a
  t.a = { b = new(1) }
  t.a = a                 --> 1
  a.b.c = 10              --> 1
]])
story("P6: functions that look at the paths of a pending watcher lose no call", [[
  -- Each function updates the links between the pending write and the flush.
  for name, ask in pairs {
    run = function(w) w:run() end,
    observed_keys = function(_, t) obs.observed_keys(t) end,
    whynot = function(w) obs.whynot(w) end,
    describe = function(_, t) obs.describe(t) end,
  } do
    local x, y, z = { b = 1 }, { b = 2 }, { b = 3 }
    local t = { a = x }
    local w = watch(t, "a.b")
    t.a = y
    ask(w, t)  --= any
    t.a = z    --> 1
    y.b = 5    --> 0
    z.b = 5    --> 1
  end
]])
story("C9: asking for an observed value within a turn does not freeze it", [[
  local list = obs.array { 3 }
  obs.observe(list, "@sum", function() note("called", obs.get(list, "@sum")) end)
  for _, value in ipairs { 4, 3, 5 } do
    list[1] = value
    note(obs.get(list, "@sum"))
  end  --> 4, 3, 5, called 5
]])
story("P6: immediate watchers follow at once", [[
  local t = { a = { x = 1 } }
  watch(t, "a.x", { immediate = true })
  local old = t.a
  t.a = { x = 1 }  --= 1
  old.x = 7
  t.a.x = 8        --= a.x: x 1>8
]])
for _, is_immediate in ipairs { false, true } do
  immediate = is_immediate
  story("P6: a key that stores its inherited value, or drops it, enters or leaves `*`", [[
    local b = { v = 1 }
    local t = setmetatable({}, { __index = { x = b } })
    watch(t, "*.v", { immediate = immediate })
    b.v = 2    --> 0
    t.x = b    --> 0
    b.v = 3    --> 1
    t.x = nil  --> 0
    b.v = 4    --> 0
    t.x = b
    b.v = 5    --> 1
    b.v = 6    --> 1
  ]])
end
story("P6: … and the elements of operators", [[
  local t = setmetatable({}, { __index = { 1 } })
  watch(t, { "@count", "@sum" })
  t[1] = 1    --> 1
  eq(obs.get(t, "@sum"), 1)
  t[1] = nil  --> 1
  eq(obs.get(t, "@sum"), 0)
]])

-- P7–P9, P11 --------------------------------------------------------------------------------------

story("P7: a path may lead into a value that cannot be observed", [[
  for _, value in ipairs { 5, "text", true, print, io.stdout, coroutine.create(print) } do
    local t = { a = value }
    local w = watch(t, "a.b.c")  --> 0
    t.a = { b = { c = 1 } }      --> 1
    t.a.b.c = 2                  --> 1
    t.a.b = value                --> 1
    t.a = value                  --> 1
    eq(obs.get(t, "a.b.c"), nil)
    w:stop()
  end
]])
story("P8: an object that a wildcard reaches directly and in an array counts once", [[
  for _, is_first in ipairs { true, false } do
    local e = { a = 1 }
    local t = is_first and { x = e } or { items = obs.array { e } }
    watch(t, "*.a")
    if is_first then t.items = obs.array { e } else t.x = e end  --> 1
    eq(obs.observer_count(e, "a"), 1)
    t.x = nil        --> 1
    e.a = 2          --> 1
    t.x = e
    t.items:clear()  --> 1
    eq(obs.observer_count(e, "a"), 1)
    e.a = 3          --> 1
    t.x = nil        --> 1
    e.a = 4          --> 0
    eq(obs.observer_count(e, "a"), 0)
  end
]])
story("P8: a path may loop back to its root", [[
  local t = { name = "x" }
  t.me = t
  watch(t, "me.me.name")
  t.name = "y"             --> 1
  local other = { name = "z" }
  t.me = other             --> 1
  t.name = "z"             --> 0
  other.me = { name = 1 }  --> 1
  other.me.name = 2        --> 1
]])
story("P8: two paths to one object make one call; the end of one leaves the other", [[
  local shared = { x = 1 }
  local t = { a = shared, b = shared }
  local w = watch(t, { "a.x", "b.x" })
  shared.x = 2  --> 1
  t.a = nil     --> 1
  shared.x = 3  --> 1
  eq(obs.stop(t, "b.x"), 1)
  shared.x = 4  --> 0
  assert(w.active)
  t.a = shared  --> 1
  -- The same path, twice.
  w:observe "a.x"
  eq(obs.stop(t, "a.x"), 2)
  eq(w.active, false)
]])
story("P8: a cycle cut in the middle of the turn", [[
  local a, b = { v = 1 }, { v = 1 }
  a.n, b.n = b, a
  watch(a, "n.n.n.v")
  b.v = 2    --> 1
  b.n = nil  --> 1
  b.v = 3    --> 0
  b.n = a    --> 1
  b.v = 4    --> 1
]])
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
  for _, name in ipairs { "__index", "__gc", "__anything", "a.__mode", obs.path "__index" } do
    fails("__.*metamethod", obs.observe, { a = {} }, name, nothing)
  end
end)
story("P11: keys with two underscores are never intercepted", [[
  local t = setmetatable({}, { __index = function() return 1 end })
  watch(t, "*")
  t.__name = "x"  --> 0
  eq(rawget(t, "__name"), "x")
]])

-- Long paths --------------------------------------------------------------------------------------

story("P6: a path of 10,000 equal steps on a ring, whose object is replaced", [[
  local holder, ring, other = {}, {}, {}
  ring.next, holder.next, other.next = ring, ring, other
  watch(holder, ("next."):rep(9999) .. "next")
  holder.next = other  --> 1
  ring.next = nil      --> 0
  other.next = nil     --> 1
]])
story("a path of 10,000 components", [[
  local t = {}
  local leaf, path = t, ("a."):rep(9999) .. "x"
  for i = 1, 9999 do
    leaf.a = {}
    leaf = leaf.a
  end
  watch(t, path)
  leaf.x = 1  --> 1
  eq(obs.get(t, path), 1)
  t.a = {}    --> 1
  leaf.x = 2  --> 0
  eq(obs.stop(t, path), 1)
]])
story("8,000 paths in one watcher", [[
  local paths, t = {}, {}
  for i = 1, 8000 do paths[i] = "k" .. i .. ".x" end
  local w = watch(t, paths)
  for i = 1, 8000 do t["k" .. i] = { x = i } end  --> 1
  t.k4000.x = 0                                   --> 1
  eq(obs.stop(t, "k4000.x"), 1)
  t.k4000.x = 1                                   --> 0
  eq(obs.stop(t), 7999)
  eq(w.active, false)
]])
story("a path of 200 keys through 1,000 nested tables", [[
  local t, keys = {}, {}
  local leaf = t
  for i = 1, 1000 do
    local key, below = "k" .. i, {}
    keys[i], leaf[key], leaf = key, below, below
  end
  watch(t, obs.path(table.unpack(keys, 1, 200)), { name = "200" })
  watch(t, table.concat(keys, ".") .. ".x", { name = "1001" })
  leaf.x = 1           --> 1001
  t.k1.k2.k3.k4 = nil  --> 200, 1001
]])

finish()
