-- Runs a file of the suite of Lua 5.4.4 beside the functions that safe hosts have in the place of
-- Lua's own.
for name, functions in pairs(ours) do
  for key, value in pairs(functions) do _G[name][key] = value end
end
-- What the machine and its locales are like is not looked at.
_port = true
dofile("suite/" .. arg[1] .. ".lua")
