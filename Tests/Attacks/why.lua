local obs = require "obs"
local function nop() end

obs.record(true)
local t = { v = 1 }
local w = obs.observe(t, "v", nop)
while true do
  t.v = t.v + 1
  obs.flush()
  obs.why(w)
end
