local obs = require "obs"
local function nop() end

local t = {}
obs.on_observed(t, nop)
while true do obs.observe(t, "v", nop):stop() end
