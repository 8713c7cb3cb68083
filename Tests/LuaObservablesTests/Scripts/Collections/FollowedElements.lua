-- Rules C4 and P2: digits follow the object at position n. Cases/elements has what is the same for
-- all kinds of lists.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

function new(name) return { name = name } end
function keys(t) return table.concat(obs.observed_keys(t), " ") end

story("an object may move far, and back", [[
  local t = { new "a", new "b", new "c" }
  local b = t[2]
  local w = watch(t, "2")
  for i = 1, 50 do table.insert(t, 1, new(i)) end  --> 0
  table.sort(t, function(x, y) return tostring(x.name) < tostring(y.name) end)
  t.named = 1                                      --> 0
  eq(keys(t), "2")
  for i = #t, 1, -1 do if t[i] == b then table.remove(t, i) end end  --> 1
  eq(w.active, false)
  eq(keys(t), "")
]])
for _, is_immediate in ipairs { true, false } do
  immediate = is_immediate
  story("P2, T9: digits that are a key bind at once, also in a table that has appeared", [[
    local t = {}
    obs.observe(t, "list.7", function(t) note(t.list and t.list[7]) end, { immediate = immediate })
    t.list = { [7] = "a" }  --> a
    t.list[7] = "b"         --> b
    t.list = { [7] = "c" }  --> c
    t.list[7] = nil         --> nil
  ]])
end
story("P2, T9: the same in a dictionary, and below it", [[
  local t = {}
  obs.observe(t, "map.7.x", function(t) note(t.map[7].x) end, { immediate = true })
  t.map = obs.dictionary { [7] = { x = 1 } }  --= 1
  t.map[7].x = 2                              --= 2
  t.map[7] = { x = 3 }                        --= 3
  t.map[7].x = 4                              --= 4
]])
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
story("immediate watchers receive the object that left in the flush, once", [[
  local t = { "a", "b", x = 1 }
  local first, both = watch(t, "1", { immediate = true })
  local both = watch(t, { "2", "x" }, { immediate = true })
  local a = table.remove(t, 1)
  table.insert(t, a)  --> 0
  obs.batch(function()
    table.remove(t)
    t.x = 2
  end)                --= x: x 1>2
  t[1] = nil          --> 1: 2 a>nil, 2: 1 b>nil
  eq(first.active, false)
  eq(both.active, true)
  t.x = 3             --= x: x 2>3
]])
story("behind digits, immediate watchers hear the object, wherever it is", [[
  local t = { new "a", new "b" }
  local b = t[2]
  local w = watch(t, "2.name", { immediate = true })
  b.name = "c"        --= 2.name: name b>c
  table.insert(t, 1, new "x")
  b.name = "d"        --= 2.name: name c>d
  table.remove(t)
  b.name = "e"        --= 2.name: name d>e
  eq(obs.flush(), 1)  --= 1
  b.name = "f"        --= 0
  assert(not w.active)
]])
story("the list may appear later, and be removed altogether", [[
  local t = {}
  local w = watch(t, "items.1")
  local v = watch(t, "items.1.name")
  t.items = { new "a" }              --> items.1, items.1.name
  t.items = nil                      --> items.1, items.1.name
  t.items = { new "b" }              --> items.1, items.1.name
  t.items[1].name = "c"              --> items.1.name
  table.insert(t.items, 1, new "b")  --> 0
  table.remove(t.items, 2)           --> items.1, items.1.name
  assert(not w.active and not v.active)
]])
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
story("plain values are followed, too", [[
  local t = { "a", "b", 5 }
  local w = watch(t, "2")
  table.insert(t, 1, "z")  --> 0
  t[3] = "q"               --> 1
  assert(not w.active)
  watch(t, "1.name")
  t[1] = "other"           --> 1
]])
story("below stars, in each list separately, and with a star at the end", [[
  local t = { { new "a", new "b" }, { new "c", new "d" } }
  local b, d = t[1][2], t[2][2]
  local w = watch(t, "*.2.*")
  b.name = 1                      --> 1
  d.anything = 1                  --> 1
  table.insert(t[1], 1, new "x")  --> 0
  table.remove(t[1], 3)           --> 1
  b.name = 2                      --> 0
  d.name = 2                      --> 1
  t[3] = { new "e", new "f" }     --> 1
  t[3][2].name = 2                --> 1
  -- In the first list, the path follows no object now.
  t[1][2].name = 5                --> 0
  assert(w.active)
]])
story("paused: evaluated when it resumes", [[
  local t = { new "a" }
  local w = watch(t, "1")
  w:pause()
  t[1] = nil  --> 0
  assert(w.active)
  w:resume()  --> 1
  assert(not w.active)
]])
story("with equals, once, and other paths", [[
  local t = { new "a", new "b", x = 1 }
  local w = watch(t, { "1", "x" }, { equals = function() return true end })
  t.x = 2         --> 0
  t[1] = new "z"  --> 1
  assert(w.active)
  local v = watch(t, { "2", "x" }, { once = true })
  t[2] = nil      --> 1
  assert(not v.active)
]])
check("the list and its elements, and an element that has left, are collected", function()
  local weak = setmetatable({}, { __mode = "v" })
  local kept = { new "a", new "b" }
  do
    local t = { new "a", new "b" }
    t[1].list = t
    weak[1], weak[2], weak[3] = t, t[1], kept[1]
    obs.observe(t, { "1", "2.name" }, function() return t end)
    obs.observe(t, "1", function() return t end, { immediate = true })
    table.insert(t, 1, new "c")
    obs.observe(kept, "1", nothing)
    kept[1] = new "x"
    eq(obs.flush(), 1)
  end
  collectgarbage() collectgarbage()
  eq(next(weak), nil)
end)
story("stopped after the object has left and before the flush", [[
  local t = { new "a" }
  local w = watch(t, "1", { name = "stopped" })
  watch(t, "1", { name = "other" })
  t[1] = nil
  w:stop()  --> other
]])
story("the callback may observe the same digits again", [[
  local t = { new "a", new "b" }
  local function again(o)
    note(o[1] and o[1].name)
    if o[1] then obs.observe(o, "1", again) end
  end
  obs.observe(t, "1", again)
  table.remove(t, 1)  --> b
  table.remove(t, 1)  --> nil
]])
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
story("@count: only when the size changed, for immediate watchers and of each list", [[
  local t = { { 1 }, { 1, 2 }, {} }
  watch(t, "*.@count")
  watch(t[1], "@count", { immediate = true })
  t[2][3] = 1         --> *.@count
  t[3][1] = 1         --> *.@count
  t[1][1] = 5
  t[1].x = 1          --> 0
  t[1][2] = 5         --= @count: 2 nil>5
  table.remove(t[1])  --= @count: 2 5>nil
  eq(obs.flush(), 0)
]])
story("a new list is anchored at the flush, for immediate watchers too", [[
  local t, first = {}, { a = 1 }
  watch(t, "items.1.a", { immediate = true })
  watch(t, "items.1.a", { name = "flush" })
  local list = { first }
  t.items = list                       --= 1
  list[1] = nil                        --> flush
  t.items = { first }                  --= 1
  first.a = 2
  table.insert(t.items, 1, { a = 5 })  --> flush
  first.a = 3                          --> 0
  t.items[1].a = 6                     --> items.1.a: a 5>6, flush
]])

