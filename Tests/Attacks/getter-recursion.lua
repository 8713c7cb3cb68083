local obs = require "obs"

local t = {}
obs.computed(t, "a", function(t) return t.b end)
obs.computed(t, "b", function(t) return t.a end)
while true do pcall(function() return t.a end) end
