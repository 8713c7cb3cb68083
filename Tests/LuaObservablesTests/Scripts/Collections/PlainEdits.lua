-- C2, C10: plain writes to a plain list or map, as edits.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- Ends the turn and returns its edits as text.
local function follow(list)
  local told = {}
  obs.observe_edits(list, function(_, edits)
    for _, edit in ipairs(edits) do
      told[#told + 1] = ("%s %s %s %s"):format(edit.kind, edit.at, edit.old, edit.new)
    end
  end)
  return function()
    told = {}
    obs.flush()
    return table.concat(told, ", ")
  end
end

check("assigning behind the end inserts, nil at the end removes, in between replaces", function()
  local list = {1, 2}
  local edits = follow(list)
  list[#list + 1] = 3
  eq(edits(), "insert 3 nil 3")
  list[2] = 5
  eq(edits(), "replace 2 2 5")
  list[#list] = nil
  eq(edits(), "remove 3 3 nil")
  rawset(list, 3, 7)
  eq(edits(), "insert 3 nil 7")
  rawset(list, 1, 8)
  eq(edits(), "replace 1 1 8")
end)
check("table.insert and table.remove are one edit", function()
  local list = {1, 2, 3}
  local edits = follow(list)
  table.insert(list, 1, 0)
  eq(edits(), "insert 1 nil 0")
  table.insert(list, 4)
  eq(edits(), "insert 5 nil 4")
  table.remove(list, 2)
  eq(edits(), "remove 2 1 nil")
  table.remove(list)
  eq(edits(), "remove 4 4 nil")
end)
check("a list that begins empty, and one that is emptied", function()
  local list = {}
  local edits = follow(list)
  list[1] = "a"
  list[2] = "b"
  eq(edits(), "insert 1 nil a, insert 2 nil b")
  list[2] = nil
  list[1] = nil
  eq(edits(), "remove 2 b nil, remove 1 a nil")
  list[1] = "c"
  eq(edits(), "insert 1 nil c")
end)
check("a swap by two assignments is two edits", function()
  local list = {1, 2, 3}
  local edits = follow(list)
  list[1], list[3] = list[3], list[1]
  local text = edits()
  assert(select(2, text:gsub("replace", "")) == 2, text)
end)
check("other keys are reported by key", function()
  local map = {a = 1, b = 2}
  local edits = follow(map)
  map.c = 3
  eq(edits(), "insert c nil 3")
  map.a = 5
  eq(edits(), "replace a 1 5")
  map.b = nil
  eq(edits(), "remove b 2 nil")
  map.x = 1
  map.x = nil
  map.a = 1
  map.a = 5
  eq(edits(), "")
end)
check("edits of sort, move, clear and assign lead to the current elements", function()
  local list = {5, 3, 1, 4, 2}
  local mirror = table.move(list, 1, #list, 1, {})
  obs.observe_edits(list, function(_, edits)
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
  local function same()
    obs.flush()
    eq(table.concat(mirror, " "), table.concat(list, " "))
  end
  table.sort(list)
  same()
  table.move(list, 2, 5, 1)
  same()
  table.move(list, 1, 3, 4)
  same()
  table.move({7, 8, 9}, 1, 3, 2, list)
  same()
  obs.assign(list, {9, 7, 8, 1})
  same()
  obs.assign(list, {7, 8, 1, 2, 3, 4, 5})
  same()
  obs.clear(list)
  same()
  list[1], list[2] = 1, 2
  same()
end)
finish()
