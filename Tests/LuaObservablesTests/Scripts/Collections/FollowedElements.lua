-- Rules C4 and P2: digits follow the object at position n.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function new(name) return { name = name } end
local function keys(t) return table.concat(obs.observed_keys(t), " ") end

check("called once when the object leaves, and then the path has ended", function()
  local t = { new "a", new "b", new "c" }
  local n, w = counter(t, "2")
  eq(n(), 0)
  table.remove(t, 2)
  eq(n(), 1)
  eq(w.active, false)
  eq(keys(t), "")
  table.insert(t, 2, new "d")
  t[1] = nil
  eq(n(), 0)
end)
check("inserts and removals elsewhere never call", function()
  local t = { new "a", new "b", new "c" }
  local b = t[2]
  local n, w = counter(t, "2")
  table.insert(t, 1, new "x")
  eq(n(), 0)
  table.insert(t, new "y")
  eq(n(), 0)
  table.remove(t, 1)
  table.remove(t, 1)
  eq(t[1], b)
  eq(n(), 0)
  t[2] = new "other"
  eq(n(), 0)
  t.named = 1
  eq(n(), 0)
  for i = 1, 50 do table.insert(t, 1, new(i)) end
  eq(n(), 0)
  table.sort(t, function(x, y) return tostring(x.name) < tostring(y.name) end)
  eq(n(), 0)
  assert(w.active)
  for i = #t, 1, -1 do if t[i] == b then table.remove(t, i) end end
  eq(n(), 1)
  eq(w.active, false)
end)
check("P2, T9: digits that are a key bind at once, also in a table that has appeared", function()
  for _, is_immediate in ipairs { true, false } do
    local t, log = {}, {}
    obs.observe(t, "list.7", function(t) log[#log + 1] = tostring(t.list and t.list[7]) end,
      { immediate = is_immediate })
    t.list = { [7] = "a" }
    if not is_immediate then obs.flush() end
    t.list[7] = "b"
    obs.flush()
    t.list = { [7] = "c" }
    if not is_immediate then obs.flush() end
    t.list[7] = nil
    obs.flush()
    eq(table.concat(log, " "), "a b c nil")
  end
end)
check("P2, T9: the same in a dictionary, and below it", function()
  local t, log = {}, {}
  obs.observe(t, "map.7.x", function(t) log[#log + 1] = tostring(t.map[7].x) end,
    { immediate = true })
  t.map = obs.dictionary { [7] = { x = 1 } }
  t.map[7].x = 2
  t.map[7] = { x = 3 }
  t.map[7].x = 4
  eq(table.concat(log, " "), "1 2 3 4")
end)
check("replacing the element counts as leaving", function()
  local t = { new "a", new "b" }
  local n, w = counter(t, "1")
  t[1] = new "a"
  eq(n(), 1)
  assert(not w.active)
end)
check("replacing the element at another position does not", function()
  local t = { new "a", new "b" }
  local n, w = counter(t, "1")
  t[1], t[2] = t[2], t[1]
  eq(n(), 0)
  t[1] = new "c"
  eq(n(), 0)
  t[2] = new "d"
  eq(n(), 1)
end)
check("a list that returns within one turn counts as new for an immediate watcher", function()
  local function left(immediate)
    local list = obs.array { new "a" }
    local t = { items = list }
    local w = obs.observe(t, "items.1", function() end, { immediate = immediate })
    list:set { new "b" }
    t.items = {}
    t.items = list
    obs.flush()
    return not w.active
  end
  eq(left(false), true)
  eq(left(true), false)
end)
check("removing and restoring it within one turn does not count as leaving", function()
  local t = { new "a", new "b" }
  local n, w = counter(t, "1")
  local a = table.remove(t, 1)
  table.insert(t, a)
  eq(n(), 0)
  assert(w.active)
  local got = 0
  local v = obs.observe(t, "1", function() got = got + 1 end, { immediate = true })
  local b = table.remove(t, 1)
  eq(got, 0)
  table.insert(t, b)
  obs.flush()
  eq(got, 0)
  table.remove(t)
  eq(got, 0)
  obs.flush()
  eq(got, 1)
  eq(v.active, false)
end)
check("an immediate watcher receives the object that left", function()
  local t = { new "a", new "b" }
  local b, change = t[2], nil
  obs.observe(t, "2", function(o, _, c) assert(o == t); change = c end, { immediate = true })
  t[2] = nil
  obs.flush()
  eq(change.path, "2")
  eq(change.key, 2)
  eq(change.old, b)
  eq(change.new, nil)
end)
check("an immediate watcher inside a batch", function()
  local t, log = { new "a", new "b", x = 1 }, {}
  local w = obs.observe(t, { "2", "x" }, function(_, _, c)
    log[#log + 1] = c.path
  end, { immediate = true })
  obs.batch(function() t[2] = nil; t.x = 2 end)
  eq(table.concat(log, " "), "x")
  obs.flush()
  eq(table.concat(log, " "), "x 2")
  assert(w.active)
  t.x = 3
  eq(table.concat(log, " "), "x 2 x")
end)
check("re-adding the object does not re-arm it", function()
  local t = { new "a", new "b" }
  local a = t[1]
  local n, w = counter(t, { "1", "name" })
  t[1] = new "z"
  eq(n(), 1)
  assert(w.active)
  t[1] = a
  eq(n(), 0)
  t[1] = nil
  eq(n(), 0)
  t.name = 1
  eq(n(), 1)
end)
check("an object that occurs twice leaves with its last occurrence", function()
  local a = new "a"
  local t = { a, new "b", a }
  local n, w = counter(t, "1")
  table.remove(t, 1)
  eq(n(), 0)
  table.remove(t)
  eq(n(), 1)
  assert(not w.active)
end)
check("a path behind digits hears the object, wherever it is", function()
  local t = { new "a", new "b" }
  local b = t[2]
  local n, w = counter(t, "2.name")
  b.name = "c"
  eq(n(), 1)
  table.insert(t, 1, new "x")
  eq(n(), 0)
  b.name = "d"
  eq(n(), 1)
  t[2].name = "x"
  eq(n(), 0)
  table.remove(t)
  eq(n(), 1)
  assert(not w.active)
  b.name = "e"
  eq(n(), 0)
end)
check("also immediately", function()
  local t = { new "a", new "b" }
  local b, log = t[2], {}
  local w = obs.observe(t, "2.name", function(_, _, c)
    log[#log + 1] = tostring(c.key)
  end, { immediate = true })
  b.name = "c"
  eq(#log, 1)
  table.insert(t, 1, new "x")
  b.name = "d"
  eq(#log, 2)
  table.remove(t)
  b.name = "e"
  eq(#log, 3)
  obs.flush()
  eq(#log, 4)
  b.name = "f"
  eq(#log, 4)
  assert(not w.active)
end)
check("the path may start above the list; a replaced list anchors on n of the new one", function()
  local t = { items = { new "a", new "b" } }
  local n, w = counter(t, "items.2.name")
  local old = t.items[2]
  t.items = { new "c", new "d", new "e" }
  eq(n(), 1)
  old.name = "x"
  eq(n(), 0)
  local d = t.items[2]
  table.insert(t.items, 1, new "y")
  eq(n(), 0)
  d.name = "dd"
  eq(n(), 1)
  -- An empty position: silent until the next replacement.
  t.items = { new "only" }
  eq(n(), 1)
  table.insert(t.items, new "second")
  eq(n(), 0)
  t.items[2].name = "changed"
  eq(n(), 0)
  t.items = { new "p", new "q" }
  eq(n(), 1)
  t.items[2].name = "changed"
  eq(n(), 1)
  table.remove(t.items, 2)
  eq(n(), 1)
  assert(not w.active)
end)
check("the list may appear later", function()
  local t = {}
  local n, w = counter(t, "items.1")
  t.items = { new "a" }
  eq(n(), 1)
  table.insert(t.items, 1, new "b")
  eq(n(), 0)
  table.remove(t.items, 2)
  eq(n(), 1)
  assert(not w.active)
end)
check("the list is removed altogether", function()
  local t = { items = { new "a" } }
  local n, w = counter(t, "items.1.name")
  t.items = nil
  eq(n(), 1)
  t.items = { new "b" }
  eq(n(), 1)
  t.items[1].name = "c"
  eq(n(), 1)
  assert(w.active)
end)
check("stopped by the text it was registered with, wherever the object is", function()
  local t = { new "a", new "b" }
  local n, w = counter(t, "1")
  table.insert(t, 1, new "x")
  n()
  eq(obs.stop(t, "2"), 0)
  eq(obs.stop(t, "1"), 1)
  assert(not w.active)
  eq(keys(t), "")
end)
check("observed keys, counts and describe call it by its digits", function()
  local t = { new "a", new "b" }
  local log = {}
  obs.on_observed(t, function(_, key, on) log[#log + 1] = key .. tostring(on) end)
  local w = obs.observe(t, { "1", "*" }, nothing)
  local v = obs.observe(t, "1.name", nothing)
  eq(keys(t), "* 1")
  eq(obs.observer_count(t, "1"), 2)
  eq(obs.observer_count(t, 1), 2)
  eq(obs.observer_count(t, "*"), 1)
  eq(keys(t[1]), "name")
  assert(obs.describe(t):find("  1\n"), obs.describe(t))
  v:stop()
  eq(obs.observer_count(t, "1"), 1)
  w:stop()
  eq(table.concat(log, " "), "1true *true 1false *false")
  local u = { 1, 2 }
  obs.observe(u, "@count", nothing)
  eq(keys(u), "@count")
end)
check("plain values are followed, too", function()
  local t = { "a", "b", 5 }
  local n, w = counter(t, "2")
  table.insert(t, 1, "z")
  eq(n(), 0)
  t[3] = "q"
  eq(n(), 1)
  assert(not w.active)
  local m = counter(t, "1.name")
  t[1] = "other"
  eq(m(), 1)
end)
check("below stars, each list separately", function()
  local t = { { new "a", new "b" }, { new "c", new "d" } }
  local n, w = counter(t, "*.2.name")
  local b, d = t[1][2], t[2][2]
  b.name = 1
  eq(n(), 1)
  d.name = 1
  eq(n(), 1)
  table.insert(t[1], 1, new "x")
  eq(n(), 0)
  table.remove(t[1], 3)
  eq(n(), 1)
  b.name = 2
  eq(n(), 0)
  assert(w.active)
  d.name = 2
  eq(n(), 1)
  t[3] = { new "e", new "f" }
  eq(n(), 1)
  t[3][2].name = 2
  eq(n(), 1)
  t[1][2].name = 5 -- the path follows no object now
  eq(n(), 0)
end)
check("stars at the end behind digits", function()
  local t = { new "a", new "b" }
  local n, w = counter(t, "2.*")
  t[2].anything = 1
  eq(n(), 1)
  table.insert(t, 1, 0)
  eq(n(), 0)
  t[3].more = 1
  eq(n(), 1)
  t[3] = nil
  eq(n(), 1)
  assert(not w.active)
end)
check("paused: evaluated when it resumes", function()
  local t = { new "a" }
  local n, w = counter(t, "1")
  w:pause()
  t[1] = nil
  eq(n(), 0)
  assert(w.active)
  w:resume()
  eq(n(), 1)
  assert(not w.active)
end)
check("with equals, once, and other paths", function()
  local t = { new "a", new "b", x = 1 }
  local n, w = counter(t, { "1", "x" }, { equals = function() return true end })
  t.x = 2
  eq(n(), 0)
  t[1] = new "z"
  eq(n(), 1)
  assert(w.active)
  local m, v = counter(t, { "2", "x" }, { once = true })
  t[2] = nil
  eq(m(), 1)
  assert(not v.active)
end)
check("no leak: the list and its elements may be collected", function()
  local weak = setmetatable({}, { __mode = "v" })
  do
    local t = { new "a", new "b" }
    t[1].list = t
    weak[1], weak[2] = t, t[1]
    obs.observe(t, { "1", "2.name" }, function() return t end)
    obs.observe(t, "1", function() return t end, { immediate = true })
    table.insert(t, 1, new "c")
    obs.flush()
  end
  collectgarbage() collectgarbage()
  eq(weak[1], nil)
  eq(weak[2], nil)
end)
check("removed objects are not kept alive", function()
  local weak = setmetatable({}, { __mode = "v" })
  local t = { new "a", new "b" }
  weak[1] = t[1]
  local n = counter(t, "1")
  t[1] = new "x"
  eq(n(), 1)
  collectgarbage() collectgarbage()
  eq(weak[1], nil)
end)
check("stopped after the object has left and before the flush", function()
  local t = { new "a" }
  local n, w = counter(t, "1")
  local m = counter(t, "1")
  t[1] = nil
  w:stop()
  eq(m(), 1)
  eq(n(), 0)
end)
check("the callback may observe the same digits again", function()
  local t, log = { new "a", new "b" }, {}
  local function again(o)
    log[#log + 1] = o[1] and o[1].name or "none"
    if o[1] then obs.observe(o, "1", again) end
  end
  obs.observe(t, "1", again)
  table.remove(t, 1)
  obs.flush()
  table.remove(t, 1)
  obs.flush()
  eq(table.concat(log, " "), "b none")
end)
check("a list of 10,000 with 1,000 anchored, inserted in front, sorted, cleared", function()
  local t = {}
  for i = 1, 10000 do t[i] = new(i) end
  local calls = 0
  for i = 1, 1000 do obs.observe(t, tostring(i * 10), function() calls = calls + 1 end) end
  table.insert(t, 1, new(0))
  obs.flush()
  table.sort(t, function(a, b) return a.name > b.name end)
  obs.flush()
  eq(calls, 0)
  for i = #t, 1, -1 do t[i] = nil end
  eq(obs.flush(), 1000)
  eq(calls, 1000)
  eq(keys(t), "")
end)
check("@count for immediate watchers: only when the size changed", function()
  local t, calls = { 1, 2 }, 0
  obs.observe(t, "@count", function() calls = calls + 1 end, { immediate = true })
  t[1] = 5
  eq(calls, 0)
  t[3] = 1
  eq(calls, 1)
  t.x = 1
  eq(calls, 1)
  table.remove(t)
  eq(calls, 2)
end)
check("@count below stars: of each list", function()
  local t = { { 1 }, { 1, 2 }, {} }
  local n = counter(t, "*.@count")
  t[2][3] = 1
  eq(n(), 1)
  t[3][1] = 1
  eq(n(), 1)
  t[1][1] = 5
  eq(n(), 0)
  t[1][2] = 5
  t[1][2] = nil
  eq(n(), 0)
end)

check("a new list is anchored at the flush, for immediate watchers too", function()
  local t, first, log = {}, { a = 1 }, {}
  obs.observe(t, "items.1.a", function(_, _, change)
    log[#log + 1] = change.key
  end, { immediate = true })
  local n = counter(t, "items.1.a")
  local list = { first }
  t.items = list
  list[1] = nil
  eq(n(), 1)
  eq(table.concat(log, " "), "items")
  t.items = { first }
  first.a = 2
  table.insert(t.items, 1, { a = 5 })
  eq(n(), 1)
  first.a = 3
  eq(n(), 0)
  t.items[1].a = 6
  eq(n(), 1)
  eq(table.concat(log, " "), "items items a")
end)

-- Digits at several places of one path -----------------------------------------------------------

local function table_of(list) return list end

-- The calls of a watcher whose objects leave their lists in this turn. `makes` makes lists.
local function leave(makes, path, order, options)
  local row = makes {{x = 1}}
  local grid = makes {path:find "a" and {a = row} or row}
  local lists = {row = row, grid = grid}
  local n, w = counter(grid, path, options)
  for _, name in ipairs(order) do table.remove(lists[name], 1) end
  eq(n(), 1)
  eq(w.active, false)
  eq(obs.observer_count(grid, "1"), 0)
end

for _, makes in ipairs {table_of, obs.array} do
  for _, path in ipairs {"1.1", "1.1.x", "1.a.1", "1.a.1.x"} do
    for _, order in ipairs {{"row", "grid"}, {"grid", "row"}, {"grid"}, {"row"}} do
      local kind = makes == obs.array and "arrays" or "tables"
      check(("%s leaves %s in %s"):format(path, table.concat(order, ", then "), kind), function()
        leave(makes, path, order)
        leave(makes, path, order, {immediate = true})
        leave(makes, path, order, {equals = rawequal})
      end)
    end
  end
end

check("a list that contains itself leaves at every step at once", function()
  for _, options in ipairs {{}, {immediate = true}} do
    local t = {}
    t[1] = t
    local n, w = counter(t, "1.1.1.1", options)
    table.remove(t)
    eq(n(), 1)
    eq(w.active, false)
  end
end)

check("two paths of one watcher lose their objects at once", function()
  local row = {{x = 1}, {x = 2}}
  local grid = {row}
  local n, w = counter(grid, {"1.1.x", "1.2.x"})
  table.remove(row, 2)
  table.remove(row, 1)
  eq(n(), 1)
  eq(w.active, false)
end)

check("objects leave at two places behind a wildcard, and the path stays", function()
  local rows = {{{{x = 1}}}, {{{x = 2}}}}
  local grid = {list = rows}
  local n, w = counter(grid, "list.*.1.1.x")
  for _, row in ipairs(rows) do
    table.remove(row[1], 1)
    table.remove(row, 1)
  end
  eq(n(), 1)
  eq(w.active, true)
  grid.list = {{{{x = 3}}}}
  eq(n(), 1)
  grid.list[1][1][1].x = 4
  eq(n(), 1)
end)

check("a computed property loses the objects of two digits at once", function()
  local row = {{x = 1}}
  local grid = {row}
  local holder = {grid = grid}
  obs.computed(holder, "c", {"grid.1.1.x"}, function(self)
    local first = self.grid[1]
    return first and first[1] and first[1].x
  end)
  local n = counter(holder, "c")
  table.remove(row, 1)
  table.remove(grid, 1)
  eq(n(), 1)
  eq(holder.c, nil)
end)

finish()
