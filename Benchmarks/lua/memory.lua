-- The cost of observing in Lua's heap and in the process.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"
local obs = require "obs"

--- The process's resident memory in bytes.
local function resident()
  local file = io.open "/proc/self/statm"
  if not file then return 0 end
  local pages = tonumber(file:read "a":match "^%d+ (%d+)")
  file:close()
  return pages * 4096
end

local function settle()
  collectgarbage()
  collectgarbage()
end

local COUNT = 50000
local function nothing() end
local tables = {}
for i = 1, COUNT do tables[i] = { v = i } end
settle()
local before = resident()
local heap = collectgarbage "count"
for i = 1, COUNT do obs.observe(tables[i], "v", nothing) end
settle()
bench.print("memory: Lua heap of an observed table with a watcher",
  (collectgarbage "count" - heap) * 1024 / COUNT, "bytes")
bench.print("memory: both heaps of an observed table with a watcher",
  (resident() - before) / COUNT, "bytes", 1229)

for i = 1, COUNT do obs.stop(tables[i]) end
tables = nil
-- The first round makes the process as large as it needs to be.
local function come_and_go(rounds)
  local one = { v = 1 }
  for _ = 1, rounds do
    local watchers = {}
    for i = 1, 100000 do watchers[i] = obs.observe(one, "v", nothing) end
    for i = 1, 100000 do watchers[i]:stop() end
  end
end
obs.after(0, function()
  come_and_go(1)
  obs.after(0, function()
    settle()
    local start = resident()
    come_and_go(10)
    obs.after(0, function()
      settle()
      bench.print("memory: left after 1,000,000 watchers came and went",
        math.max(0, resident() - start) / 1e6, "bytes each", 8)
    end)
  end)
end)
