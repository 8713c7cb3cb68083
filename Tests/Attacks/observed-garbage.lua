local obs = require "obs"
local function nop() end

while true do for _ = 1, 1000 do obs.observe({ v = 1 }, "v", nop) end end
