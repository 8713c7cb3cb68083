-- C10: edits transform the last delivered state into the current one.
local obs = require "obs"

-- The elements of a list, as a plain list.
local function elements(A, list)
  local copy = {}
  for i = 1, A.size(list) do copy[i] = A.get(list, i) end
  return copy
end

local function apply(edits, mirror)
  for _, edit in ipairs(edits) do
    if edit.kind == "insert" then
      table.insert(mirror, edit.at, edit.new)
    elseif edit.kind == "remove" then
      assert(mirror[edit.at] == edit.old, "another element was removed")
      table.remove(mirror, edit.at)
    elseif edit.kind == "replace" then
      assert(mirror[edit.at] == edit.old, "another element was replaced")
      mirror[edit.at] = edit.new
    else
      assert(edit.kind == "move", edit.kind)
      table.insert(mirror, edit.at, table.remove(mirror, edit.from))
    end
  end
end

local function text(edits)
  local words = {}
  for i, edit in ipairs(edits) do
    words[i] = table.concat({edit.kind, edit.from or edit.at, edit.from and edit.at or nil}, " ")
  end
  return table.concat(words, ", ")
end

-- Ends the turn and returns the edits as text, "" if there was no call. Checks that the edits lead
-- to the current elements.
local function follow(A, t, list)
  local mirror, told = elements(A, list), nil
  local calls = 0
  local watcher = A.edits(list, function(collection, edits)
    assert(collection == list)
    assert(#edits > 0, "called without edits")
    calls = calls + 1
    apply(edits, mirror)
    told = edits
  end)
  return function()
    calls, told = 0, {}
    obs.flush()
    assert(calls <= 1, "called twice")
    t.eq(#mirror, A.size(list))
    for i = 1, #mirror do assert(mirror[i] == A.get(list, i), "element " .. i .. " differs") end
    return text(told), told
  end, watcher
end

return {
  {"C10", "reports an insertion, a removal and a replacement as one edit each", function(A, t)
    local list = t.list "a b c"
    local edits = follow(A, t, list)
    A.insert(list, 2, A.new {name = "x"})
    t.eq(edits(), "insert 2")
    A.remove(list, 1)
    t.eq(edits(), "remove 1")
    A.replace(list, 3, A.new {name = "y"})
    t.eq(edits(), "replace 3")
    A.append(list, A.new {name = "z"})
    t.eq(edits(), "insert 4")
    A.remove(list)
    t.eq(edits(), "remove 4")
    t.eq(edits(), "")
  end},
  {"C10", "reports the old and new value of each edit", function(A, t)
    local list, objects = t.list "a b"
    local edits = follow(A, t, list)
    local x = A.new {name = "x"}
    A.replace(list, 1, x)
    local _, told = edits()
    t.eq(told[1].old, objects[1])
    t.eq(told[1].new, x)
    A.remove(list, 1)
    _, told = edits()
    t.eq(told[1].old, x)
    A.insert(list, 1, objects[1])
    _, told = edits()
    t.eq(told[1].new, objects[1])
    t.eq(told[1].old, nil)
  end},
  {"C10", "reports a move as one edit", function(A, t)
    local list = t.list "a b c d"
    local edits = follow(A, t, list)
    A.move(list, 1, 4)
    t.eq(edits(), "move 1 4")
    A.move(list, 4, 2)
    t.eq(edits(), "move 4 2")
  end, only = "is_typed"},
  {"C10", "reports a swap as two edits, appending and clearing as one per element", function(A, t)
    local list = t.list "a b c d"
    local edits = follow(A, t, list)
    A.swap(list, 1, 4)
    local _, told = edits()
    t.eq(#told, 2)
    A.append(list, A.new {name = "x"}, A.new {name = "y"})
    t.eq(edits(), "insert 5, insert 6")
    A.clear(list)
    _, told = edits()
    t.eq(#told, 6)
    for _, edit in ipairs(told) do t.eq(edit.kind, "remove") end
  end},
  {"C10", "reports no more than a shortest script for sort, reverse and `set`", function(A, t)
    local list, objects = t.list "b c d e a"
    local edits = follow(A, t, list)
    A.sort(list, t.by_name)
    local _, told = edits()
    t.eq(#told, 2)
    A.reverse(list)
    _, told = edits()
    t.eq(#told, 4)
    A.set(list, {objects[1], objects[2], objects[3], objects[4], objects[5]})
    _, told = edits()
    assert(#told <= 5)
    A.set(list, {objects[1], objects[3], objects[4], objects[5]})
    t.eq(edits(), "remove 2")
    A.set(list, {objects[1], A.new {name = "x"}, objects[4], objects[5], A.new {name = "y"}})
    t.eq(edits(), "replace 2, insert 5")
  end},
  {"C10", "reports several operations of a turn in order", function(A, t)
    local list = t.list "a b c d e"
    local edits = follow(A, t, list)
    A.remove(list, 1)
    A.insert(list, 2, A.new {name = "x"})
    A.replace(list, 5, A.new {name = "y"})
    A.swap(list, 1, 3)
    A.append(list, A.new {name = "z"})
    local _, told = edits()
    assert(#told <= 6, text(told))
    A.clear(list)
    A.append(list, A.new {name = "z"})
    edits()
    t.eq(t.names(list), "z")
  end},
  {"C10", "calls no watcher if the turn ends as it began", function(A, t)
    local list, objects = t.list "a b c"
    local edits = follow(A, t, list)
    A.append(list, A.new {name = "x"})
    A.remove(list)
    t.eq(edits(), "")
    A.reverse(list)
    A.reverse(list)
    t.eq(edits(), "")
    A.clear(list)
    A.set(list, objects)
    t.eq(edits(), "")
    A.replace(list, 1, A.new {name = "y"})
    A.replace(list, 1, objects[1])
    t.eq(edits(), "")
    A.insert(list, 1, A.remove(list, 1))
    t.eq(edits(), "")
    objects[1].name = "z"
    t.eq(edits(), "")
  end},
  {"C10", "reports everything that a paused watcher missed as one script", function(A, t)
    local list, objects = t.list "a b c"
    local edits, watcher = follow(A, t, list)
    watcher:pause()
    A.remove(list, 1)
    obs.flush()
    A.append(list, objects[1])
    obs.flush()
    A.insert(list, 1, A.new {name = "x"})
    obs.flush()
    watcher:resume()
    assert(edits() ~= "")
    A.remove(list)
    t.eq(edits(), "remove 4")
  end},
  {"C10", "reports to each watcher from its last state", function(A, t)
    local list = t.list "a b"
    local early, watcher = follow(A, t, list)
    A.append(list, A.new {name = "c"})
    t.eq(early(), "insert 3")
    watcher:pause()
    A.append(list, A.new {name = "d"})
    local late = follow(A, t, list)
    t.eq(select(2, late())[1], nil)
    A.remove(list, 1)
    t.eq(late(), "remove 1")
    watcher:resume()
    t.eq(#select(2, early()), 2)
  end},
  {"T4", "reports a watcher's own edits in the next turn", function(A, t)
    local list, log = t.list "a", {}
    A.edits(list, function(_, edits)
      log[#log + 1] = text(edits)
      if A.size(list) < 4 then A.append(list, A.new {name = "x"}) end
    end)
    A.append(list, A.new {name = "b"})
    for _ = 1, 5 do obs.flush() end
    t.eq(table.concat(log, "; "), "insert 2; insert 3; insert 4")
  end},
  {"T7", "ends with its watcher", function(A, t)
    local list = t.list "a"
    local edits, watcher = follow(A, t, list)
    A.append(list, A.new {name = "b"})
    watcher:stop()
    t.eq(watcher.active, false)
    local calls = 0
    A.edits(list, function() calls = calls + 1 end)
    A.remove(list)
    obs.flush()
    t.eq(calls, 1)
  end},
  {"C10", "reports large changes of large lists", function(A, t)
    local numbers = {}
    for i = 1, 2000 do numbers[i] = i end
    local list = A.list(numbers)
    local edits = follow(A, t, list)
    A.reverse(list)
    edits()
    for i = 1, 500 do A.remove(list, i) end
    edits()
    A.set(list, numbers)
    edits()
    A.clear(list)
    edits()
    t.eq(A.size(list), 0)
  end},
}
