local obs = require "obs"

while true do obs.stats() end
