-- X3 and X4 for random trees with lists, sets, dictionaries, models, shared objects and cycles.
--
--   obs-lua RandomDiffs.lua [first seed [count]]
--
-- A failing program is shortened as far as possible and shown.
local obs = require "obs"

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local programs = dofile(folder .. "../Support/programs.lua")
package.path = folder .. "Support/?.lua;" .. package.path
local worlds, json = require "worlds", require "json"

-- A copy of a world that also contains copies of unreachable objects.
local function twin(world)
  local root, copies = worlds.copy(world.root)
  local objects = {}
  for i, object in ipairs(world.objects) do objects[i] = copies[object] or worlds.copy(object) end
  return { root = root, objects = objects }
end

-- Whether JSON can represent the changes.
local function is_spellable(changes) return (pcall(json.encode, changes)) end

local function check_diff(texts)
  local before = worlds.run(texts[1])
  local after = worlds.run(texts[2], twin(before))
  local function expect(target, changes, wanted, what)
    local copy = worlds.copy(target)
    obs.apply(copy, changes)
    local wrong = worlds.difference(copy, wanted)
    if wrong then error(what .. ": " .. wrong, 0) end
  end
  local changes = obs.diff(before.root, after.root)
  local back = obs.invert(changes)
  expect(before.root, changes, after.root, "X3: apply(before, changes)")
  expect(after.root, back, before.root, "X3: apply(after, invert(changes))")
  expect(before.root, obs.invert(back), after.root, "X3: apply(before, invert(invert(changes)))")
  if is_spellable(changes) and not worlds.has_object_members(before.root)
    and not worlds.has_object_members(after.root) then
    local read = json.decode(json.encode(changes))
    expect(before.root, read, after.root, "X4: changes that went through JSON")
    expect(after.root, obs.invert(read), before.root, "X4: the inverse of such changes")
  end
  if #obs.diff(after.root, (worlds.copy(after.root))) > 0 then error("X4: a copy differs", 0) end
end

-- The objects below a root, each with the path that reached it first.
local function paths(root)
  local found, work = { [root] = "root" }, { root }
  for _, object in ipairs(work) do
    if worlds.kind(object) ~= "set" then
      for key, value in next, object do
        if type(value) == "table" and not found[value] then
          found[value] = found[object] .. "." .. tostring(key)
          work[#work + 1] = value
        end
      end
    end
  end
  return found
end

-- Where the tree has a set, replaces the list in `data` by the list that `worlds.plain` makes of an
-- equal set.
local function normalize(tree, data, seen)
  if seen[tree] then return end
  seen[tree] = true
  if worlds.kind(tree) == "set" then
    local set = obs.set_of {}
    for i, value in ipairs(data) do
      set:add(value)
      data[i] = nil
    end
    for i, value in ipairs(worlds.plain(set)) do data[i] = value end
    return
  end
  for key, value in next, tree do
    local other = data[key]
    if type(value) == "table" and type(other) == "table" then normalize(value, other, seen) end
  end
end

local function check_merge(texts)
  local target, other = worlds.run(texts[1]).root, worlds.run(texts[2]).root
  if worlds.has_object_members(target) or worlds.has_object_members(other) then return end
  local function plain(tree) return worlds.plain(tree) end
  local data = plain(other)
  local before = paths(target)
  local writes = 0
  obs.merge(target, data)
  if worlds.has_object_members(target) then return end
  normalize(target, data, {})
  local wrong = worlds.difference(plain(target), data)
  if wrong then error("X4: merge: " .. wrong, 0) end
  for object in next, paths(target) do
    if paths(data)[object] then error("X4: merge aliases its data", 0) end
  end
  for object in next, before do
    if worlds.kind(object) ~= "set" then
      obs.observe(object, "*", function() writes = writes + 1 end, { immediate = true })
    end
  end
  obs.merge(target, data)
  if writes > 0 then error("X4: merging the same data again writes", 0) end
end

-- Where a tree lacks something that the data has; nil if it lacks nothing.
local function lack(tree, data, seen)
  if seen[data] then return end
  seen[data] = true
  for key, value in next, data do
    local own
    if worlds.kind(tree) == "set" then own = tree:contains(value) and value else own = tree[key] end
    if type(value) ~= "table" then
      if own ~= value then return tostring(key) end
    else
      local inner = type(own) ~= "table" and "" or lack(own, value, seen)
      if inner then return tostring(key) .. "." .. inner end
    end
  end
end

local function check_add_only(texts)
  local target, other = worlds.run(texts[1]).root, worlds.run(texts[2]).root
  if worlds.has_object_members(target) or worlds.has_object_members(other) then return end
  local data, before, writes = worlds.plain(other), {}, 0
  for key, value in next, target do before[key] = value end
  obs.merge(target, data, { add_only = true })
  if worlds.has_object_members(target) then return end
  for key, value in next, before do
    if data[key] == nil and target[key] ~= value then
      error("X4: add_only changes the key " .. tostring(key), 0)
    end
  end
  local missing = lack(target, data, {})
  if missing then error("X4: add_only leaves out " .. missing, 0) end
  for object in next, paths(target) do
    obs.observe(object, "*", function() writes = writes + 1 end, { immediate = true })
  end
  obs.batch(function() end)
  obs.merge(target, data, { add_only = true })
  if writes > 0 then error("X4: adding the same data again writes", 0) end
end

local function guarded(check)
  return function(texts)
    local ok, message = pcall(check, texts)
    return not ok and tostring(message) or nil
  end
end

local first, last = programs.seeds(1500)
if arg and arg[1] then
  first = math.tointeger(tonumber(arg[1]))
  last = first + math.tointeger(tonumber(arg[2] or 1)) - 1
end
for seed = first, last do
  math.randomseed(seed)
  local random = math.random
  local texts = { worlds.program(random, random(25)), worlds.program(random, random(12)) }
  for _, check in ipairs { guarded(check_diff), guarded(check_merge), guarded(check_add_only) } do
    local message = check(texts)
    if message then
      texts, message = worlds.shrunk(texts, check)
      error(("seed %d: %s\n%s"):format(seed, message, worlds.text(texts)), 0)
    end
  end
end