-- Digits at several places of one path ------------------------------------------------------------

local function plain(list) return list end

-- Expects one call of a watcher whose objects leave their lists in this turn. `make` makes lists.
local function leave(make, path, order, options)
  local row = make { { x = 1 } }
  local grid = make { path:find "a" and { a = row } or row }
  local lists = { row = row, grid = grid }
  local n, w = counter(grid, path, options)
  for _, name in ipairs(order) do table.remove(lists[name], 1) end
  eq(n(), 1)
  eq(w.active, false)
  eq(obs.observer_count(grid, "1"), 0)
end

for kind, make in pairs { tables = plain, arrays = obs.array } do
  for _, path in ipairs { "1.1", "1.1.x", "1.a.1", "1.a.1.x" } do
    for _, order in ipairs { { "row", "grid" }, { "grid", "row" }, { "grid" }, { "row" } } do
      check(("%s leaves %s in %s"):format(path, table.concat(order, ", then "), kind), function()
        for _, options in ipairs { {}, { immediate = true }, { equals = rawequal } } do
          leave(make, path, order, options)
        end
      end)
    end
  end
end
story("a list that contains itself leaves at every step at once", [[
  for _, options in ipairs { {}, { immediate = true } } do
    local t = {}
    t[1] = t
    local w = watch(t, "1.1.1.1", options)
    table.remove(t)  --> 1
    eq(w.active, false)
  end
]])
story("two paths, and a computed property, lose their objects at once", [[
  local row = { { x = 1 }, { x = 2 } }
  local holder = { grid = { row } }
  local w = watch(holder.grid, { "1.1.x", "1.2.x" }, { name = "paths" })
  obs.computed(holder, "c", { "grid.1.1.x" }, function(self)
    local first = self.grid[1]
    return first and first[1] and first[1].x
  end)
  watch(holder, "c")
  table.remove(row, 2)
  table.remove(row, 1)
  table.remove(holder.grid, 1)  --> paths, c
  eq(w.active, false)
  eq(holder.c, nil)
]])
story("objects leave at two places behind a wildcard, and the path stays", [[
  local rows = { { { { x = 1 } } }, { { { x = 2 } } } }
  local grid = { list = rows }
  watch(grid, "list.*.1.1.x")
  for _, row in ipairs(rows) do
    table.remove(row[1], 1)
    table.remove(row, 1)
  end                                --> 1
  grid.list = { { { { x = 3 } } } }  --> 1
  local element = grid.list[1][1][1]
  element.x = 4                      --> 1
]])

finish()
