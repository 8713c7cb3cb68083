local obs = require "obs"
obs.observe({}, "a", print)
