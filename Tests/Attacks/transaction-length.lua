local obs = require "obs"
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
