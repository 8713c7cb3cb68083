-- C10: edits transform the last delivered state into the current one.

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

-- Makes each edit an entry of the log: "insert 2", "move 3 from 1". At each call, checks that the
-- edits lead to the current elements. Returns the watcher.
function follow(A, list)
  local mirror = elements(A, list)
  return A.edits(list, function(collection, edits)
    assert(collection == list)
    assert(#edits > 0, "called without edits")
    apply(edits, mirror)
    assert(#mirror == A.size(list), "another number of elements")
    for i = 1, #mirror do assert(mirror[i] == A.get(list, i), "element " .. i .. " differs") end
    for _, edit in ipairs(edits) do
      note(edit.kind .. " " .. edit.at .. (edit.from and " from " .. edit.from or ""))
    end
  end)
end

return {
  {"C10", "reports an insertion, a removal and a replacement as one edit each", [[
    local list = t.list "a b c"
    follow(A, list)
    A.insert(list, 2, A.new {name = "x"})   --> insert 2
    A.remove(list, 1)                       --> remove 1
    A.replace(list, 3, A.new {name = "y"})  --> replace 3
    A.append(list, A.new {name = "z"})      --> insert 4
    A.remove(list)                          --> remove 4
                                            --> 0
  ]]},
  {"C10", "reports the old and new value of each edit", [[
    local list, objects = t.list "a b"
    A.edits(list, function(_, edits)
      note(edits[1].old and edits[1].old.name, edits[1].new and edits[1].new.name)
    end)
    A.replace(list, 1, A.new {name = "x"})  --> a x
    A.remove(list, 1)                       --> x nil
    A.insert(list, 1, objects[1])           --> nil a
  ]]},
  {"C10", "reports a move as one edit", [[
    local list = t.list "a b c d"
    follow(A, list)
    A.move(list, 1, 4)  --> move 4 from 1
    A.move(list, 4, 2)  --> move 2 from 4
  ]], only = "is_typed"},
  {"C10", "reports a swap as two edits, appending and clearing as one per element", [[
    local list = t.list "a b c d"
    follow(A, list)
    A.swap(list, 1, 4)                                      --> 2
    A.append(list, A.new {name = "x"}, A.new {name = "y"})  --> insert 5, insert 6
    A.clear(list)  --> 6
  ]]},
  {"C10", "reports no more than a shortest script for sort, reverse and `set`", [[
    local list, objects = t.list "b c d e a"
    follow(A, list)
    A.sort(list, t.by_name)  --> 2
    A.reverse(list)          --> 4
    A.set(list, {objects[4], objects[3], objects[2], objects[1], objects[5]})  --> 0
    A.set(list, {objects[4], objects[2], objects[1], objects[5]})  --> remove 2
    A.set(list, {objects[4], A.new {name = "x"}, objects[1], objects[5], A.new {name = "y"}})
    --> replace 2, insert 5
  ]]},
  {"C10", "reports several operations of a turn in order", [[
    local list = t.list "a b c d e"
    follow(A, list)
    A.remove(list, 1)
    A.insert(list, 2, A.new {name = "x"})
    A.replace(list, 5, A.new {name = "y"})
    A.swap(list, 1, 3)
    A.append(list, A.new {name = "z"})  --> 5
    A.clear(list)
    A.append(list, A.new {name = "z"})  --> any
    t.eq(t.names(list), "z")
  ]]},
  {"C10", "calls no watcher if the turn ends as it began", [[
    local list, objects = t.list "a b c"
    follow(A, list)
    A.append(list, A.new {name = "x"})
    A.remove(list)                        --> 0
    A.reverse(list)
    A.reverse(list)                       --> 0
    A.clear(list)
    A.set(list, objects)                  --> 0
    A.replace(list, 1, A.new {name = "y"})
    A.replace(list, 1, objects[1])        --> 0
    A.insert(list, 1, A.remove(list, 1))  --> 0
    objects[1].name = "z"                 --> 0
  ]]},
  {"C10", "reports everything that a paused watcher missed as one script", [[
    local list, objects = t.list "a b c"
    local watcher = follow(A, list)
    watcher:pause()
    A.remove(list, 1)                      --> 0
    A.append(list, objects[1])             --> 0
    A.insert(list, 1, A.new {name = "x"})  --> 0
    watcher:resume()                       --> any
    A.remove(list)                         --> remove 4
  ]]},
  {"C10", "reports to each watcher from its last state", [[
    local list = t.list "a b"
    local early = follow(A, list)
    A.append(list, A.new {name = "c"})  --> insert 3
    early:pause()
    A.append(list, A.new {name = "d"})
    follow(A, list)                     --> 0
    A.remove(list, 1)                   --> remove 1
    early:resume()                      --> insert 4, remove 1
  ]]},
  {"T4", "reports a watcher's own edits in the next turn", [[
    local list = t.list "a"
    follow(A, list)
    A.edits(list, function(_, edits)
      note("own", edits[1].at)
      if A.size(list) < 3 then A.append(list, A.new {name = "x"}) end
    end)
    A.append(list, A.new {name = "b"})  --> insert 2, own 2
                                        --> insert 3, own 3
                                        --> 0
  ]]},
  {"T7", "ends with its watcher", [[
    local list = t.list "a"
    local watcher = follow(A, list)
    A.append(list, A.new {name = "b"})
    watcher:stop()  --> 0
    t.eq(watcher.active, false)
    A.edits(list, function() note "other" end)
    A.remove(list)  --> other
  ]]},
  {"C10", "reports large changes of large lists", [[
    local numbers = {}
    for i = 1, 2000 do numbers[i] = i end
    local list = A.list(numbers)
    follow(A, list)
    A.reverse(list)                          --> any
    for i = 1, 500 do A.remove(list, i) end  --> any
    A.set(list, numbers)                     --> any
    A.clear(list)                            --> 2000
    t.eq(A.size(list), 0)
  ]]},
}
