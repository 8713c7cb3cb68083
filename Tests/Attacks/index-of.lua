local obs = require "obs"
local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local a = obs.array(big(1000000, self))
while true do a:index_of(-1) end
