-- Settings in a file. Each is loaded on first read, and kept. While a setting is observed, the file
-- is checked regularly, and observed settings are loaded again after it has changed.

local obs = require "obs"

local path = os.tmpname()
obs.on_exit(function() os.remove(path) end)

local function write(text)
  local file <close> = assert(io.open(path, "w"))
  file:write(text)
end

local function read()
  local file <close> = assert(io.open(path))
  return file:read "a"
end

-- The settings -----------------------------------------------------------------------------------

local settings = {}

-- One loader serves all names. It receives the name to load, and stores the value itself.
obs.lazy(settings, { "zoom", "theme", "font" }, {
  loader = function(self, name)
    print("  loads " .. name)
    local text = read():match(name .. " = (%S+)")
    self[name] = math.tointeger(text) or text
  end,
})

-- Checks the file while settings are observed. After it has changed, all settings are invalid:
-- observed settings are loaded in the flush of that turn, other settings on the next read.
local function follow()
  local last = read()
  return obs.every(0.01, function()
    local text = read()
    if text == last then return end
    last = text
    print "  the file is another one"
    obs.invalidate(settings)
  end)
end

-- The hook is called when the first watcher of a name arrives, and when the last one leaves.
local observed, timer = 0, nil
obs.on_observed(settings, function(settings, name, is_observed)
  print("  " .. name .. (is_observed and " is observed" or " is observed no longer"))
  observed = observed + (is_observed and 1 or -1)
  if observed == 0 then
    timer:stop()
    timer = nil
  elseif not timer then
    timer = follow()
  end
  -- From now on, changes of this setting go unnoticed.
  if not is_observed then obs.invalidate(settings, name) end
end)

-- A story ----------------------------------------------------------------------------------------

write "zoom = 2\ntheme = dark\n"

obs.task(function()
  local function step(text) print("— " .. text) end

  step "a value is loaded when it is read, and kept"
  print(settings.zoom, settings.zoom)

  step "a missing setting is nil, which is a value, too"
  print(settings.font, obs.is_valid(settings, "font"))

  step "the file changes: without watchers it is not read until invalidated"
  write "zoom = 3\ntheme = dark\n"
  obs.sleep(0.05)
  print(settings.zoom)
  obs.invalidate(settings)
  print(settings.zoom)

  step "two watchers"
  local zoom = obs.observe(settings, "zoom", function() print("zoom", settings.zoom) end)
  local theme = obs.observe(settings, "theme", function() print("theme", settings.theme) end)

  step "the file changes: only observed settings are loaded, only changed ones delivered"
  write "zoom = 3\ntheme = light\nfont = Mono\n"
  obs.sleep(0.05)
  print("valid: " .. table.concat(obs.valid_names(settings), ", "))
  print("invalid: " .. table.concat(obs.invalid_names(settings), ", "))

  step "a setting is assigned: that holds until the file changes"
  settings.theme = "sepia"
  obs.sleep(0.05)
  write "zoom = 4\ntheme = dark\n"
  obs.sleep(0.05)

  step "the last watcher ends"
  zoom:stop()
  theme:stop()
  write "zoom = 5\ntheme = dark\n"
  obs.sleep(0.05)
  print(settings.zoom)
end)
