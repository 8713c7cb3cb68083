local obs = require "obs"
-- What a transaction notes of each write is the script's time.
local t = {}
obs.transaction({ t }, function() for i = 1, math.huge do t[i] = { i } end end)
