local obs = require "obs"
local function nop() end
local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local t = big(500000, self)
obs.observe(t, "*", nop)
while true do table.insert(t, 1, 1) end
