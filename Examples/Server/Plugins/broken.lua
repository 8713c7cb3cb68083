-- Somebody was interrupted while typing.
local obs = require "obs"
obs.observe(greenhouse, "humidity" function() print "damp" end)
