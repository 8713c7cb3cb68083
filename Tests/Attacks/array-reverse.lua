local obs = require "obs"
local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local a = obs.array(big(300000, self))
while true do a:reverse() end
