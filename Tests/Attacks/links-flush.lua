local obs = require "obs"
local t = {}
for _ = 1, 2000 do obs.observe(t, "list.*.x", function() end) end
local big = {}
for i = 1, 20000 do big[i] = {} end
t.list = big
obs.flush()
while true do obs.flush() end
