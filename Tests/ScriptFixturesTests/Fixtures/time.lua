-- Virtual time.
local obs = require "obs"

local t = { n = 0 }
obs.observe(t, "n", function(t) log("n", t.n) end)

local ticks = obs.every(60, function() log("tick", obs.now()) end)
t.n = 1
advance(0)
expect_log({ "n 1" }, "the turn ends")

advance(150)
expect_log({ "tick 60.0", "tick 120.0" }, "in order")
expect_equal(obs.now(), 150)
ticks:stop()

obs.task(function()
  obs.sleep(86400)
  log("a day later", obs.now())
end)
advance(86399)
expect_log {}
advance(1)
expect_log { "a day later 86550.0" }

-- Time cannot pass in a callback.
obs.observe(t, "n", function() expect_error(function() advance(1) end, "in a callback") end)
t.n = 2
obs.flush()
obs.batch(function() expect_error(function() advance(1) end, "in a callback or a batch") end)
obs.after(1, function() expect_error(function() advance(1) end, "obs.sleep") end)
expect_error(function() advance(-1) end, "from 0 to 1e9 expected, got -1")
expect_error(function() advance(0 / 0) end, "from 0")
expect_error(function() os.exit() end, "end all tests")
