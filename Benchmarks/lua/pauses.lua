-- The longest single step of the collector while many objects are alive: plain tables, plain ones
-- with a finalizer, and observed ones.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"
local obs = require "obs"

local COUNT = 1000000
local clock = os.clock
local function nothing() end

--- The longest of the steps that two full cycles take, in milliseconds: each of them does as little
--- at once as the collector can, and what it can't divide shows.
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
