-- Watchers that trigger each other without end.
local obs = require "obs"
expect(true)
local t = { a = 0 }
obs.observe(t, "a", function(t) t.a = t.a + 1 end)
t.a = 1
