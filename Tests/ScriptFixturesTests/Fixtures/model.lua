-- A model of the test.
local obs = require "obs"

obs.observe(counter, "count", function(counter) log("count", counter.count) end)
counter.count = 2
advance(0)
expect_log { "count 2" }
expect_equal(counter, { count = 2, step = 1 }, "a model and a table")
