-- Wants a gigabyte at once, as soon as it is damp.
local obs = require "obs"
obs.observe(greenhouse, "humidity", function()
  local drops = ("drop"):rep(1 << 28)
end)
