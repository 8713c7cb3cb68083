local obs = require "obs"
local function nop() end

local t = {}
for i = 1, 9000 do obs.observe(t, "v" .. i, nop) end
while true do obs.observed_keys(t) end
