-- X1: random graphs below `**` against a reference.
--
--   obs-lua RandomDeep.lua [seed [count]]
--
-- Random writes to tables, plain lists, arrays, sets and dictionaries that refer to each other,
-- with sharing and cycles. Each turn changes some of them. Before and after the turn, the reference
-- walks all routes of each path. A watcher must be called if an object came onto the path or left
-- it, or a value named by its path was written.
local obs = require "obs"

local random = math.random
local NAMES = { "a", "b", "c" }
local PATHS = {
  "**", "**.a", "a.**", "a.**.b", "**.*", "**.b.c", "**.b.*", "*.**", "*.**.c", "**.a.**",
  "**.b.**.c", "**.**", "**.count", "**.#1", "a.*.**.b", "**.*.a",
}

local world, steps

local function step(text, ...) steps[#steps + 1] = text:format(...) end
local function fail(text, ...)
  local first = math.max(1, #steps - 60)
  error(("seed %d: %s\nafter\n  %s"):format(
    world.seed, text:format(...), table.concat(steps, "\n  ", first)), 0)
end
local function pick(list) return list[random(#list)] end

local MAKERS = {
  table = function() return {} end, list = function() return {} end,
  array = function() return obs.array {} end, set = function() return obs.set_of {} end,
  dictionary = function() return obs.dictionary {} end,
}
local KINDS = { "table", "table", "table", "list", "array", "set", "dictionary" }

local function new_object(kind)
  kind = kind or pick(KINDS)
  local object = MAKERS[kind]()
  world.kinds[object] = kind
  world.objects[#world.objects + 1] = object
  world.names[object] = kind .. #world.objects
  return object
end

local function show(value) return world.names[value] or tostring(value) end

-- Calls `visit` with the stored values of an object and their keys.
local function for_each_member(object, visit)
  local kind = world.kinds[object]
  if kind == "set" then
    for member in pairs(object) do visit(member, nil) end
  elseif kind == "array" then
    for i = 1, object.count do visit(object[i], i) end
  else
    for key, value in pairs(object) do visit(value, key) end
  end
end

local function is_object(value) return type(value) == "table" end

local function steps_of(path)
  local parts = {}
  for part in path:gmatch "[^.]+" do parts[#parts + 1] = part end
  if parts[#parts] == "**" then parts[#parts + 1] = "*" end
  return parts
end

-- The state of a path: the objects at each step, and the stored values at its end.
--
-- The text has a line for each object that the path reaches below `**`, and for each key and value
-- at a step of it.
local function footprint(watcher)
  local parts = watcher.steps
  local places, seen = {}, {}
  local first_deep
  for i, part in ipairs(parts) do
    if part == "**" and not first_deep then first_deep = i end
  end
  local function note(...) places[table.concat({ ... }, " ")] = true end
  local function walk(object, at)
    if not is_object(object) then return end
    local part = parts[at]
    if not part then return end
    seen[at] = seen[at] or {}
    if seen[at][object] then return end
    seen[at][object] = true
    local kind = world.kinds[object]
    if part == "**" then
      note("deep", at, show(object))
      walk(object, at + 1)
      -- If `**` begins at an opaque object, the object is watched one level deep.
      if world.opaque[object] then return end
      for_each_member(object, function(value, key)
        if not is_object(key) and is_object(value) and not world.opaque[value] then
          walk(value, at)
        end
      end)
    elseif part == "*" then
      for_each_member(object, function(value, key)
        note("member", at, show(object), show(key), show(value))
        walk(value, at + 1)
      end)
    elseif part == "count" then
      if kind == "array" or kind == "set" or kind == "dictionary" then
        note("count", at, show(object), obs.get(object, "count"))
      else
        note("key", at, show(object), "count", show(object.count))
      end
    elseif part == "#1" then
      if kind ~= "set" and kind ~= "dictionary" then
        note("slot", at, show(object), show(object[1]))
      end
    else
      if kind == "array" or kind == "set" then
        -- Before `**`, a name over a collection applies to its elements (C8).
        if first_deep and at > first_deep then return end
        for_each_member(object, function(value)
          if is_object(value) then
            note("element", at, show(object), show(value))
            walk(value, at)
          end
        end)
        return
      end
      local value = object[part]
      note("key", at, show(object), part, show(value))
      walk(value, at + 1)
    end
  end
  walk(watcher.root, 1)
  return places
end

local function differs(a, b)
  for place in pairs(a) do
    if not b[place] then return place end
  end
  for place in pairs(b) do
    if not a[place] then return place end
  end
end

local function random_value()
  local kind = random(10)
  if kind <= 6 then return pick(world.objects) end
  if kind == 7 then return new_object() end
  if kind == 8 then return nil end
  world.last = world.last + 1
  return world.last
end

local function write()
  local object = pick(world.objects)
  local kind = world.kinds[object]
  if kind == "table" then
    local name, value = pick(NAMES), random_value()
    step("%s.%s = %s", show(object), name, show(value))
    object[name] = value
  elseif kind == "list" then
    local n = #object
    if random(3) == 1 and n > 0 then
      local at = random(n)
      step("table.remove(%s, %d)", show(object), at)
      table.remove(object, at)
    else
      local at, value = random(n + 1), random_value() or 7
      step("table.insert(%s, %d, %s)", show(object), at, show(value))
      table.insert(object, at, value)
    end
  elseif kind == "array" then
    local n = object.count
    local choice = random(5)
    if choice == 1 and n > 0 then
      local at = random(n)
      step("%s:remove(%d)", show(object), at)
      object:remove(at)
    elseif choice == 2 and n > 1 then
      local from, to = random(n), random(n)
      step("%s:move(%d, %d)", show(object), from, to)
      object:move(from, to)
    elseif choice == 3 and n > 0 then
      local at, value = random(n), random_value() or 7
      step("%s:replace(%d, %s)", show(object), at, show(value))
      object:replace(at, value)
    elseif choice == 4 and random(4) == 1 then
      step("%s:clear()", show(object))
      object:clear()
    else
      local at, value = random(n + 1), random_value() or 7
      step("%s:insert(%d, %s)", show(object), at, show(value))
      object:insert(at, value)
    end
  elseif kind == "set" then
    local value = pick(world.objects)
    if object:contains(value) then
      step("%s:remove(%s)", show(object), show(value))
      object:remove(value)
    else
      step("%s:add(%s)", show(object), show(value))
      object:add(value)
    end
  else
    local key, value = pick(NAMES), random_value()
    step("%s[%s] = %s", show(object), key, show(value))
    object[key] = value
  end
end

local function register()
  local root
  repeat root = pick(world.objects) until world.kinds[root] == "table"
  local path = pick(PATHS)
  local watcher = { root = root, path = path, steps = steps_of(path), calls = 0, heard = 0 }
  local immediate = random(4) == 1
  step("watcher %d: %s, %s%s", #world.watchers + 1, show(root), path, immediate and " !" or "")
  local ok, handle = pcall(obs.observe, root, path, function()
    watcher.calls = watcher.calls + 1
  end, { immediate = immediate })
  if not ok then
    -- Some objects do not accept such a component.
    step("  %s", handle)
    return
  end
  watcher.handle, watcher.immediate = handle, immediate
  world.watchers[#world.watchers + 1] = watcher
end

local function turn()
  for _, watcher in ipairs(world.watchers) do
    watcher.calls = 0
    watcher.before = footprint(watcher)
  end
  -- Immediate watchers hear each step; the others hear the result.
  local writes = random(4)
  local heard = {}
  for _ = 1, writes do
    write()
    for i, watcher in ipairs(world.watchers) do
      if watcher.immediate then
        local after = footprint(watcher)
        local place = differs(watcher.before, after)
        if place and watcher.calls == 0 then
          fail("immediate watcher %d (%s) was not called: %s", i, watcher.path, place)
        end
        if not place and watcher.calls > 0 then
          fail("immediate watcher %d (%s) was called %d times", i, watcher.path, watcher.calls)
        end
        watcher.before, watcher.calls = after, 0
      end
    end
  end
  step("flush")
  obs.flush()
  for i, watcher in ipairs(world.watchers) do
    if not watcher.immediate then
      local place = differs(watcher.before, footprint(watcher))
      if place and watcher.calls ~= 1 then
        fail("watcher %d (%s) was called %d times: %s", i, watcher.path, watcher.calls, place)
      end
      -- A value that is written and restored is a change, as values are not compared.
      if not place and watcher.calls > 0 and writes == 1 then
        fail("watcher %d (%s) was called", i, watcher.path)
      end
    end
  end
end

local function run(seed)
  math.randomseed(seed)
  steps = {}
  world = {
    seed = seed, objects = {}, kinds = {}, names = {}, watchers = {}, opaque = {}, last = 100,
  }
  for _ = 1, 4 do new_object "table" end
  for _ = 1, 4 do new_object() end
  for _ = 1, random(20) do write() end
  obs.flush()
  for _ = 1, 40 do
    local choice = random(12)
    if choice <= 2 and #world.watchers < 8 then
      register()
    elseif choice == 3 and #world.watchers > 0 then
      local at = random(#world.watchers)
      step("stop %d", at)
      table.remove(world.watchers, at).handle:stop()
    elseif choice == 4 and random(4) == 1 then
      local object = pick(world.objects)
      if not world.opaque[object] then
        step("opaque %s", show(object))
        obs.opaque(object)
        world.opaque[object] = true
        obs.flush()
      end
    else
      turn()
    end
  end
  for _, watcher in ipairs(world.watchers) do watcher.handle:stop() end
  obs.flush()
  for _, object in ipairs(world.objects) do
    if #obs.observed_keys(object) > 0 then
      fail("%s is still observed", show(object))
    end
  end
end

local first, count = tonumber(arg and arg[1]) or 1, tonumber(arg and arg[2]) or 150
local function programs()
  for seed = first, first + count - 1 do run(seed) end
end
if case then case("X1: random graphs below '**'", programs) else programs() end
