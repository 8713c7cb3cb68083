-- Random changes of a mirrored tree, for `Simulation`. Elements and values of one part have names,
-- from which the oracle computes the expected tree.
local obs = require "obs"

local process, options = ...
local seed, is_acting = 0, false
-- The text of the tree before a turn, if the mirror has failed.
local kept
local history = options.history and obs.history(root)

-- Numbers that are the same on every machine.
local function random(n)
  seed = (seed * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
  return (seed >> 33) % n + 1
end

-- Calls of watchers -------------------------------------------------------------------------------

-- The last values that watchers have seen, and the values that this process has written.
local seen, own, problems = {}, {}, {}
local names_of_values = { "v1", "v2", "v3" }

for _, key in ipairs(names_of_values) do
  obs.observe(root, "values." .. key, function()
    local value = root.values[key]
    if not is_acting then
      own[key] = nil
      if seen[key] == value then
        problems[#problems + 1] = key .. " was reported, and is still " .. tostring(value)
      end
    end
    seen[key] = value
  end)
end
if options.watchers then
  -- What watchers write has to be the same everywhere.
  obs.observe(root, "k2", function() root.k3 = root.k2 end)
end

-- The problems of this process as one text; it is empty if there are none.
function wrong()
  for _, key in ipairs(names_of_values) do
    if seen[key] ~= root.values[key] then
      problems[#problems + 1] = ("%s is %s, and was last reported as %s"):format(
        key, tostring(root.values[key]), tostring(seen[key]))
    end
  end
  return table.concat(problems, "; ")
end

-- Changes of any part -----------------------------------------------------------------------------

-- The objects outside of the named part.
local function objects()
  local is_named = { [root.lists] = true, [root.values] = true }
  local found, seen = { root }, { [root] = true }
  local i = 0
  while i < #found do
    i = i + 1
    local keys = {}
    for key, value in pairs(found[i]) do
      if type(value) == "table" and not seen[value] and not is_named[value] then
        keys[#keys + 1] = key
      end
    end
    table.sort(keys, function(a, b)
      if type(a) ~= type(b) then return type(a) < type(b) end
      return tostring(a) < tostring(b)
    end)
    for _, key in ipairs(keys) do
      local value = found[i][key]
      if not seen[value] then
        seen[value] = true
        found[#found + 1] = value
      end
    end
  end
  return found
end

local function value(all)
  local kind = random(12)
  if kind <= 3 then return random(5) end
  if kind == 4 then return random(5) / 2 end
  if kind == 5 then return random(2) == 1 end
  if kind == 6 then return "t" .. random(4) end
  if kind == 7 then return all[random(#all)] end
  if kind == 8 then return { random(3), random(3) } end
  if kind == 9 then return { k1 = random(3), k2 = { random(4) } } end
  if kind == 10 then return obs.array { random(4), { n = random(4) } } end
  if kind == 11 then return Point { x = random(9) } end
  return random(2) == 1 and obs.dictionary { k1 = random(9) } or obs.set_of { random(5) }
end

local names = { "k1", "k2", "k3", 0, 7, 2.5, true, "\xff" }

local function step()
  local all = objects()
  local t = all[random(#all)]
  local kind = kind_of(t)
  if kind == "Array" then
    local what, n = random(4), #t
    if what == 1 or n == 0 then
      t:insert(random(n + 1), value(all))
    elseif what == 2 then
      t:remove(random(n))
    elseif what == 3 then
      t:move(random(n), random(n))
    else
      t[random(n)] = value(all)
    end
  elseif kind == "Dictionary" then
    t["k" .. random(3)] = random(3) > 1 and value(all) or nil
  elseif kind == "Set" then
    if random(2) == 1 then t:add(random(5)) else t:remove(random(5)) end
  elseif kind == "Point" then
    t[({ "x", "y" })[random(2)]] = random(9)
    if random(3) == 1 then t.next = random(2) == 1 and all[random(#all)] or nil end
  elseif rawlen(t) > 0 and random(4) > 1 then
    local what, n = random(7), #t
    if what == 1 then
      table.insert(t, random(n + 1), value(all))
    elseif what == 2 then
      table.remove(t, random(n))
    elseif what == 3 then
      local moved = table.remove(t, random(n))
      table.insert(t, random(#t + 1), moved)
    elseif what == 4 then
      local i, j = random(n), random(n)
      t[i], t[j] = t[j], t[i]
    elseif what == 5 then
      t[n + 1] = value(all)
    elseif what == 6 then
      t[random(n)] = value(all)
    else
      -- A hole, or a key behind the end.
      if random(2) == 1 then t[random(n)] = nil else t[n + 2] = random(4) end
    end
  else
    t[names[random(#names)]] = random(4) > 1 and value(all) or nil
  end
end

-- Changes with names ------------------------------------------------------------------------------

-- Elements are only inserted into these lists, removed and moved, so each is in them once, unless a
-- process has removed it (A4). The last list has values, which do not move to other lists.
local function insert(list, i, element)
  if kind_of(list) then list:insert(i, element) else table.insert(list, i, element) end
end
local function remove(list, i)
  if kind_of(list) then return list:remove(i) end
  return table.remove(list, i)
end

local function list_step()
  local number = random(4)
  local list = root.lists[number]
  local other = number == 4 and list or root.lists[random(3)]
  local what, n = random(9), #list
  if n == 0 or what == 1 then
    local name = number ~= 4 and oracle.new_name(process)
    insert(list, random(n + 1), name and { name = name, v = random(9) } or random(4))
  elseif what == 2 then
    remove(list, random(n))
  elseif what == 3 then
    local i, j = random(n), random(n)
    list[i], list[j] = list[j], list[i]
  elseif what == 4 then
    table.sort(list, function(a, b)
      if number == 4 then return a < b end
      return a.name < b.name
    end)
  elseif what == 5 then
    for i = 1, n // 2 do list[i], list[n + 1 - i] = list[n + 1 - i], list[i] end
  elseif what == 6 and #other > 0 and list ~= other then
    local i, j = random(n), random(#other)
    list[i], other[j] = other[j], list[i]
  elseif what == 7 and number < 4 then
    list[random(n)].v = random(9)
  else
    local element = remove(list, random(n))
    insert(other, random(#other + 1), element)
  end
end

local function value_step()
  root.values[names_of_values[random(3)]] = random(4) < 4 and random(9) or nil
end

local function any_step()
  local what = random(6)
  if what <= 3 then list_step() elseif what == 4 then value_step() else step() end
end

-- The places and values of all elements, and the named values.
function census()
  local found = { places = {}, fields = {}, values = {}, counts = {}, sum = root.sum }
  for number = 1, 3 do
    for _, element in ipairs(root.lists[number]) do
      local name = element.name
      if found.places[name] then problems[#problems + 1] = name .. " is there twice" end
      found.places[name], found.fields[name] = number, element.v
    end
  end
  for _, value in ipairs(root.lists[4]) do found.counts[value] = (found.counts[value] or 0) + 1 end
  for _, key in ipairs(names_of_values) do found.values[key] = root.values[key] end
  return found
end

-- The text of the named part, and how often each value is in the last list.
function named() return oracle.text(census()) end
function counts() return oracle.counts_text(census().counts) end

-- The effects of a turn: the difference of two censuses.
local function difference(old, new)
  local done = {}
  local function note(...) done[#done + 1] = { ... } end
  for name, from in pairs(old.places) do
    local to = new.places[name]
    if not to then
      note("remove", name, from)
    elseif to ~= from then
      note("move", name, from, to)
    end
  end
  for name, to in pairs(new.places) do
    if not old.places[name] then
      note("insert", name, to, new.fields[name])
    elseif old.fields[name] ~= new.fields[name] then
      note("field", name, new.fields[name])
    end
  end
  for _, key in ipairs(names_of_values) do
    if old.values[key] ~= new.values[key] then note("value", key, new.values[key]) end
  end
  if old.sum ~= new.sum then note("assign", new.sum) end
  for value, count in pairs(old.counts) do
    local less = count - (new.counts[value] or 0)
    if less > 0 then note("less", value, less) end
  end
  return done
end

-- Undo and redo. An element that comes back gets a new name, because other processes may have kept
-- the first.
local function go_back(before)
  history[random(3) == 1 and "redo" or "undo"](history)
  for number = 1, 3 do
    for _, element in ipairs(root.lists[number]) do
      if not before.places[element.name] then element.name = oracle.new_name(process) end
    end
  end
  for _, key in ipairs(names_of_values) do
    if root.values[key] ~= before.values[key] and own[key] == nil then
      problems[#problems + 1] = "undo took the " .. key .. " of another process back"
    end
  end
end

--- Makes a random turn.
function act(new_seed)
  seed, is_acting, kept = new_seed, true, mirror.failure and dump()
  if random(8) == 1 then
    local amount = oracle.note_sum(process)
    return mirror:add(root, "sum", amount)
  end
  local before = census()
  local what = random(12)
  if what == 1 then
    obs.transaction({ root }, function()
      for _ = 1, random(3) do any_step() end
      error "no"
    end)
  elseif what <= 3 and history then
    go_back(before)
  else
    for _ = 1, random(4) do any_step() end
  end
  local after = census()
  root.tag = oracle.note_turn(process, difference(before, after))
  for _, key in ipairs(names_of_values) do
    if after.values[key] ~= before.values[key] then own[key] = true end
  end
end

--- Ends a random turn: later changes come from others.
function acted()
  is_acting = false
  if kept and dump() ~= kept then
    problems[#problems + 1] = "a turn of a mirror that has failed was not undone"
  end
end

--- Adds `count` objects and a few other values to the tree, or removes them; clears the history, so
--- that undo keeps nothing.
function fill(is_full, count)
  if is_full then
    local objects = {}
    for i = 1, count do objects[i] = {} end
    root.filling = count == 0 and "full" or objects
    table.insert(root.lists[4], 1, 0)
  else
    root.filling = nil
    while root.lists[4][1] == 0 do table.remove(root.lists[4], 1) end
  end
  mirror:add(root, "sum", is_full and 1 or -1)
  if history then history:clear() end
end
