local obs = require "obs"
local function nop() end
local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local a, b = big(200000, self), {}
obs.observe(b, "*", nop)
while true do
  obs.assign(b, a)
  obs.clear(b)
end
