-- Deep changes: `**` over 10,000 objects, compared with watchers on one key; collected and applied
-- changes, compared with a deep copy and a deep comparison; and transactions.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"
local obs = require "obs"

local COUNT = 10000
local function nothing() end

local function tree(count)
  local root = { items = {} }
  for i = 1, count do root.items[i] = { hp = i, name = "n" .. i } end
  return root
end

--- The process's resident memory in bytes.
local function resident()
  local file = io.open "/proc/self/statm"
  if not file then return 0 end
  local pages = tonumber(file:read "a":match "^%d+ (%d+)")
  file:close()
  return pages * 4096
end

if arg[1] then
  local roots, kept = {}, {}
  for i = 1, 10 do roots[i] = tree(COUNT) end
  collectgarbage()
  collectgarbage()
  local before = resident()
  for _, root in ipairs(roots) do
    if arg[1] == "deep" then
      kept[#kept + 1] = obs.observe(root, "**", nothing)
    else
      for _, item in ipairs(root.items) do kept[#kept + 1] = obs.observe(item, "*", nothing) end
    end
  end
  collectgarbage()
  collectgarbage()
  print((resident() - before) / (10 * COUNT), kept and "")
  return
end

-- `**` ------------------------------------------------------------------------------------------

local calls = 0
local function count() calls = calls + 1 end

local singles, deep = tree(COUNT), tree(COUNT)
for i = 1, COUNT do obs.observe(singles.items[i], "hp", count) end
obs.observe(deep, "**", count)

local function write(items)
  local value = COUNT
  return function(n)
    for i = 1, n do
      value = value + 1
      items[i * 7 % COUNT + 1].hp = value
      obs.flush()
    end
    assert(calls >= n)
    calls = 0
  end
end
bench.row("deep: write and delivery, a watcher on one key", 20000, nil, write(singles.items))
bench.row("deep: write and delivery, ** over 10,000 objects", 20000,
  "2 * deep: write and delivery, a watcher on one key", write(deep.items))

local stars = tree(COUNT)
bench.row("deep: * on each object registered and ended, each", COUNT, nil, function(n)
  local watchers = {}
  for i = 1, n do watchers[i] = obs.observe(stars.items[i], "*", nothing) end
  for i = 1, n do watchers[i]:stop() end
  obs.flush()
end)
local below = tree(COUNT)
bench.row("deep: ** registered and ended, each object", COUNT,
  "2 * deep: * on each object registered and ended, each", function()
    obs.observe(below, "**", nothing):stop()
    obs.flush()
  end)
bench.run()

-- Memory is measured in separate processes, as memory freed above would be reused.
local function memory_of(kind, name, limit)
  local process = io.popen(("'%s' '%s' %s"):format(arg[-1], arg[0], kind))
  bench.print(name, tonumber(process:read "a"), "bytes", limit)
  process:close()
end
memory_of("stars", "deep: memory of a table with a watcher of *")
memory_of("deep", "deep: memory of a table below **",
  "1 * deep: memory of a table with a watcher of *")

-- Changes ---------------------------------------------------------------------------------------

local function copy(value)
  if type(value) ~= "table" then return value end
  local copied = {}
  for key, inner in next, value do copied[key] = copy(inner) end
  return copied
end

local function compare(a, b)
  for key, value in next, a do
    if type(value) == "table" then
      if not compare(value, b[key]) then return false end
    elseif value ~= b[key] then
      return false
    end
  end
  return true
end

local plain = tree(COUNT)

--- A tree whose changes are collected, and a function that writes 1,000 of its values.
local function collected()
  local source, generation, changes = tree(COUNT), 0, nil
  obs.changes(source, function(_, found) changes = found end)
  return function()
    generation = generation + 1
    for i = 1, 1000 do source.items[i * 7 % COUNT + 1].hp = -i - 1000 * generation end
    obs.flush()
    assert(#changes == 1000)
    return changes
  end
end
local collect = collected()
local collect_for_target = collected()
local target = tree(COUNT)
bench.row("changes: a deep copy and a deep comparison", 1, nil, function()
  local copied = copy(plain)
  assert(compare(copied, plain))
end, "ms")
bench.row("changes: a turn with 1,000 collected", 1, nil, collect, "ms")
bench.row("changes: a turn with 1,000 collected and applied", 1,
  "2 * changes: a deep copy and a deep comparison", function()
    assert(obs.apply(target, collect_for_target()) == 0)
  end, "ms")

-- Replaces an element of a list of 30 in each turn, next to `count` other objects.
local function replacing(count)
  local root, taken = { list = {}, others = tree(count) }, 0
  for i = 1, 30 do root.list[i] = { n = i } end
  obs.changes(root, function(_, found) taken = taken + #found end)
  return function(n)
    taken = 0
    for i = 1, n do
      root.list[i % 30 + 1] = { n = i }
      obs.flush()
    end
    assert(taken == n)
  end
end
bench.row("changes: an element replaced in a turn, 100 other objects", 500, nil,
  replacing(100), "µs")
bench.row("changes: an element replaced in a turn, 10,000 other objects", 500,
  "1.5 * changes: an element replaced in a turn, 100 other objects", replacing(COUNT), "µs")
bench.run()

-- Transactions ----------------------------------------------------------------------------------

local small, large = tree(10), tree(COUNT)
obs.observe(small, "items.*.hp", nothing)
bench.row("transactions: opened and left, 10 objects", 100, nil, function(n)
  for _ = 1, n do obs.transaction({ small }, nothing) end
end, "µs")
bench.row("transactions: opened and left, 10,000 objects", 1, nil, function()
  obs.transaction({ large }, nothing)
end, "ms")
local watched_small, watched_large = tree(10), tree(COUNT)
obs.observe(watched_small, "**", nothing)
obs.observe(watched_large, "**", nothing)
bench.row("transactions: opened and left below **, 10 objects", 500, nil, function(n)
  for _ = 1, n do obs.transaction({ watched_small }, nothing) end
end, "µs")
bench.row("transactions: opened and left below **, 10,000 objects", 500,
  "2 * transactions: opened and left below **, 10 objects", function(n)
    for _ = 1, n do obs.transaction({ watched_large }, nothing) end
  end, "µs")
bench.run()

local function writes(n)
  local items = small.items
  for i = 1, n do items[i % 10 + 1].hp = i end
end
local function inside(n)
  local start
  obs.transaction({ small }, function()
    start = os.clock()
    writes(n)
    start = os.clock() - start
  end)
  return start
end
-- Only the writes are timed, not the opening of the transaction.
local samples, outside = {}, {}
for round = 1, 9 do
  local start = os.clock()
  writes(100000)
  outside[round] = (os.clock() - start) / 100000 * 1e9
  obs.flush()
  samples[round] = inside(100000) / 100000 * 1e9
  obs.flush()
end
table.sort(outside)
table.sort(samples)
bench.print("transactions: write of an observed key outside of one", outside[5], "ns")
bench.print("transactions: write of an observed key inside of one", samples[5], "ns",
  "3 * transactions: write of an observed key outside of one")
