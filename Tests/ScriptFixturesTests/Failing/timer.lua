local obs = require "obs"
expect(true)
obs.after(5, function() error(nil) end)
obs.after(6, function() expect(false, "after the error") end)
