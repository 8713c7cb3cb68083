local obs = require "obs"

local t = { v = 0 }
obs.observe(t, "v", function(t)
  for _ = 1, 1000 do t.v = t.v + 1 end
end)
obs.observe(t, "v", function(t) t.v = t.v + 1 end)
t.v = 1
while true do obs.flush() end
