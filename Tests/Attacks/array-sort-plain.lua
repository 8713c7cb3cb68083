local obs = require "obs"
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local a = obs.array(big(200000, function(i) return i ~ 0x5555 end))
while true do a:sort() end
