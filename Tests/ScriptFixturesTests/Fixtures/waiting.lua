-- A Swift function that answers from another thread, in real time.
local obs = require "obs"

obs.task(function()
  expect_equal(fetch(3), "answer 3")
  expect_error(function() fetch(0) end, "there is nothing")
end)
