-- Opens the window when it is warm, and shuts it when it is cool or damp.
local obs = require "obs"

obs.observe(greenhouse, { "temperature", "humidity" }, function(greenhouse)
  if greenhouse.temperature > 25 then
    greenhouse.window:open()
  elseif greenhouse.temperature < 20 or greenhouse.humidity > 90 then
    greenhouse.window:close()
  end
end)
