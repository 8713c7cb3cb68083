-- C5, C6, C9, C10: random programs with dictionaries and sets, against plain tables.
--
-- `OBS_SEED=n` starts with seed `n`; `OBS_COUNT=n` runs `n` programs.
local obs = require "obs"

local KEYS = {"a", "b", "c", 1, true}
local steps

local function fail(seed, text, ...)
  error(("seed %d: %s\nafter\n  %s"):format(seed, text:format(...), table.concat(steps, "\n  ")), 0)
end

local function count(map)
  local n = 0
  for _ in pairs(map) do n = n + 1 end
  return n
end

local function copy(map)
  local other = {}
  for key, value in pairs(map) do other[key] = value end
  return other
end

local function same(a, b)
  for key, value in pairs(a) do if b[key] ~= value then return false end end
  for key, value in pairs(b) do if a[key] ~= value then return false end end
  return true
end

local function sum(map)
  local total = 0
  for _, value in pairs(map) do total = total + value end
  return total
end

local function run(seed)
  math.randomseed(seed)
  steps = {}
  local random = math.random
  local dictionary, entries = obs.dictionary {a = 1}, {a = 1}
  local set, members = obs.set_of {1, 2}, {[1] = 1, [2] = 2}
  local called, due, known, known_members = {}, {}, copy(entries), copy(members)
  local edited, edited_members = copy(entries), copy(members)

  local function watch(name, collection, path)
    obs.observe(collection, path, function() called[name] = (called[name] or 0) + 1 end)
  end
  watch("entries", dictionary, "*")
  watch("size", dictionary, "count")
  watch("sum", dictionary, "@sum")
  for _, key in ipairs(KEYS) do watch(key, dictionary, obs.path(key)) end
  watch("members", set, "*")
  watch("set size", set, "count")
  watch("set sum", set, "@sum")
  for n = 1, 6 do watch("&" .. n, set, set:key_of(n)) end
  local function follow(name, collection, mirror, is_set)
    obs.observe_edits(collection, function(_, edits)
      called[name] = (called[name] or 0) + 1
      for _, edit in ipairs(edits) do
        local is_there = mirror[edit.at] ~= nil
        if is_there ~= (edit.kind ~= "insert") then fail(seed, "%s of %s", edit.kind, edit.at) end
        if edit.kind == "remove" then
          mirror[edit.at] = nil
        else
          mirror[edit.at] = is_set and edit.at or edit.new
        end
      end
    end)
  end
  follow("edits", dictionary, edited)
  follow("set edits", set, edited_members, true)

  local function some()
    local list = {}
    for i = 1, random(0, 4) do list[i] = random(6) end
    return list
  end
  local function as_map(list)
    local map = {}
    for _, n in ipairs(list) do map[n] = n end
    return map
  end
  local function act()
    local r = random(14)
    local old, old_members = copy(entries), copy(members)
    if r <= 5 then
      local key, value = KEYS[random(#KEYS)], random(4) > 1 and random(3) or nil
      steps[#steps + 1] = ("d[%s] = %s"):format(key, value)
      dictionary[key], entries[key] = value, value
    elseif r == 6 then
      local other = {a = random(3), c = random(3)}
      steps[#steps + 1] = ("assign a = %d, c = %d"):format(other.a, other.c)
      obs.assign(dictionary, other)
      entries = copy(other)
    elseif r == 7 then
      steps[#steps + 1] = "clear"
      obs.clear(dictionary)
      entries = {}
    elseif r <= 9 then
      local n = random(6)
      steps[#steps + 1] = "add " .. n
      if set:add(n) ~= (members[n] == nil) then fail(seed, "add") end
      members[n] = n
    elseif r <= 11 then
      local n = random(6)
      steps[#steps + 1] = "remove " .. n
      set:remove(n)
      members[n] = nil
    else
      local name, list = ({"union", "intersect", "subtract"})[r - 11], some()
      steps[#steps + 1] = name .. " " .. table.concat(list, " ")
      set[name](set, random(2) == 1 and obs.set_of(list) or list)
      local map = as_map(list)
      for n = 1, 6 do
        if name == "union" then members[n] = members[n] or map[n]
        elseif name == "intersect" then members[n] = map[n] and members[n]
        else members[n] = not map[n] and members[n] or nil end
      end
    end
    for _, key in ipairs(KEYS) do if entries[key] ~= old[key] then due[key] = 1 end end
    for n = 1, 6 do if members[n] ~= old_members[n] then due["&" .. n] = 1 end end
    if not same(entries, old) then due.entries = 1 end
    if not same(members, old_members) then due.members = 1 end
    if set.count ~= count(members) then fail(seed, "the set has %d members", set.count) end
    for n = 1, 6 do
      if set:contains(n) ~= (members[n] ~= nil) then fail(seed, "contains %d", n) end
    end
    local there = {}
    for key, value in pairs(dictionary) do there[key] = value end
    if not same(there, entries) then fail(seed, "the dictionary is another") end
  end

  for _ = 1, random(30) do
    for _ = 1, random(4) do act() end
    steps[#steps + 1] = "turn"
    if count(entries) ~= count(known) then due.size = 1 end
    if sum(entries) ~= sum(known) then due.sum = 1 end
    if not same(entries, known) then due.edits = 1 end
    if count(members) ~= count(known_members) then due["set size"] = 1 end
    if sum(members) ~= sum(known_members) then due["set sum"] = 1 end
    if not same(members, known_members) then due["set edits"] = 1 end
    obs.flush()
    for name, calls in pairs(called) do
      if due[name] ~= calls then fail(seed, "%s: %d calls for nothing", name, calls) end
    end
    for name in pairs(due) do if not called[name] then fail(seed, "%s: no call", name) end end
    if not same(edited, entries) then fail(seed, "edits give another dictionary") end
    if not same(edited_members, members) then fail(seed, "edits give another set") end
    if obs.get(dictionary, "@sum") ~= sum(entries) then fail(seed, "another sum") end
    if obs.get(set, "@sum") ~= sum(members) then fail(seed, "another sum of the set") end
    called, due, known, known_members = {}, {}, copy(entries), copy(members)
  end
  obs.stop(dictionary)
  obs.stop(set)
end

local first = math.tointeger(tonumber(os.getenv "OBS_SEED" or nil)) or 1
local programs = math.tointeger(tonumber(os.getenv "OBS_COUNT" or nil))
  or (os.getenv "OBS_LIGHT" and 20 or 300)
assert(programs > 0, "no programs")
for seed = first, first + programs - 1 do run(seed) end
