-- Reads a settings file again whenever it changes: obs-lua config.lua FILE
-- Without FILE it creates a file, and saves it as an editor would.
local obs = require "obs"
local obsio = require "obs.io"

local path = arg[1] or os.tmpname()
local settings = {}

-- Parses lines such as `port = 8080`.
local function parse(text)
  local found = {}
  for key, value in text:gmatch("(%w+)%s*=%s*([^\n]+)") do found[key] = tonumber(value) or value end
  return found
end

local function read()
  local file = io.open(path)
  if not file then return end  -- The file is being replaced: another change follows.
  -- Writes only settings that differ: watchers of other settings are not called.
  obs.merge(settings, parse(file:read("a")))
  file:close()
end

obs.observe(settings, "port", function() print("listening on port " .. settings.port) end)
obs.observe(settings, "level", function() print("log level " .. settings.level) end)

read()
local watching = obsio.watch(path, read)

if not arg[1] then
  local function write(text)
    local file <close> = assert(io.open(path .. ".new", "w"))
    file:write(text)
    file:close()
    assert(os.rename(path .. ".new", path))
  end
  obs.task(function()
    write("port = 8080\nlevel = info\n")
    obs.next_change(settings, "port")
    write("port = 8080\nlevel = debug\n")
    obs.next_change(settings, "level")
    watching:stop()
    os.remove(path)
  end)
end
