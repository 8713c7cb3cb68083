-- Tries to overwrite the objects that all plugins share.
local obs = require "obs"
for _, try in ipairs {
  function() string.format = nil end,
  function() rawset(obs, "observe", nil) end,
  function() getmetatable("").__index = nil end,
  function() setmetatable(table, { __index = error }) end,
  function() os.execute "rm -r /" end,
} do
  local ok, message = pcall(try)
  print(ok, message)
end
