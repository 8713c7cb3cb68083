local obs = require "obs"
local function nop() end

while true do obs.task(nop) end
