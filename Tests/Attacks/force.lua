local obs = require "obs"

local t = {}
for i = 1, 5000 do obs.lazy(t, "k" .. i, { get = function() return i end }) end
while true do
  obs.force(t)
  obs.invalidate(t)
end
