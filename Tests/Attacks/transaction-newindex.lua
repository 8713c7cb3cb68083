local obs = require "obs"
-- What a transaction writes back goes through a class that a script has changed.
local M = obs.model("M", { v = 1, w = obs.none })
local m = M {}
rawset(M, "__newindex", function()
  while true do coroutine.wrap(function() while true do end end)() end
end)
obs.transaction({ m }, function()
  rawset(m, "v", nil)
  error "fails"
end)
while true do end
