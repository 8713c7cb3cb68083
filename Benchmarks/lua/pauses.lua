-- The longest single step of the collector with many live objects: plain tables, plain tables with
-- a finalizer, and observed tables.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"
local obs = require "obs"

local COUNT = 1000000
local clock = os.clock
local function nothing() end

--- Returns the longest step of two full cycles, in milliseconds. Each step is as small as the
--- collector allows, so the result shows the work that the collector cannot divide.
local function longest_step()
  collectgarbage()
  collectgarbage "stop"
  local longest = 0
  for _ = 1, 2 do
    repeat
      local start = clock()
      local is_over = collectgarbage("step", 0)
      longest = math.max(longest, clock() - start)
    until is_over
  end
  collectgarbage "restart"
  return longest * 1e3
end

local finalized = { __gc = nothing }
local kinds = {
  { "plain tables", function(i) return { v = i } end },
  { "with a finalizer", function(i) return setmetatable({ v = i }, finalized) end },
  { "observed", function(i)
    local t = { v = i }
    obs.observe(t, "v", nothing)
    return t
  end },
}
for _, kind in ipairs(kinds) do
  local name, make = kind[1], kind[2]
  local keep = {}
  for i = 1, COUNT do keep[i] = make(i) end
  bench.print("longest pause, 1,000,000 tables: " .. name, longest_step(), "ms")
  keep = nil
  collectgarbage()
end
