local obs = require "obs"
obs.task(function()
  obs.sleep(3)
  expect(false, "in a task")
  local x = nil + 1
end)
