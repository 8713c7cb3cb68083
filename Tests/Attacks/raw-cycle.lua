local obs = require "obs"

local t = {}
t.t = t
while true do obs.raw(t) end
