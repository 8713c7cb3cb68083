local obs = require "obs"
local function nop() end

for _ = 1, 900 do obs.after(1000, nop) end
while true do obs.after(1, nop):stop() end
