-- Wants all the memory that there is, as soon as it is damp.
local obs = require "obs"
obs.observe(greenhouse, "humidity", function()
  local drops = "drop"
  while true do drops = drops .. drops end
end)
