-- X2 and X3 for random programs: copies in a row apply each other's changes, and are equal after
-- each turn that writes one of them. In other turns an origin writes before or between the other
-- writes, and a watcher that skips this origin delivers the rest.
--
--   obs-lua RandomMirror.lua [first seed [count]]
local obs = require "obs"

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local programs = dofile(folder .. "../Support/programs.lua")
package.path = folder .. "Support/?.lua;" .. package.path
local worlds = require "worlds"

-- The objects below a root as a world, in an order that is the same for equal trees.
local function world_of(root)
  local objects = {}
  for object, place in pairs(worlds.places(root)) do objects[place] = object end
  return { root = root, objects = objects }
end

-- Objects that are members of sets exist in one copy only.
local function without_members(step)
  local number = step[3]
  if number % 16 == 15 then number = number - 1 end
  return { step[1], step[2], number }
end

-- Performs a step, and undoes it if the number says so.
local function write(root, step)
  local fails = step[2] % 11 == 0
  obs.transaction({ root }, function()
    worlds.step(world_of(root), without_members(step))
    if fails then error "taken back" end
  end)
end

-- Applies changes with an origin; with `is_tried`, applies and undoes them once before.
local function apply(to, changes, origin, is_tried)
  if is_tried then
    obs.transaction({ to }, function()
      obs.apply(to, changes, { origin = origin })
      obs.abort()
    end)
  end
  obs.apply(to, changes, { origin = origin })
end

local function check_equal(a, b, what)
  local wrong = worlds.difference(a, b)
  if wrong then error(what .. ": " .. wrong, 0) end
end

-- Connects copies in a row and returns the watchers.
local function connect(copies)
  local watchers, deliveries = {}, 0
  for from = 1, #copies do
    for to = from - 1, from + 1, 2 do
      watchers[#watchers + 1] = copies[to] and obs.changes(copies[from],
        function(_, changes, _, delivery)
          deliveries = deliveries + 1
          for _, origin in ipairs(delivery.origins) do
            if origin == to then error("X2: the origin that is skipped is listed", 0) end
          end
          apply(copies[to], changes, from, deliveries % 3 == 0)
        end, { skip = to })
    end
  end
  return watchers
end

-- The changes that the steps make, in a form that applies to the tree.
local function changes_of(root, steps)
  local copy, found = worlds.copy(root), {}
  local watcher = obs.changes(copy, function(_, changes) found = changes end)
  for _, step in ipairs(steps) do worlds.step(world_of(copy), without_members(step)) end
  watcher:run()
  watcher:stop()
  return found
end

-- A turn in which an origin writes first and others afterwards: the rest is what `x` does not have.
local function check_rest(root, steps)
  local receiver = worlds.copy(root)
  local rest = {}
  local watcher = obs.changes(root, function(_, changes) rest = changes end, { skip = "x" })
  local half = #steps // 2
  local changes = changes_of(root, { table.unpack(steps, 1, half) })
  obs.apply(receiver, changes)
  apply(root, changes, "x", #steps % 3 == 0)
  check_equal(worlds.plain(root), watcher:snapshot(), "X2: snapshot")
  for i = half + 1, #steps do write(root, steps[i]) end
  watcher:run()
  obs.apply(receiver, rest)
  check_equal(receiver, root, "X2: the rest")
  -- Both write in alternation.
  for i = 1, #steps do
    if i % 2 == 0 then
      write(root, steps[i])
    else
      apply(root, changes_of(root, { steps[i] }), "x", i % 3 == 0)
    end
  end
  watcher:run()
  check_equal(worlds.plain(root), watcher:snapshot(), "X2: snapshot after a turn of both")
  watcher:stop()
end

local function check(texts)
  local first = worlds.run(texts[1])
  if worlds.has_object_members(first.root) then return nil end
  local copies = { first.root, (worlds.copy(first.root)), (worlds.copy(first.root)) }
  local watchers = connect(copies)
  local failure
  obs.on_error(function(message) failure = failure or message end)
  local ok, message = pcall(function()
    for i, step in ipairs(texts[2]) do
      write(copies[i // 3 % #copies + 1], step)
      if i % 3 == 2 or i == #texts[2] then
        repeat obs.flush() until failure or obs.stats().pending == 0
        if failure then error(failure, 0) end
        for k = 2, #copies do check_equal(copies[1], copies[k], "X2: copies 1 and " .. k) end
      end
    end
  end)
  for _, watcher in pairs(watchers) do watcher:stop() end
  if ok then ok, message = pcall(check_rest, copies[1], texts[3]) end
  obs.on_error(nil)
  return not ok and tostring(message) or nil
end

local function try(seed)
  math.randomseed(seed)
  local random = math.random
  local texts = { {} }
  for _, step in ipairs(worlds.program(random, random(25))) do
    table.insert(texts[1], without_members(step))
  end
  for i = 2, 3 do texts[i] = worlds.program(random, random(15)) end
  local message = check(texts)
  if message then
    texts, message = worlds.shrunk(texts, check)
    error(("seed %d: %s\n%s"):format(seed, message, worlds.text(texts)), 0)
  end
end

local first, last = programs.seeds(500)
if arg and arg[1] then
  first = math.tointeger(tonumber(arg[1]))
  last = first + math.tointeger(tonumber(arg[2] or 1)) - 1
end
for seed = first, last do try(seed) end
-- A list that was undone and written again.
if not arg or not arg[1] then try(60018864) end
