-- Reads a settings file again after it has changed. Only differences are written, so only watchers
-- of changed settings are called.

local obs = require "obs"

local name = os.tmpname()

local function write(text)
  local file <close> = assert(io.open(name, "w"))
  file:write(text)
end

local function read() return assert(loadfile(name, "t", {}))() end

write [[return {
  window = { width = 80, height = 25 },
  plugins = { { id = "spell" }, { id = "git" } },
}]]
local settings = read()
local window, git = settings.window, settings.plugins[2]

obs.observe(window, "width", function(w) print("new width: " .. w.width) end)
obs.observe(window, "height", function() print "never" end)
obs.observe(settings, "plugins.*", function(s)
  local ids = {}
  for i, plugin in ipairs(s.plugins) do ids[i] = plugin.id end
  print("plugins: " .. table.concat(ids, ", "))
end)

write [[return {
  window = { width = 100, height = 25 },
  plugins = { { id = "git", branch = "main" }, { id = "todo" } },
}]]
obs.merge(settings, read(), { key = "id" })
obs.flush()

print("the same objects:", settings.window == window, settings.plugins[1] == git, git.branch)
os.remove(name)
