local obs = require "obs"
-- The rollback of a transaction calls a watcher, which can be stopped unlike the rollback.
local t, calls = { v = 1 }, 0
obs.observe(t, "v", function()
  calls = calls + 1
  while calls > 1 do pcall(function() while true do end end) end
end, { immediate = true })
obs.transaction({ t }, function()
  t.v = 2
  error "fails"
end)
while true do end
