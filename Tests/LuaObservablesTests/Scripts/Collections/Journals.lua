-- C8, C9, C10: journals of tables, seen through operators and edits.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function told(t)
  local log = {}
  obs.observe_edits(t, function(_, edits)
    for _, e in ipairs(edits) do
      log[#log + 1] = ("%s %s%s:%s>%s"):format(
        e.kind, e.from and e.from .. "-" or "", tostring(e.at), tostring(e.old), tostring(e.new))
    end
  end)
  return function()
    log = {}
    obs.flush()
    return table.concat(log, " ")
  end
end

check("one operation is one edit", function()
  local t = { "a", "b", "c" }
  local edits = told(t)
  table.insert(t, 1, "x")
  eq(edits(), "insert 1:nil>x")
  table.remove(t, 2)
  eq(edits(), "remove 2:a>nil")
  t[1] = "y"
  eq(edits(), "replace 1:x>y")
  t[#t + 1] = "z"
  eq(edits(), "insert 4:nil>z")
  t[#t] = nil
  eq(edits(), "remove 4:z>nil")
  t[1] = "q"
  t[1] = "y"
  eq(edits(), "")
  table.sort(t)
  eq(edits(), "remove 1:y>nil insert 3:nil>y")
end)

check("closing and opening holes reports each element that appears or vanishes", function()
  local t = { 1 }
  local edits = told(t)
  t[3] = 3
  eq(edits(), "insert 3:nil>3")
  t[2] = 2
  obs.flush()
  eq(#t, 3)
  t[2] = nil
  obs.flush()
  t[3] = nil
  obs.flush()
  eq(#t, 1)
end)

check("other keys are reported separately", function()
  local t = { 1, name = "n" }
  local edits = told(t)
  t.name = "m"
  t.new = true
  eq(edits(), "replace name:n>m insert new:nil>true")
  t.name = nil
  t.name = "m"
  eq(edits(), "")
  t.name = nil
  eq(edits(), "remove name:m>nil")
end)

check("inherited values are not members", function()
  local t = setmetatable({ 1 }, { __index = { price = 5 } })
  local edits = told(t)
  t.price = 7
  t.price = nil
  eq(edits(), "")
  t.price = 8
  eq(edits(), "insert price:nil>8")
end)

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

check("obs.trigger makes readers compare again", function()
  local item = { price = 1 }
  local t, calls = { item }, 0
  obs.observe(t, "*", function() calls = calls + 1 end)
  obs.observe(t, "*.price", function() calls = calls + 10 end)
  obs.trigger(t, 1)
  obs.flush()
  eq(calls, 11)
  item.price = 2
  obs.flush()
  eq(calls, 21)
end)

turns("removed objects are kept only until all readers have passed them", function()
  local weak = setmetatable({}, { __mode = "k" })
  local t = {}
  local edits = told(t)
  for i = 1, 100 do
    local item = {}
    weak[item] = true
    table.insert(t, item)
  end
  turn()
  for i = 1, 100 do table.remove(t) end
  turn()
  collectgarbage()
  collectgarbage()
  eq(next(weak), nil)
  do
    local ring = {}
    weak[ring] = true
    told(ring)
    ring[1] = ring
    ring[2] = ring
    ring[1] = 1
  end
  turn()
  collectgarbage()
  collectgarbage()
  eq(next(weak), nil)
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
