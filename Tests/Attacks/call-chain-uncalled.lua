-- Code that cannot be stopped also calls chains of metamethods that are tables.
local obs = require "obs"
local meta = {}
local chain = setmetatable({}, meta)
meta.__call = chain
local function deep(n) return n == 0 and 0 or 1 + deep(n - 1) end
while true do
  local t = setmetatable({}, { __newindex = chain, __len = chain })
  obs.observe(t, "a", function() deep(150000) chain() end, { immediate = true })
  pcall(obs.transaction, { t }, function() t.a = 1 rawset(t, "a", 2) obs.abort() end)
  pcall(table.sort, { 1, 2, 3 }, chain)
end
