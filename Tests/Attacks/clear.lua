local obs = require "obs"
local function nop() end
local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

while true do
  local t = big(300000, self)
  obs.observe(t, "*", nop)
  obs.clear(t)
end
