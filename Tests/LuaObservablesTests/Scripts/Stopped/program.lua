-- Random programs that are stopped at any operation. Afterwards, the calls of their watchers are
-- checked. Objects refer to each other at random; a watcher has a path of names and wildcards.
obs = require "obs"

local names = { "a", "b", "c", "v" }
local random = math.random
local objects, watchers, models = {}, {}, {}

local function pick(list) return list[random(#list)] end

local function new_object()
  local object = random(4) == 1 and obs.array() or {}
  objects[#objects + 1] = object
  return object
end

local function is_array(object) return getmetatable(object) ~= nil end

for _ = 1, 5 do new_object() end

local function random_value()
  local kind = random(10)
  if kind <= 5 then return pick(objects) end
  if kind == 6 then return new_object() end
  if kind == 7 then return nil end
  return random(1000)
end

local function random_path()
  local path = {}
  for i = 1, random(4) do path[i] = random(4) == 1 and "*" or pick(names) end
  return table.concat(path, ".")
end

local function plain_object()
  for _ = 1, 20 do
    local object = pick(objects)
    if not is_array(object) then return object end
  end
  objects[#objects + 1] = {}
  return objects[#objects]
end

local operate

local function callback(entry)
  return function()
    entry.calls = entry.calls + 1
    -- Sometimes it continues in here.
    if not checking and random(3) == 1 then
      tick()
      operate(true)
      tick()
    end
  end
end

-- One random operation; `tick` may stop the script.
function operate(isInCallback)
  local kind = random(20)
  tick()
  if kind <= 8 then
    plain_object()[pick(names)] = random_value()
  elseif kind <= 11 then
    local array = pick(objects)
    if not is_array(array) then return end
    local choice = random(3)
    if choice == 1 then array:insert(random(#array + 1), pick(objects))
    elseif choice == 2 and #array > 0 then array:remove(random(#array))
    else array:append(pick(objects)) end
  elseif kind <= 14 then
    local entry = { root = plain_object(), path = random_path(), calls = 0 }
    watchers[#watchers + 1] = entry
    local options = { immediate = random(6) == 1 }
    if random(5) == 1 then
      options.equals = function(old, new)
        tick()
        return old == new
      end
    end
    entry.watcher = obs.observe(entry.root, entry.path, callback(entry), options)
  elseif kind == 15 then
    local entry = pick(watchers)
    if entry and entry.watcher then entry.watcher:stop() end
  elseif kind == 16 and not isInCallback then
    obs.flush()
  elseif kind == 17 then
    obs.batch(function()
      for _ = 1, 3 do
        tick()
        operate(true)
      end
    end)
  elseif kind == 18 then
    obs.after(random() / 100, function() operate(true) end)
  elseif kind == 19 then
    -- The models depend on the objects, but are not among them.
    local model = { link = plain_object() }
    models[#models + 1] = model
    obs.computed(model, "sum", { "link." .. pick(names) .. "." .. pick(names) }, function(self)
      tick()
      return self.link
    end)
    obs.observe(model, "sum", tick)
    if random(2) == 1 then return model.sum end
  else
    obs.next_turn(function() operate(true) end)
  end
end

function run(seed, count)
  math.randomseed(seed)
  for _ = 1, count do operate() end
end

-- The objects that a step leads to from an object, with their keys.
local function follow(object, step, visit)
  if step == "*" then
    if is_array(object) then
      for i = 1, #object do visit(i, object[i]) end
    else
      for key, value in pairs(object) do visit(key, value) end
    end
  elseif is_array(object) then
    -- A name over an array applies to each element (C8).
    for i = 1, #object do
      if type(object[i]) == "table" then follow(object[i], step, visit) end
    end
  else
    visit(step, object[step])
  end
end

-- Whether a write of `key` of `target` is on the watcher's path.
local function reaches(entry, target, key)
  local steps = {}
  for step in entry.path:gmatch("[^.]+") do steps[#steps + 1] = step end
  local found = false
  local seen = {}
  local function walk(object, at)
    if at > #steps or type(object) ~= "table" then return end
    seen[at] = seen[at] or {}
    if seen[at][object] then return end
    seen[at][object] = true
    if is_array(object) and steps[at] ~= "*" then
      for i = 1, #object do walk(object[i], at) end
      return
    end
    if object == target and (steps[at] == "*" or steps[at] == key) then found = true end
    follow(object, steps[at], function(_, value) walk(value, at + 1) end)
  end
  walk(entry.root, 1)
  return found
end

-- Checks that each write to a key of an object reaches exactly the watchers with the key on their
-- paths.
function check(seed)
  math.randomseed(seed)
  checking = true
  for _ = 1, 4 do
    local target, key = plain_object(), pick(names)
    if rawget(obs.raw(target), key) ~= nil or random(2) == 1 then
      local expected = {}
      for i, entry in ipairs(watchers) do
        entry.calls = 0
        local isThere = entry.watcher and entry.watcher.active
        expected[i] = isThere and reaches(entry, target, key) or false
      end
      local value = random(1 << 40) + 5000
      target[key] = value
      obs.flush()
      for i, entry in ipairs(watchers) do
        if entry.watcher and entry.watcher.active and (entry.calls > 0) ~= expected[i] then
          error(("the watcher of '%s' was %s for '%s'"):format(
            entry.path, expected[i] and "not called" or "called", key))
        end
      end
    end
  end
  checking = false
end

-- Delivers pending calls without checks.
function settle()
  checking = true
  obs.flush()
  checking = false
end
