-- Code that runs during the rollback of a transaction. The limit of time stops each attack.
local obs = require "obs"

--- transaction-getter
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
--- transaction-length
-- The rollback of a transaction asks a list for its length.
local armed = false
local t = setmetatable({ 1, 2, 3 }, { __len = function()
  while armed do string.find(("a"):rep(1e6), ".-.-.-b") end
  return 3
end })
obs.transaction({ t }, function()
  table.remove(t)
  armed = true
  error "fails"
end)
while true do end
--- transaction-newindex
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
--- transaction-undo
-- The rollback of a transaction calls a watcher. Unlike the rollback, it can be stopped.
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
--- transaction-wide
-- The time for recording the writes of a transaction belongs to the script.
local t = {}
obs.transaction({ t }, function() for i = 1, math.huge do t[i] = { i } end end)
