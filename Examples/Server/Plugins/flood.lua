-- Allocates a gigabyte at once when the humidity changes.
local obs = require "obs"
obs.observe(greenhouse, "humidity", function()
  local drops = ("drop"):rep(1 << 28)
end)
