local obs = require "obs"
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local t = { l = big(100000, function(i) return { x = i } end) }
while true do obs.get(t, "l.@sum.x") end
