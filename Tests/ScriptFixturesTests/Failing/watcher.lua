local obs = require "obs"
local t = {}
obs.observe(t, "a", function(t)
  expect_equal(t.a, 2, "in a watcher")
  error("no tea")
end)
t.a = 1
