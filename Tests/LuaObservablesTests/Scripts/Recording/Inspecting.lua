-- V1, V2: the input of `obs.inspect`. The tests of the program start inspectors.
local obs = require "obs"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
dofile(folder .. "../Support/checking.lua")

check("bad input of inspect is an error that names it", function()
  for message, options in pairs {
    ["table of options expected, got number"] = 1,
    ["unknown option 'ports' %(did you mean 'port'%?%)"] = { ports = 1 },
    ["option 'port' takes a number from 0 to 65535"] = { port = 65536 },
    ["option 'write' takes a boolean, not a number"] = { write = 1 },
    ["option 'roots' takes a table of objects by name, not boolean"] = { roots = true },
    ["option 'roots' takes names as keys, not number"] = { roots = { {} } },
    ["option 'roots' takes objects, not string"] = { roots = { a = "b" } },
  } do
    fails(message, function() obs.inspect(options) end)
  end
  for _, port in ipairs { -1, 1.5, "80", 0 / 0, math.huge } do
    fails("option 'port' takes a number from 0 to 65535", function()
      obs.inspect { port = port }
    end)
  end
end)

check("V2: only a program with the library has inspectors", function()
  local ok, message = pcall(obs.inspect, { roots = { app = {} } })
  -- The command line has it.
  if ok then return message:stop() end
  assert(message:find("needs the library LuaInspector", 1, true), message)
end)
