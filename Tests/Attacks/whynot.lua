local obs = require "obs"
local function nop() end

obs.record(true)
local w = obs.observe({ v = 1 }, "v", nop)
while true do obs.whynot(w) end
