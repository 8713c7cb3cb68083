-- A script with a syntax error, as if saved while typing.
local obs = require "obs"
obs.observe(greenhouse, "humidity" function() print "damp" end)
