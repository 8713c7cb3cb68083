local obs = require "obs"
local function nop() end

obs.log(nop)
local t = { v = 1 }
obs.observe(t, "v", nop)
while true do
  t.v = t.v + 1
  obs.flush()
end
