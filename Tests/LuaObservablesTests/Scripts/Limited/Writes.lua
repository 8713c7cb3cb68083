-- X3, X4: `apply` and `merge` change all or nothing, wherever memory runs out.
--
--   obs-lua --max-memory=4M Writes.lua
--
-- Memory is filled up to a remainder, which is a little larger in each round.
local obs = require "obs"

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

local function fill_memory()
  local hog = {}
  local function fill(size)
    while true do hog[#hog + 1] = ("y"):rep(size) .. #hog end
  end
  for _, size in ipairs { 50000, 1000, 100, 30 } do pcall(fill, size) end
  return hog
end

local counts = { before = 0, after = 0, neither = 0 }
local function round(make_list, write, remainder)
  local root = tree(make_list())
  local before, after = shown(root), shown(changed(tree(make_list())))
  local changes = obs.diff(root, changed(tree(make_list())))
  local data = changed(tree {})
  local pad = ("x"):rep(remainder)
  local hog = fill_memory()
  pad = nil
  local ok, message = pcall(write, root, changes, data)
  hog = nil
  collectgarbage()
  local now = shown(root)
  local how = now == before and not ok and "before" or now == after and ok and "after" or "neither"
  counts[how] = counts[how] + 1
  assert(ok or message == "not enough memory", message)
end

for remainder = 5000, 30000, 500 do
  for _, make_list in ipairs { function() return {} end, obs.array } do
    round(make_list, function(root, changes) obs.apply(root, changes) end, remainder)
    round(make_list, function(root, _, data) obs.merge(root, data) end, remainder)
  end
end
assert(counts.before > 0 and counts.after > 0, "the remainders are too small or too large")
assert(counts.neither == 0, counts.neither .. " writes were left half made")
