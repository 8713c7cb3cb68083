local obs = require "obs"
-- The time for recording the writes of a transaction belongs to the script.
local t = {}
obs.transaction({ t }, function() for i = 1, math.huge do t[i] = { i } end end)
