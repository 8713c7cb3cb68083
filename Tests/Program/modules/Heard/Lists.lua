-- M1: each raw write to a list is reported as the fewest edits (C10).
local obs, raw, check = require "obs", require "rawaccess", require "check"

local function describe(edit)
  local parts = { edit.kind, edit.at }
  if edit.kind == "move" then parts = { "move", edit.from, edit.at } end
  return table.concat(parts, " ")
end

local function edits_of(list)
  local log = {}
  obs.observe_edits(list, function(_, edits)
    for i, edit in ipairs(edits) do log[#log + 1] = describe(edit) end
  end)
  return log
end

for _, kind in ipairs { "plain", "array" } do
  local list = { "a", "b", "c" }
  if kind == "array" then list = obs.array(list) end
  local log = edits_of(list)
  local function heard(...)
    obs.flush()
    local found = table.move(log, 1, #log, 1, {})
    for i = #log, 1, -1 do log[i] = nil end
    check.equal(found, { ... }, kind)
  end

  raw.push_front(list, "new")
  heard("insert 1")
  raw.seti(list, 5, "d")
  raw.seti(list, 6, "e")
  heard("insert 5", "insert 6")
  raw.seti(list, 2, "A")
  heard("replace 2")
  raw.seti(list, 6, nil)
  heard("remove 6")
  raw.fill(list, "new", "b", "c", "d")
  heard("remove 2")
  raw.fill(list, "new", "b", "c", "d")
  heard()
  raw.fill(list)
  heard("remove 1", "remove 1", "remove 1", "remove 1")
  raw.fill(list, 1, 2)
  heard("insert 1", "insert 2")
  -- A script's edits come after earlier writes by C.
  raw.seti(list, 3, 3)
  table.insert(list, 1, 0)
  heard("insert 3", "insert 1")
  raw.seti(list, 1, "zero")
  table.sort(list, function(a, b) return tostring(a) < tostring(b) end)
  check.equal(list, { 1, 2, 3, "zero" }, kind)
  obs.flush()
  for i = #log, 1, -1 do log[i] = nil end

  -- An immediate watcher is called once for a list, with the first change.
  local calls = {}
  local watcher = obs.observe(list, "*", function(_, _, change)
    calls[#calls + 1] = string.format("%s:%s>%s", change.key, change.old, change.new)
  end, { immediate = true })
  raw.fill(list, 1, "b", "c", "d", "e")
  check.equal(calls, {}, kind)
  obs.flush()
  check.equal(calls, { "2:2>b" }, kind)
  watcher:stop()

  -- Slots and sums.
  local numbers = { 1, 2, 3 }
  if kind == "array" then numbers = obs.array(numbers) end
  local sums, slots = {}, {}
  obs.observe({ numbers = numbers }, "numbers.@sum", function() end)
  local holder = { numbers = numbers }
  obs.observe(holder, "numbers.@sum", function()
    sums[#sums + 1] = obs.get(holder, "numbers.@sum")
  end)
  obs.observe(numbers, "#2", function() slots[#slots + 1] = numbers[2] end)
  raw.fill(numbers, 10, 20, 30, 40)
  obs.flush()
  raw.push_front(numbers, 5)
  obs.flush()
  check.equal(sums, { 100, 105 }, kind)
  check.equal(slots, { 20, 10 }, kind)
end

-- Positions far apart, and keys of a table that is not a list.
local sparse = { 1, 2 }
local calls = 0
obs.observe(sparse, "*", function() calls = calls + 1 end)
raw.seti(sparse, 1 << 40, "far")
raw.seti(sparse, 2, "b")
obs.flush()
check.equal({ calls, sparse[1 << 40], sparse[2], #sparse }, { 1, "far", "b", 2 })
local function fill_hole(write)
  local holes = { 1 }
  local log = edits_of(holes)
  write(holes, 3, "c")
  obs.flush()
  write(holes, 2, "b")
  obs.flush()
  return log
end
check.equal(fill_hole(raw.seti), fill_hole(rawset), "a hole that is filled, as by a script")

-- Random: the edits turn the last state into the current one.
for seed = 1, tonumber(os.getenv("OBS_COUNT")) or 200 do
  math.randomseed(seed)
  local list, copy = {}, {}
  for i = 1, math.random(0, 6) do list[i] = math.random(9) end
  table.move(list, 1, #list, 1, copy)
  if seed % 2 == 0 then list = obs.array(list) end
  obs.observe_edits(list, function(_, edits)
    for _, edit in ipairs(edits) do
      if edit.kind == "insert" then table.insert(copy, edit.at, edit.new)
      elseif edit.kind == "remove" then table.remove(copy, edit.at)
      elseif edit.kind == "replace" then copy[edit.at] = edit.new
      else table.insert(copy, edit.at, table.remove(copy, edit.from)) end
    end
  end)
  for _ = 1, 30 do
    local kind, size = math.random(9), #list
    if kind == 1 then raw.seti(list, size + 1, math.random(9))
    elseif kind == 2 and size > 0 then raw.seti(list, size, nil)
    elseif kind == 3 and size > 0 then raw.seti(list, math.random(size), math.random(9))
    elseif kind == 4 then raw.push_front(list, math.random(9))
    elseif kind == 5 then raw.fill(list, math.random(9), math.random(9))
    elseif kind == 6 then table.insert(list, math.random(size + 1), math.random(9))
    elseif kind == 7 and size > 0 then table.remove(list, math.random(size))
    elseif kind == 8 and size > 0 then list[math.random(size)] = math.random(9)
    else obs.flush() end
  end
  obs.flush()
  check.equal(table.concat(copy, " "), table.concat(list, " "), "seed " .. seed)
end

check.done()
