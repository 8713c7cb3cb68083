-- S8 and X5 for random programs: a transaction that fails at a random step leaves everything below
-- its roots unchanged, and undo and redo pass through the states of all turns.
--
--   obs-lua RandomTransactions.lua [first seed [count]]
local obs = require "obs"

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local programs = dofile(folder .. "../Support/programs.lua")
package.path = folder .. "Support/?.lua;" .. package.path
local worlds = require "worlds"

local function expect(root, copy, what)
  local wrong = worlds.difference(root, copy)
  if wrong then error(what .. ": " .. wrong, 0) end
end

-- The contents of each object below a root, by identity.
local function identities(root)
  local found, work = { [root] = {} }, { root }
  for _, object in ipairs(work) do
    for key, value in next, object do
      found[object][key] = value
      if type(value) == "table" and not found[value] and worlds.kind(object) ~= "set" then
        found[value] = {}
        work[#work + 1] = value
      end
    end
  end
  return found
end

local function expect_identities(root, before, what)
  for object, entries in next, identities(root) do
    for key, value in next, entries do
      if not before[object] or before[object][key] ~= value then
        error(what .. ": another object is at " .. tostring(key), 0)
      end
    end
  end
end

-- Runs a program in a transaction that may fail, with another transaction in its middle.
local function transact(world, program, fails)
  return obs.transaction({ world.root }, function()
    for i, step in ipairs(program) do
      if i == #program // 2 + 1 then
        local copy, before = worlds.copy(world.root), identities(world.root)
        local ok = obs.transaction({ world.root }, function()
          for k = i, #program do worlds.step(world, program[k]) end
          if step[3] % 2 == 0 then error("inner", 0) end
        end)
        if not ok then
          expect(world.root, copy, "S8: an inner transaction that fails")
          expect_identities(world.root, before, "S8: an inner transaction that fails")
        end
      end
      worlds.step(world, step)
    end
    if fails then obs.abort("outer") end
  end)
end

local function check_transactions(texts)
  local world = worlds.run(texts[1])
  local changes, calls = 0, 0
  local watchers = {
    obs.changes(world.root, function() changes = changes + 1 end),
    obs.observe(world.root, "*", function() calls = calls + 1 end),
  }
  local ok, message = pcall(function()
    local copy, before = worlds.copy(world.root), identities(world.root)
    local done, reason = transact(world, texts[2], true)
    if done or reason ~= "outer" then error("S8: the transaction: " .. tostring(reason), 0) end
    expect(world.root, copy, "S8: a transaction that fails")
    expect_identities(world.root, before, "S8: a transaction that fails")
    obs.flush()
    if changes + calls > 0 then error("S8: watchers were called", 0) end
    done, reason = transact(world, texts[2], false)
    if not done then error("S8: the transaction: " .. tostring(reason), 0) end
  end)
  for _, watcher in ipairs(watchers) do watcher:stop() end
  return not ok and tostring(message) or nil
end

-- Performs a step of a program below the root, as a history knows nothing else.
local function step_below(world, step)
  local objects = {}
  for object in next, identities(world.root) do objects[#objects + 1] = object end
  local places = worlds.places(world.root)
  table.sort(objects, function(a, b) return places[a] < places[b] end)
  world.objects = objects
  worlds.step(world, step)
end

local function check_history(texts)
  local world = worlds.run(texts[1])
  local history = obs.history(world.root)
  local ok, message = pcall(function()
    local states = { worlds.copy(world.root) }
    local root, ids = world.root, { identities(world.root) }
    for i = 1, #texts[2], 2 do
      local is_there = history.can_undo
      step_below(world, texts[2][i])
      if texts[2][i + 1] then step_below(world, texts[2][i + 1]) end
      obs.flush()
      if worlds.difference(root, states[#states]) or #obs.diff(root, states[#states]) > 0 then
        states[#states + 1], ids[#ids + 1] = worlds.copy(root), identities(root)
      elseif is_there ~= history.can_undo then
        -- Replacing an object by an equal one is a step, too (T5).
        states[#states + 1], ids[#ids + 1] = worlds.copy(root), identities(root)
      end
    end
    local first = states[1]
    while history:undo() do end
    expect(root, first, "X5: undo of all")
    expect_identities(root, ids[1], "X5: undo of all")
    while history:redo() do end
    expect(root, states[#states], "X5: redo of all")
    while history:undo() do end
    expect(root, first, "X5: undo of all, again")
  end)
  history:stop()
  return not ok and tostring(message) or nil
end

local first, last = programs.seeds(700)
if arg and arg[1] then
  first = math.tointeger(tonumber(arg[1]))
  last = first + math.tointeger(tonumber(arg[2] or 1)) - 1
end
for seed = first, last do
  math.randomseed(seed)
  local random = math.random
  local texts = { worlds.program(random, random(25)), worlds.program(random, random(20)) }
  for _, check in ipairs { check_transactions, check_history } do
    local message = check(texts)
    if message then
      texts, message = worlds.shrunk(texts, check)
      error(("seed %d: %s\n%s"):format(seed, message, worlds.text(texts)), 0)
    end
  end
end
