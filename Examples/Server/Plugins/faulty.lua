-- Fails at each call.
local obs = require "obs"
obs.observe(greenhouse, "temperature", function(greenhouse)
  print("feels like " .. greenhouse.temprature)
end)
