local obs = require "obs"
local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

while true do obs.set_of(big(100000, self)) end
