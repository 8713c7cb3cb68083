local obs = require "obs"
local function nop() end

while true do
  obs.scope(function() for _ = 1, 100 do obs.observe({ v = 1 }, "v", nop) end end):stop()
end
