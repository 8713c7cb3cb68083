-- Counts the changes. The count survives reloads of other plugins.
local obs = require "obs"

local changes = 0
obs.observe(greenhouse, { "temperature", "humidity", "window.isOpen" }, function(greenhouse)
  changes = changes + 1
  print(("change %d: %g degrees, humidity %g, window %s"):format(
    changes, greenhouse.temperature, greenhouse.humidity,
    greenhouse.window.isOpen and "open" or "shut"))
end)
