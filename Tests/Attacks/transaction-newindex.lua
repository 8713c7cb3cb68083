local obs = require "obs"
-- The rollback of a transaction writes through a class that a script has changed.
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
