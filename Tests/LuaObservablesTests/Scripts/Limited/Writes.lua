-- X2 to X5: if memory runs out, `apply` and `merge` change all or nothing, a history keeps its
-- step, and `changes` later delivers the changes that it could not deliver.
--
--   obs-lua --max-memory=4M Writes.lua
--
-- Memory is filled up to a remainder, which is a little larger in each round.
local obs = require "obs"
local short_of_memory = dofile(arg[0]:match "^.*/" .. "Support/memory.lua")

local function tree(list)
  local made = { list = list, names = {}, set = obs.set_of(), sub = {} }
  for i = 1, 12 do
    list[i] = i
    made.names["k" .. i] = i
    made.set:add(i)
  end
  return made
end

local function shown(root)
  local parts = {}
  for i = 1, #root.list do parts[i] = tostring(root.list[i]) end
  local names = {}
  for name, value in pairs(root.names) do names[#names + 1] = name .. "=" .. value end
  for i = 1, 40 do if root.set:contains(i) then names[#names + 1] = "member " .. i end end
  table.sort(names)
  table.move(names, 1, #names, #parts + 1, parts)
  parts[#parts + 1] = tostring(root.sub.x and #root.sub.x)
  return table.concat(parts, " ")
end

local function changed(root)
  table.remove(root.list, 3)
  table.insert(root.list, 5, 77)
  root.list[7] = 99
  for i = 1, 6 do root.names["k" .. i], root.names["n" .. i] = -i, i end
  root.set:remove(2)
  root.set:add(30)
  root.sub.x = { 1, 2, 3 }
  return root
end

local failures = 0

-- Calls a function that changes the tree from `before` to `after`, or fails.
local function check(remainder, root, before, after, body, ...)
  local ok, result = short_of_memory(remainder, body, ...)
  if not ok then failures = failures + 1 end
  assert(ok or result == "not enough memory", result)
  assert(shown(root) == (ok and after or before), "a write was left half made")
  return ok
end

local function check_writes(make_list, remainder)
  local before, after = tree(make_list()), changed(tree(make_list()))
  local changes, data = obs.diff(before, after), changed(tree {})
  local root = tree(make_list())
  check(remainder, root, shown(before), shown(after), obs.apply, root, changes)
  root = tree(make_list())
  check(remainder, root, shown(before), shown(after), obs.apply, root, changes, { force = true })
  root = tree(make_list())
  check(remainder, root, shown(before), shown(after), obs.merge, root, data)
end

local function check_history(make_list, remainder)
  local root = tree(make_list())
  local before = shown(root)
  local history = obs.history(root)
  changed(root)
  local after = shown(root)
  if not check(remainder, root, after, before, history.undo, history) then
    assert(history:undo() and shown(root) == before, "a step was lost")
  end
  if not check(remainder, root, before, after, history.redo, history) then
    assert(history:redo() and shown(root) == after, "a step was lost")
  end
  history:stop()
end

local function check_changes(make_list, remainder)
  local root, mirror = tree(make_list()), tree(make_list())
  local told, count = { {}, {} }, 0
  local watcher = obs.changes(root, function(_, changes)
    count = count + 1
    told[count] = changes
  end)
  changed(root)
  short_of_memory(remainder, obs.flush)
  root.sub.y = 1
  obs.flush()
  for _, changes in ipairs(told) do obs.apply(mirror, changes) end
  assert(shown(mirror) == shown(root) and mirror.sub.y == 1, "changes were lost")
  watcher:stop()
end

-- The driver of `changes` fails like callbacks do.
obs.on_error(function(message) assert(message == "not enough memory", message) end)

local rounds = 0
for remainder = 2000, 42000, 1000 do
  for _, make_list in ipairs { function() return {} end, obs.array } do
    check_writes(make_list, remainder)
    check_history(make_list, remainder)
    check_changes(make_list, remainder)
    rounds = rounds + 5
  end
end
assert(failures > 0 and failures < rounds, "the remainders are too small or too large")
