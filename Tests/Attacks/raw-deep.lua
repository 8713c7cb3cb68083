local obs = require "obs"

local t = {}
for _ = 1, 100000 do t = { t } end
while true do obs.raw(t) end
