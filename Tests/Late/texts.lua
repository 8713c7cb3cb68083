-- Calls a function of the module with a text of ten million bytes in each position. Arguments are
-- the name of the function, and the character of which the text is made, as an escape or as itself.
--
-- The other arguments are those of the call in calls.lua. The text replaces each argument, each
-- field of a table, its key, the name in a metatable, and the error of a callback; what the call
-- makes is then described in all ways. Prints "ready", for each case its number, the CPU time of
-- its turn in milliseconds, and its title, and "done" at the end. Then waits until the process is
-- ended.
local obs = require "obs"
local name, character = arg[1], load("return '" .. arg[2] .. "'")()
local long = character:rep(10000000 // #character)

-- Takes the arguments of the function's call in calls.lua.
local taken
local real_require = require
local seen = setmetatable({}, { __index = function(_, key)
  local value = obs[key]
  if "obs." .. key ~= name or type(value) ~= "function" then return value end
  return function(...)
    taken = taken or table.pack(...)
    return value(...)
  end
end })
function require(module) return module == "obs" and seen or real_require(module) end
local functions = real_require "calls"
local nothing = functions.nothing
require = real_require

local instances = {
  Watcher = function() return obs.observe({ x = 1 }, "x", nothing, { name = long }) end,
  Scope = function() return obs.scope(nothing) end,
  Array = function() return obs.array { 1, "a" } end,
  Set = function() return obs.set_of { 1, "a", long } end,
  History = function()
    local history = obs.history { x = 1 }
    history:mark "a"
    return history
  end,
  Timer = function() return obs.after(1e6, nothing) end,
  Task = function() return obs.task(function() obs.sleep(1e6) end) end,
}

local class, method = name:match "^(%w+):(.*)$"
-- Makes new arguments for each case.
local function arguments()
  if class then return table.pack(instances[class](), "a", 1) end
  taken = nil
  pcall(functions.calls[name:match "^obs%.(.*)"], 2)
  return taken
end
local function call(values)
  if class then return values[1][method](table.unpack(values, 1, values.n)) end
  return obs[name:match "^obs%.(.*)"](table.unpack(values, 1, values.n))
end

local function copy(table)
  local made = {}
  for key, value in pairs(table) do made[key] = value end
  return made
end
local function fail() error(long, 0) end

-- Each makes a value from the usual one, or nil.
local kinds = {
  text = function() return long end,
  list = function() return { long } end,
  key = function() return { [long] = long } end,
  path = function() return obs.path(long) end,
  paths = function() return { obs.path("a", long) } end,
  named = function() return setmetatable({ x = 1, list = {} }, { __name = long }) end,
  described = function()
    return setmetatable({}, { __tostring = function() return long end })
  end,
  failing = function(value) return type(value) == "function" and fail or nil end,
  change = function() return { { path = { long }, kind = "set", new = long, old = 1 } } end,
}

local cases = {}
local function add(title, change)
  cases[#cases + 1] = { title = title, run = function()
    local values = arguments()
    if not values then return end
    change(values)
    local results = table.pack(pcall(call, values))
    obs.flush()
    for _, value in ipairs { values[1], results[2] } do
      pcall(tostring, value)
      if type(value) == "table" then
        pcall(function() value[long] = long end)
        pcall(obs.flush)
        for _, look in ipairs { obs.describe, obs.graph, obs.observed_keys, obs.valid_names } do
          pcall(look, value)
        end
        pcall(obs.graph, value, "json")
        pcall(obs.graph, value, "mermaid")
        pcall(obs.observer_count, value, long)
      end
      pcall(obs.why, value)
      pcall(obs.whynot, value)
    end
  end }
end

-- Safe hosts have no files and no connections.
local is_offered = not class or instances[class]
local usual = is_offered and arguments() or table.pack()
for position = 1, is_offered and math.max(usual.n, 2) + 1 or 0 do
  for kind, make in pairs(kinds) do
    add(position .. " " .. kind, function(values)
      local value = make(values[position])
      if value == nil then return end
      values[position], values.n = value, math.max(values.n, position)
    end)
  end
  if type(usual[position]) == "table" and not class then
    local keys = { "name", "deps", "get", "kind", "type", "model" }
    for key in pairs(usual[position]) do keys[#keys + 1] = key end
    for _, key in ipairs(keys) do
      add(position .. " field " .. tostring(key), function(values)
        values[position] = copy(values[position])
        values[position][key] = type(values[position][key]) == "function" and fail or long
      end)
    end
    add(position .. " with its key", function(values)
      values[position] = copy(values[position])
      values[position][long] = 1
    end)
  end
end

obs.on_error(nothing)
obs.record(true)
obs.log(function(event) return tostring(event) end)

local start
local function begin(number)
  if not cases[number] then
    print "done"
    return obs.after(1e6, nothing)
  end
  obs.next_turn(function()
    obs.next_turn(function()
      print(string.format("%d %.1f %s", number, (os.clock() - start) * 1000, cases[number].title))
      begin(number + 1)
    end)
    start = os.clock()
    pcall(cases[number].run)
  end)
end
print "ready"
begin(1)
