-- Rules C2 and C10: `obs.observe_edits` reports edits of a collection. Cases/edits checks for all
-- kinds of lists that the edits lead from one state to the next.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

-- Each edit is an entry: "insert 2 x", "remove 1 a", "replace 1 x>y", "move 3 from 1".
function edits_of(collection, options)
  return obs.observe_edits(collection, function(c, edits)
    assert(c == collection)
    for _, e in ipairs(edits) do
      local value = e.kind == "move" and "from " .. e.from or e.new
      if e.kind == "replace" then value = tostring(e.old) .. ">" .. tostring(e.new) end
      if e.kind == "remove" then value = e.old end
      note(e.kind, e.at, value)
    end
  end, options)
end
local function plain(t) return t end

for kind, maker in pairs { ["a plain list"] = plain, ["an obs.array"] = obs.array } do
  local function of_kind(sentence, text)
    make = maker
    story(kind .. ": " .. sentence, text)
  end
  of_kind("one edit for each operation, those of a turn together, the oldest first", [[
    local a = make { "a", "b", "c" }
    edits_of(a)                  --> 0
    table.insert(a, 2, "x")      --> insert 2 x
    table.remove(a, 1)           --> remove 1 a
    a[1] = "y"                   --> replace 1 x>y
    a[#a + 1] = "z"              --> insert 4 z
    a[#a] = nil                  --> remove 4 z
    rawset(a, 4, "r")            --> insert 4 r
    rawset(a, 1, "q")            --> replace 1 y>q
    table.insert(a, "s")
    table.remove(a, 1)           --> insert 5 s, remove 1 q
    a[1] = "x"
    a[1] = "b"                   --> 0
    a[1], a[4] = a[4], a[1]      --> replace 4 s>b, replace 1 b>s
    table.sort(a)                --> any
    obs.assign(a, { "b", "s" })  --> any
    obs.clear(a)                 --> remove 2 s, remove 1 b
    table.insert(a, "c")
    table.insert(a, "d")         --> insert 1 c, insert 2 d
  ]])
  of_kind("initially all that is there", [[
    local a = make { "a", "b" }
    edits_of(a, { initial = true })
    table.insert(a, "c")  --> insert 1 a, insert 2 b, insert 3 c
    table.remove(a)       --> remove 3 c
  ]])
  of_kind("an immediate watcher is told the edits of the operation", [[
    local a = make { "a", "b" }
    edits_of(a, { immediate = true })
    table.insert(a, 1, "x")  --= insert 1 x
    table.remove(a, 2)       --= remove 2 a
  ]])
end
story("an obs.array moves, swaps, is set and appended to", [[
  local a = obs.array { "a", "b", "c", "d" }
  edits_of(a)
  a:move(1, 3)        --> move 3 from 1
  a:swap(1, 2)        --> 2
  a:set { "x" }       --> any
  a:append("y", "z")  --> insert 2 y, insert 3 z
  a:clear()           --> remove 3 z, remove 2 y, remove 1 x
]])
for kind, maker in pairs { ["a plain map"] = plain, ["an obs.dictionary"] = obs.dictionary } do
  make = maker
  story(kind .. ": edits by key", [[
    local d = make { a = 1, b = 2 }
    local w = edits_of(d)
    d.a = 3                                       --> replace a 1>3
    d.c = 4                                       --> insert c 4
    d.b = nil                                     --> remove b 2
    d.a, d.x = 9, 1
    d.a, d.x = 3, nil
    d.c = nil
    d.c = 4                                       --> 0
    w:stop()
    edits_of(make { a = 1 }, { initial = true })  --> insert a 1
  ]])
end
story("C13: initially lazy keys are left out, read or not", [[
  for _, make in ipairs { function(t) return t end, obs.dictionary } do
    local t = make { a = 1 }
    obs.computed(t, "q", { "a" }, function(self) return self.a end)
    obs.lazy(t, "r", function() return 1 end)
    eq(t.q, 1)
    edits_of(t, { initial = true })  --> insert a 1
    t.a = 2                          --> replace a 1>2
    eq(t.q, 2)                       --> 0
  end
]])
story("initially elements are inserted in order, wherever Lua keeps them", [[
  local t = { a = 1, b = 1, c = 1 }
  obs.observe(t, "*", function() end)
  t.a, t.b, t.c = nil, nil, nil
  edits_of(t, { initial = true })
  t[1], t[2], t[3] = "x", "y", "z"  --> insert 1 x, insert 2 y, insert 3 z
]])
story("a set: edits by member", [[
  local s = obs.set_of { "a" }
  edits_of(s)
  s:add "b"
  s:add "a"                                         --> insert b b
  s:remove "a"                                      --> remove a a
  edits_of(obs.set_of { "a" }, { initial = true })  --> insert a a
]])
story("closing and opening holes reports each element that appears or vanishes", [[
  local t = { 1, name = "n" }
  edits_of(t)
  t[3] = 3      --> insert 3 3
  t[2] = 2      --> any
  eq(#t, 3)
  t[2] = nil    --> any
  t[3] = nil    --> any
  eq(#t, 1)
  t.name = "m"
  t.new = true  --> replace name n>m, insert new true
]])
story("inherited values are not members", [[
  local t = setmetatable({ 1 }, { __index = { price = 5 } })
  edits_of(t)
  t.price = 7
  t.price = nil  --> 0
  t.price = 8    --> insert price 8
]])
check("edits of table functions and of writes in a turn lead to the current elements", function()
  local t = { 5, 3, 1, 4, 2 }
  local mirror = table.move(t, 1, #t, 1, {})
  obs.observe_edits(t, function(_, edits)
    for _, edit in ipairs(edits) do
      if edit.kind == "insert" then
        table.insert(mirror, edit.at, edit.new)
      elseif edit.kind == "remove" then
        eq(table.remove(mirror, edit.at), edit.old)
      elseif edit.kind == "replace" then
        eq(mirror[edit.at], edit.old)
        mirror[edit.at] = edit.new
      else
        table.insert(mirror, edit.at, table.remove(mirror, edit.from))
      end
    end
  end)
  for _, change in ipairs {
    function() table.sort(t) end, function() table.move(t, 2, 5, 1) end,
    function() table.move(t, 1, 3, 4) end, function() table.move({ 7, 8, 9 }, 1, 3, 2, t) end,
    function() obs.assign(t, { 9, 7, 8, 1 }) end,
    function() obs.assign(t, { 7, 8, 1, 2, 3, 4, 5 }) end,
    function()
      table.insert(t, 3, 9)
      table.sort(t)
      t[2] = 7
      table.remove(t, 4)
      t[#t] = nil
    end,
    function() obs.clear(t) end, function() t[1], t[2] = 1, 2 end,
  } do
    change()
    obs.flush()
    eq(table.concat(mirror, " "), table.concat(t, " "))
  end
end)
story("it is an ordinary watcher", [[
  local a, observer = { 1 }, {}
  local function callback() end
  local w = obs.observe_edits(a, callback, { name = "list" })
  assert(obs.describe(a):find "list on")
  eq(obs.stop(a, { callback = callback }), 1)
  eq(w.active, false)
  w = edits_of(a)
  w:pause()
  table.insert(a, 2)
  table.insert(a, 3)  --> 0
  w:resume()          --> insert 2 2, insert 3 3
  w:stop()
  w = edits_of(a, { once = true })
  obs.observe_edits(a, function(...) note(select(3, ...) == observer) end, { observer = observer })
  a[1] = 5            --> replace 1 1>5, true
  eq(w.active, false)
]])
check("errors name the function and the caller", function()
  for _, case in ipairs {
    { "#2 to 'observe_edits' %(function", {}, 1 }, { "#1 to 'observe_edits'", 3, print },
    { "#3 to 'observe_edits'.*'once'", {}, print, { onec = true } },
  } do
    fails("Edits.lua:%d+: bad argument " .. case[1],
      function() obs.observe_edits(case[2], case[3], case[4]) end)
  end
end)

-- Journals ----------------------------------------------------------------------------------------

check("operators follow single writes, list operations and whole replacements", function()
  local t, calls = { 1, 2, 3 }, 0
  obs.observe(t, "@sum", function() calls = calls + 1 end)
  local function sum(expected)
    eq(obs.get(t, "@sum"), expected)
    obs.flush()
    eq(obs.get(t, "@sum"), expected)
  end
  table.insert(t, 1, 10)
  sum(16)
  t[2] = 1.5
  sum(16.5)
  t[2] = 1
  sum(16)
  t[2] = 1.0
  sum(16.0)
  t[2] = 1
  eq(math.type(obs.get(t, "@sum")), "integer")
  table.sort(t, function(a, b) return a > b end)
  sum(16)
  table.move({ 4, 5, 6, 7, 8, 9 }, 1, 6, 1, t)
  sum(39)
  pcall(table.sort, t, function(a, b)
    t[6] = 100
    return a < b
  end)
  local expected = 0
  for _, value in ipairs(t) do expected = expected + value end
  sum(expected)
  for i = #t, 1, -1 do t[i] = nil end
  sum(0)
end)
story("obs.trigger makes readers compare again", [[
  local item = { price = 1 }
  local t = { item }
  watch(t, "*")
  watch(t, "*.price")
  obs.trigger(t, 1)  --> *, *.price
  item.price = 2     --> *.price
]])
turns("removed objects are kept only until all readers have passed them", function()
  local weak = setmetatable({}, { __mode = "k" })
  local function collect()
    turn()
    collectgarbage()
    collectgarbage()
    eq(next(weak), nil)
  end
  local t = {}
  obs.observe_edits(t, nothing)
  for i = 1, 100 do
    local item = {}
    weak[item] = true
    table.insert(t, item)
  end
  turn()
  for i = 1, 100 do table.remove(t) end
  collect()
  do
    local ring = {}
    weak[ring] = true
    obs.observe_edits(ring, nothing)
    ring[1], ring[2] = ring, ring
    ring[1] = 1
  end
  collect()
end)
turns("a paused reader of many writes costs no memory without bound", function()
  local t, last = {}, 0
  local w = obs.observe_edits(t, function(_, edits) last = #edits end)
  turn()
  w:pause()
  collectgarbage()
  collectgarbage()
  local before = collectgarbage "count"
  for round = 1, 40 do
    for i = 1, 250 do
      table.insert(t, 1, {})
      table.remove(t, 1)
    end
    table.insert(t, round)
    turn()
  end
  collectgarbage()
  collectgarbage()
  assert(collectgarbage "count" - before < 700, collectgarbage "count" - before)
  w:resume()
  turn()
  eq(last, 40)
end)

finish()
