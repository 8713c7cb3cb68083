-- X2 and X3 for random programs: the changes of each turn transform a copy of the old state into
-- the new state, and back.
--
--   obs-lua RandomChanges.lua [first seed [count]]
local obs = require "obs"

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local programs = dofile(folder .. "../Support/programs.lua")
package.path = folder .. "Support/?.lua;" .. package.path
local worlds = require "worlds"

local function check(texts)
  local world = worlds.run(texts[1])
  local copy, delivered, calls = worlds.copy(world.root), nil, 0
  local watcher = obs.changes(world.root, function(_, changes)
    delivered, calls = changes, calls + 1
  end)
  local function verify()
    delivered = nil
    obs.flush()
    if not delivered then
      local wrong = worlds.difference(copy, world.root)
      if wrong then error("X2: nothing is delivered, but " .. wrong, 0) end
      return
    end
    if #delivered == 0 then error("X2: no net change is delivered", 0) end
    local before = worlds.copy(copy)
    obs.apply(copy, delivered)
    local wrong = worlds.difference(copy, world.root)
    if wrong then error("X3: apply(before, changes): " .. wrong, 0) end
    local back = worlds.copy(world.root)
    obs.apply(back, obs.invert(delivered))
    wrong = worlds.difference(back, before)
    if wrong then error("X3: apply(after, invert(changes)): " .. wrong, 0) end
  end
  local ok, message = pcall(function()
    for _, step in ipairs(texts[2]) do
      worlds.step(world, step)
      if step[3] % 3 == 0 then verify() end
    end
    verify()
  end)
  watcher:stop()
  return not ok and tostring(message) or nil
end

local first, last = programs.seeds(1000)
if arg and arg[1] then
  first = math.tointeger(tonumber(arg[1]))
  last = first + math.tointeger(tonumber(arg[2] or 1)) - 1
end
for seed = first, last do
  math.randomseed(seed)
  local random = math.random
  local texts = { worlds.program(random, random(25)), worlds.program(random, random(20)) }
  local message = check(texts)
  if message then
    texts, message = worlds.shrunk(texts, check)
    error(("seed %d: %s\n%s"):format(seed, message, worlds.text(texts)), 0)
  end
end
