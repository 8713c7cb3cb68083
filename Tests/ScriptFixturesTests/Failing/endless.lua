local obs = require "obs"
expect(true)
obs.every(1, function() end)
