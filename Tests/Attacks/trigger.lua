local obs = require "obs"
local function nop() end

local t = { v = 1 }
obs.observe(t, "v", nop)
while true do obs.trigger(t, "v") end
