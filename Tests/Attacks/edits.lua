local obs = require "obs"
local function nop() end
local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local t = big(100000, self)
obs.observe_edits(t, nop)
while true do
  t[#t + 1] = 1
  table.sort(t)
  obs.flush()
end
