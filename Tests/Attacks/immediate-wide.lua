local obs = require "obs"
local function nop() end

local t = { v = 0 }
for _ = 1, 9000 do obs.observe(t, "v", nop, { immediate = true }) end
while true do t.v = t.v + 1 end
