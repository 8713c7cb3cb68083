-- P3–P8, T3–T5, T7, T11, C3, L3, L5: random graphs against a reference.
--
--   obs-lua RandomGraph.lua [seed [count]]
--
-- Random writes, replacements, registrations, stops and pauses over random paths: through loops,
-- shared objects, nil, lists, inherited values and, if the host has them, Swift models. After each
-- write, the reference walks every path of every watcher again. A watcher must be called if any
-- stored element of its paths has changed, once per flush, earliest registered first.
local obs = require "obs"

local random = math.random
local NAMES = {"name", "age", "nickname", "friend"}
local CREATURE_NAMES = {"name", "age", "weight", "isTame", "nickname", "friend", "legs"}

local world, steps

local function fail(message)
  local first = math.max(1, #steps - 40)
  error(("seed %d: %s\nafter\n  %s"):format(
    world.seed, message, table.concat(steps, "\n  ", first)), 0)
end

local function step(text, ...) steps[#steps + 1] = text:format(...) end

local function pick(list) return list[random(#list)] end

local function name_of(value)
  local entry = world.names[value]
  return entry or tostring(value)
end

-- The reference -----------------------------------------------------------------------------------

local function is_object(value) return type(value) == "table" or type(value) == "userdata" end

-- T5: identity for objects, == for the rest, NaN equals NaN.
local function same(a, b)
  return rawequal(a, b) or a == b or (a ~= a and b ~= b)
end

local function keys_of(object)
  if type(object) == "userdata" then return CREATURE_NAMES end
  if not world.lists[object] then return world.table_keys end
  return world.list_keys
end

local function walk(object, path, i, out)
  local part = path[i]
  if not part or not is_object(object) or part == "@count" then return end
  local is_model = type(object) == "userdata"
  if part == "*" then
    for _, key in ipairs(keys_of(object)) do
      local value = object[key]
      local n = #out
      out[n + 1], out[n + 2], out[n + 3] = object, key, value == nil and walk or value
      walk(value, path, i + 1, out)
    end
  elseif not is_model or type(part) == "string" then
    local value = object[part]
    local n = #out
    out[n + 1], out[n + 2], out[n + 3] = object, part, value == nil and walk or value
    walk(value, path, i + 1, out)
  end
end

-- The stored elements of the paths: object, key, value.
local function snapshot(watcher)
  local out = {}
  for _, path in ipairs(watcher.paths) do
    out[#out + 1] = path
    walk(watcher.root, path, 1, out)
  end
  return out
end

local function is_same_snapshot(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do
    if not same(a[i], b[i]) then return false end
  end
  return true
end

-- The values of the operators at the ends of the paths.
local function counts(watcher)
  local out = {}
  for _, path in ipairs(watcher.paths) do
    if path[#path] == "@count" then
      local object = watcher.root
      for i = 1, #path - 1 do
        object = is_object(object) and object[path[i]] or nil
      end
      out[path] = type(object) == "table" and rawlen(object) or false
    end
  end
  return out
end

local function is_due(watcher)
  if watcher.dirty then return true end
  local now = counts(watcher)
  for path, count in pairs(now) do
    if watcher.counts[path] ~= count then return true end
  end
  return false
end

local function rewire(watcher)
  watcher.shot = snapshot(watcher)
  watcher.counts = counts(watcher)
end

local function can_run(watcher) return watcher.active and not watcher.paused end

-- Does one write and marks the watchers that must be called for it. A sort can move elements and
-- move them back (T5), so watchers of slots may be called.
local function write(work, kind)
  local is_single, is_sort = kind == "single", kind == "sort"
  local heard = world.heard
  world.heard = {}
  work()
  for _, watcher in ipairs(world.watchers) do
    if watcher.active then
      local now = snapshot(watcher)
      local changed = not is_same_snapshot(watcher.shot, now)
      watcher.shot = now
      local calls = world.heard[watcher] or 0
      if watcher.immediate then
        local right = calls == (changed and 1 or 0) or is_sort
        if not is_single and changed then right = calls > 0 end
        if not right then
          fail(("immediate watcher %d was called %d times, changed: %s"):format(
            watcher.id, calls, changed))
        end
      elseif changed then
        watcher.dirty = true
      elseif is_sort then
        watcher.maybe = true
      end
    end
  end
  world.heard = heard
end

-- The world ---------------------------------------------------------------------------------------

local function named(object, name)
  world.names[object] = name
  return object
end

local function new_object()
  local id = #world.objects + 1
  local kind = random(8)
  local object
  if kind == 1 and new_creature then
    object = named(new_creature("c" .. id), "c" .. id)
    world.creatures[#world.creatures + 1] = object
  elseif kind == 2 or kind == 3 then
    object = named({}, "l" .. id)
    world.lists[object] = true
  elseif kind == 4 then
    object = named(setmetatable({}, {__index = pick(world.prototypes)}), "i" .. id)
  elseif kind == 5 then
    object = named(setmetatable({age = 1}, pick(world.classes)), "o" .. id)
  else
    object = named({}, "t" .. id)
  end
  world.objects[id] = object
  return object
end

local function any_value()
  local r = random(10)
  if r <= 5 then return pick(world.objects) end
  return (({1, 2, 1.0, 0 / 0, "x"})[r - 5])
end

local function assign(object, key, value, raw)
  step("%s%s[%s] = %s", raw and "raw " or "", name_of(object), name_of(key), name_of(value))
  write(function()
    if raw then rawset(object, key, value) else object[key] = value end
  end, "single")
end

local function write_creature(creature)
  local r = random(6)
  if r == 1 then
    assign(creature, "name", pick{"x", "y"})
  elseif r == 2 then
    assign(creature, "age", random(3))
  elseif r == 3 then
    assign(creature, "nickname", random(2) == 1 and pick{"x", "y"} or nil)
  else
    assign(creature, "friend", random(3) > 1 and pick(world.creatures) or nil)
  end
end

local function write_list(list)
  local r, n = random(9), #list
  if r <= 2 and n < 6 then
    local value = any_value()
    step("%s[#+1] = %s", name_of(list), name_of(value))
    write(function() list[#list + 1] = value end, "single")
  elseif r == 3 and n < 6 then
    local at, value = random(n + 1), any_value()
    step("insert(%s, %d, %s)", name_of(list), at, name_of(value))
    write(function() table.insert(list, at, value) end)
  elseif r <= 5 and n > 0 then
    local at = random(n)
    step("remove(%s, %d)", name_of(list), at)
    write(function() table.remove(list, at) end)
  elseif r == 6 and n > 1 then
    step("move(%s, 2, %d, 1)", name_of(list), n)
    write(function() table.move(list, 2, n, 1) end)
  elseif r == 7 and n > 1 then
    step("sort(%s)", name_of(list))
    write(function()
      table.sort(list, function(a, b) return name_of(a) < name_of(b) end)
    end, "sort")
  elseif n > 0 then
    assign(list, random(n), any_value(), random(6) == 1)
  end
end

local function write_something()
  local object = pick(world.objects)
  if type(object) == "userdata" then return write_creature(object) end
  if world.lists[object] and random(5) > 1 then return write_list(object) end
  local value = nil
  if random(4) > 1 then value = any_value() end
  local key = random(2) == 1 and "friend" or pick(NAMES)
  if random(6) == 1 and not world.lists[object] then key = 1 end
  assign(object, key, value, random(8) == 1)
end

-- Watchers ----------------------------------------------------------------------------------------

local function random_path()
  local path = {}
  for i = 1, random(4) do
    local r = random(12)
    if r <= 6 then path[i] = "friend"
    elseif r == 7 then path[i] = "*"
    elseif r == 8 then path[i] = random(3)
    else path[i] = pick(NAMES) end
  end
  if random(5) == 1 then
    local fans = false
    for _, part in ipairs(path) do fans = fans or part == "*" end
    if not fans then path[#path + 1] = "@count" end
  end
  local parts = {}
  for i, part in ipairs(path) do parts[i] = math.type(part) and "#" .. part or part end
  path.text = table.concat(parts, ".")
  return path
end

local act

local function called(watcher, observed, observer)
  if not watcher.active then fail(("watcher %d was called after its end"):format(watcher.id)) end
  if watcher.immediate then
    world.heard[watcher] = (world.heard[watcher] or 0) + 1
    -- T9: in order of registration.
    return
  end
  if watcher.paused then fail(("watcher %d was called while paused"):format(watcher.id)) end
  if observed ~= watcher.root then
    fail(("watcher %d was given another object"):format(watcher.id))
  end
  if observer ~= (watcher.observer and world.observers[watcher.observer]) then
    fail(("watcher %d was given another observer"):format(watcher.id))
  end
  if watcher.ran == world.flush then
    -- T4: it ran in this flush, so this is another one, after calls of all the others.
    for _, other in ipairs(world.watchers) do
      if can_run(other) and other.ran ~= world.flush and is_due(other) then
        fail(("watcher %d was called twice, before %d"):format(watcher.id, other.id))
      end
    end
    world.flush = world.flush + 1
  end
  step("call %d", watcher.id)
  if not is_due(watcher) and not watcher.maybe then
    fail(("watcher %d was called for nothing"):format(watcher.id))
  end
  -- T3: the earliest registered first.
  for _, other in ipairs(world.watchers) do
    if other.id >= watcher.id then break end
    if can_run(other) and other.ran ~= world.flush and is_due(other) and not other.immediate then
      fail(("watcher %d was called before %d"):format(watcher.id, other.id))
    end
  end
  watcher.dirty, watcher.maybe, watcher.ran = false, false, world.flush
  rewire(watcher)
  if watcher.once then
    watcher.active = false
  elseif world.budget > 0 and random(3) == 1 then
    world.budget = world.budget - 1
    act(true)
  end
end

local function register()
  local watcher = {
    id = world.id + 1, active = true, root = pick(world.objects), paths = {}, ran = 0,
    immediate = random(5) == 1,
  }
  local texts, seen = {}, {}
  for _ = 1, random(3) do
    local path = random_path()
    if not seen[path.text] and not (watcher.immediate and path.text:find("@count", 1, true)) then
      seen[path.text] = true
      texts[#texts + 1] = path.text
      watcher.paths[#watcher.paths + 1] = path
    end
  end
  if #texts == 0 then return end
  if not watcher.immediate then
    watcher.once = random(8) == 1
    watcher.dirty = random(8) == 1
  end
  if random(4) == 1 then watcher.observer = random(#world.observers) end
  step("observe %d: %s %s%s%s%s%s", watcher.id, name_of(watcher.root), table.concat(texts, " "),
    watcher.immediate and " immediate" or "", watcher.once and " once" or "",
    watcher.dirty and " initial" or "", watcher.observer and " by " .. watcher.observer or "")
  local ok, handle = pcall(obs.observe, watcher.root, #texts == 1 and texts[1] or texts,
    function(observed, observer) called(watcher, observed, observer) end,
    {immediate = watcher.immediate, once = watcher.once, initial = watcher.dirty,
      observer = world.observers[watcher.observer]})
  if not ok then
    -- P9: a Swift model has fixed names, and no list elements.
    if not handle:find("Creature", 1, true) then fail(handle) end
    step("  refused")
    return
  end
  world.id = watcher.id
  watcher.handle = handle
  rewire(watcher)
  world.watchers[#world.watchers + 1] = watcher
end

local function random_watcher()
  local watcher = #world.watchers > 0 and pick(world.watchers)
  return watcher and watcher.active and watcher or nil
end

local function end_watcher(watcher)
  watcher.active = false
  if watcher.handle.active then fail(("watcher %d is still active"):format(watcher.id)) end
end

local function stop_by_path()
  local watcher = random_watcher()
  if not watcher then return end
  local text = pick(watcher.paths).text
  step("stop %s %s", name_of(watcher.root), text)
  local expected = 0
  local stopped = obs.stop(watcher.root, text)
  for _, other in ipairs(world.watchers) do
    if other.active and other.root == watcher.root then
      local before = expected
      for i = #other.paths, 1, -1 do
        if other.paths[i].text == text then
          expected = expected + 1
          -- The removed path, or an operator on it, may be the cause of its pending call (L5).
          other.maybe = other.maybe or is_due(other)
          other.dirty = false
          table.remove(other.paths, i)
        end
      end
      if #other.paths == 0 then end_watcher(other)
      elseif expected > before then other.shot = snapshot(other) end
    end
  end
  if stopped ~= expected then fail(("stopped %d, not %d"):format(stopped, expected)) end
end

local function let_observer_die()
  local index = random(#world.observers)
  step("observer %d dies", index)
  world.observers[index] = {}
  collectgarbage()
  for _, watcher in ipairs(world.watchers) do
    if watcher.active and watcher.observer == index then end_watcher(watcher) end
  end
end

function act(in_callback)
  local r = random(40)
  if r <= 22 then
    write_something()
  elseif r <= 28 then
    register()
  elseif r == 29 then
    local watcher = random_watcher()
    if watcher then
      step("stop %d", watcher.id)
      watcher.handle:stop()
      end_watcher(watcher)
    end
  elseif r == 30 then
    stop_by_path()
  elseif r <= 32 then
    local watcher = random_watcher()
    if watcher and not watcher.immediate and not watcher.paused then
      step("pause %d", watcher.id)
      watcher.handle:pause()
      watcher.paused = true
    end
  elseif r <= 35 then
    local watcher = random_watcher()
    if watcher and watcher.paused then
      step("resume %d", watcher.id)
      watcher.handle:resume()
      watcher.paused = false
    end
  elseif r == 36 then
    local watcher = random_watcher()
    if watcher and not watcher.immediate and not watcher.paused then
      step("schedule %d", watcher.id)
      watcher.handle:schedule()
      watcher.dirty = true
    end
  elseif r == 37 then
    local index = random(#world.objects)
    if type(world.objects[index]) == "table" then
      local old = world.objects[index]
      local object = named({}, "n" .. #steps)
      if world.lists[old] then world.lists[object] = true end
      world.objects[index] = object
    end
  elseif in_callback then
    write_something()
  elseif r == 38 then
    let_observer_die()
  else
    world.flush = world.flush + 1
    step("flush")
    obs.flush()
    -- A watcher that ran and was triggered again waits for the next flush (T4).
    for _, watcher in ipairs(world.watchers) do
      if can_run(watcher) and not watcher.immediate and watcher.ran ~= world.flush
        and is_due(watcher) then
        fail(("watcher %d was not called by flush"):format(watcher.id))
      end
    end
    world.flush = world.flush + 1
  end
end

local function new_world(seed)
  math.randomseed(seed)
  steps = {}
  world = {
    seed = seed, names = {}, objects = {}, creatures = {}, lists = {}, watchers = {}, heard = {},
    observers = {{}, {}, {}}, id = 0, flush = 1, budget = 0,
    prototypes = {{age = 1, name = "x"}, {age = 2}},
    classes = {},
    table_keys = {"name", "age", "nickname", "friend", 1},
    list_keys = {"name", "age", "nickname", "friend", 1, 2, 3, 4, 5, 6, 7},
  }
  world.names[walk] = "nil"
  for i, prototype in ipairs(world.prototypes) do named(prototype, "p" .. i) end
  for i = 1, 2 do
    local class = {name = "x"}
    class.__index = class
    world.classes[i] = class
  end
  if new_creature then world.creatures[1] = named(new_creature("c0"), "c0") end
  for _ = 1, random(3, 9) do new_object() end
end

local first = math.tointeger(tonumber(arg and arg[1] or nil)) or 1
local count = math.tointeger(tonumber(arg and arg[2] or nil)) or 150
local seed, turns = first, 0
assert(count > 0, "no graphs")

obs.on_error(function(message) error(message, 0) end)

local function turn()
  if turns == 0 then
    if seed >= first + count then return end
    new_world(seed)
    seed = seed + 1
    turns = random(2, 12)
  else
    turns = turns - 1
    step("turn")
    for _, watcher in ipairs(world.watchers) do
      if can_run(watcher) and not watcher.immediate and is_due(watcher) then
        fail(("watcher %d was not called"):format(watcher.id))
      end
      if watcher.active ~= watcher.handle.active then
        fail(("watcher %d: active is %s"):format(watcher.id, watcher.handle.active))
      end
    end
  end
  world.flush = world.flush + 1
  world.budget = 6
  for _ = 1, random(12) do act(false) end
  obs.next_turn(turn)
end

obs.next_turn(turn)
