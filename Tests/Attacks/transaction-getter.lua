local obs = require "obs"
-- The rollback of a transaction runs a getter in the middle of a path.
local t, calls = { v = 1 }, 0
obs.computed(t, "c", { "v" }, function()
  calls = calls + 1
  while calls > 2 do xpcall(function() while true do end end, function() while true do end end) end
  return { x = calls }
end)
obs.observe(t, "c.x", function() end, { immediate = true })
obs.transaction({ t }, function()
  t.v = 2
  error "fails"
end)
while true do end
