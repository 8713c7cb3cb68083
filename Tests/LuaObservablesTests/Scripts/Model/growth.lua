-- The time of a write is proportional to the number of properties that depend on it: random graphs
-- that are 8 times as large take about 8 times as many steps of the engine.
--
-- In debug builds the tests define the function `engine_steps`, which returns the number of steps.
local obs = require "obs"
local programs = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "../Support/programs.lua")
local growth = {}

local SMALL, TIMES = 12, 8
-- Some steps are taken in graphs of any size.
local MOST_TIMES, SPARE = 14, 300

local function pick(list) return list[math.random(#list)] end

-- How a property depends on the objects in its list `c`: the dependencies, and the getter.
local function sum(self)
  local x = 0
  for i = 1, #self.c do x = x + self.c[i].w end
  return x
end
local function caught_sum(self)
  local x = 0
  for i = 1, #self.c do
    local ok, w = pcall(function() return self.c[i].w end)
    x = x + (ok and w or 0)
  end
  return x
end
local KINDS = {
  tracked = {nil, sum}, caught = {nil, caught_sum},
  declared = {"each", sum}, wildcard = {{"c.*.w"}, sum},
  operator = {{"c.@sum.w"}, function(self) return obs.get(self, "c.@sum.w") end},
  indirect = {"each object", function(self)
    local x = 0
    for i = 1, #self.c do x = x + (self.c[i].o and self.c[i].o.w or self.c[i].w) end
    return x
  end},
}
local RESULTS = {
  sum = function(x) return x end, same = function(x) return x > 0 and 1 or 0 end,
  half = function(x) return x // 2 end,
  fails = function(x) return x % 3 > 0 and x or error("no value", 0) end,
}
local KIND_NAMES = {"tracked", "tracked", "caught", "declared", "wildcard", "operator", "indirect"}
local RESULT_NAMES = {"sum", "same", "same", "half", "fails"}
local OPERATIONS = {
  "write", "write", "write all", "write all", "write all", "replace", "replace all", "append",
  "remove", "read", "read", "read", "read", "watch", "watch", "watch all", "watch at once",
  "invalidate", "transaction", "flush",
}

-- The first entry is about the sources. A layer is one object, or as many as the graph is large.
function growth.program(seed)
  math.randomseed(seed)
  local program = {{name = "sources", is_many = math.random(2) == 1}}
  local layers = math.random(2, 4)
  for i = 2, layers do
    local is_many = math.random(2) == 1
    -- Each read of a property that fails computes it again (Z8), so it has one reader, which
    -- catches.
    local kind = pick(KIND_NAMES)
    if program[i - 1].result == "fails" then kind = "caught" end
    local result = pick(RESULT_NAMES)
    if result == "fails" and not is_many then result = "same" end
    program[i] = {name = "layer", is_many = is_many, kind = kind, result = result}
  end
  for _ = 1, math.random(4, 12) do
    program[#program + 1] = {name = pick(OPERATIONS), layer = math.random(2, layers)}
  end
  return program
end

-- Writes of many objects are batches: immediate watchers of all of them are called only once.
local operations = {}

local function write(world, first, last)
  for i = first, last do world[1][i].w = world[1][i].w + 1 end
end
function operations.write(world) write(world, #world[1], #world[1]) end
operations["write all"] = function(world) obs.batch(write, world, 1, #world[1]) end
function operations.transaction(world)
  obs.transaction(world[1], function()
    obs.batch(write, world, 1, #world[1])
    error("undone", 0)
  end)
end
local function each_list(world, body)
  obs.batch(function() for _, object in ipairs(world[2]) do body(object.c) end end)
end
function operations.replace(world)
  each_list(world, function(list) list[#list] = {w = 3} end)
end
operations["replace all"] = function(world)
  each_list(world, function(list)
    local others = {}
    for i = 1, #list do others[i] = {w = i} end
    obs.assign(list, others)
  end)
end
function operations.append(world)
  each_list(world, function(list) list[#list + 1] = {w = 2} end)
end
function operations.remove(world)
  each_list(world, function(list) if #list > 1 then table.remove(list) end end)
end
function operations.read(world, layer)
  for _, object in ipairs(world[layer]) do pcall(function() return object.w end) end
end
local function watch(world, object, path, options)
  world[object] = true
  world.watchers[#world.watchers + 1] = obs.observe(object, path, function() end, options)
end
function operations.watch(world, layer)
  for _, object in ipairs(world[layer]) do watch(world, object, "w") end
end
operations["watch all"] = function(world, layer) watch(world, {c = world[layer]}, "c.*.w") end
operations["watch at once"] = function(world, layer)
  for _, object in ipairs(world[layer]) do watch(world, object, "w", {immediate = true}) end
end
function operations.invalidate(world, layer)
  obs.batch(function()
    for _, object in ipairs(world[layer]) do obs.invalidate(object, "w") end
  end)
end
function operations.flush() end

-- A graph whose layers have `n` objects or one.
local function build(program, n)
  local world = {{}, watchers = {}}
  for i = 1, program[1].is_many and n or 1 do world[1][i] = {w = 1} end
  for number = 2, #program do
    local layer = program[number]
    if layer.name ~= "layer" then break end
    local before, objects = world[number - 1], {}
    for i = 1, layer.is_many and n or 1 do
      local list = layer.is_many and {before[i] or before[1]}
        or table.move(before, 1, #before, 1, {})
      local object = {c = list}
      local paths, get = table.unpack(KINDS[layer.kind], 1, 2)
      if type(paths) == "string" then
        local key = paths == "each" and "w" or "o.w"
        paths = {}
        for k, other in ipairs(list) do
          if key == "o.w" then
            obs.computed(other, "o", {"w"}, function(self) return {w = self.w} end)
          end
          paths[k] = {other, key}
        end
      end
      local result = RESULTS[layer.result]
      local function value(self) return result(get(self)) end
      if paths then obs.computed(object, "w", paths, value)
      else obs.computed(object, "w", value) end
      objects[i] = object
    end
    world[number] = objects
  end
  return world
end

-- The steps of each operation with the flush after it.
local function run(program, n)
  -- Otherwise objects of former programs would die in this one.
  collectgarbage()
  obs.flush()
  local world, counts = build(program, n), {}
  for i, entry in ipairs(program) do
    if operations[entry.name] and (not entry.layer or world[entry.layer]) then
      local before = engine_steps()
      operations[entry.name](world, entry.layer)
      obs.flush()
      counts[i] = engine_steps() - before
    end
  end
  for _, watcher in ipairs(world.watchers) do watcher:stop() end
  return counts
end

-- nil, or the difference.
function growth.check(program)
  -- Errors of watched getters have no reader.
  obs.on_error(function() end)
  local small, large = run(program, SMALL), run(program, TIMES * SMALL)
  obs.on_error(nil)
  for i, steps in pairs(small) do
    if large[i] > MOST_TIMES * steps + SPARE then
      return ("operation %d takes %d steps, and %d in a graph %d times as large"):format(
        i, steps, large[i], TIMES)
    end
  end
end

local shrinking = {difference = function(_, shorter)
  return shorter[1] and shorter[1].name == "sources" and growth.check(shorter)
end}
function growth.shrunk(program, message)
  return (programs.shrink(shrinking, nil, program, message, function() return {} end))
end

function growth.text(program)
  local lines = {}
  for i, entry in ipairs(program) do
    lines[i] = ("%d: %s %s %s %s %s"):format(i, entry.name, entry.is_many and "many" or "",
      entry.kind or "", entry.result or "", entry.layer or "")
  end
  return table.concat(lines, "\n")
end

return growth
