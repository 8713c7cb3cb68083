-- Calls every function and method of the module with arguments of all kinds, right and wrong. Each
-- call works or raises an error with a text; its results can be watched, written and dropped.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- Each call gets new ones, so that calls do not affect each other.
local makers = {
  function() return nil end, function() return true end, function() return false end,
  function() return 0 end, function() return 1 end, function() return -1 end,
  function() return 1.5 end, function() return 0 / 0 end, function() return math.huge end,
  function() return math.mininteger end, function() return "" end, function() return "a" end,
  function() return "a.b" end, function() return "*" end,
  function() return "#1" end, function() return "1" end, function() return "@count" end,
  function() return "__index" end, function() return "a\0b" end, function() return "\xff.x" end,
  function() return {} end, function() return { 1, 2, 3 } end, function() return { "a", "b" } end,
  function() return { a = 1, b = { a = 2 } } end, function() return { {}, { {} } } end,
  function() return { get = nothing, deps = { "a" } } end,
  function() return { [nothing] = nothing } end,
  function() return { initial = true, immediate = true, equals = function() return false end } end,
  function() return { observer = {}, once = true, name = "x", on_end = nothing } end,
  function() return setmetatable({}, { __index = function() error "index" end }) end,
  function() return setmetatable({}, { __newindex = function() error "newindex" end }) end,
  function() return setmetatable({}, { __call = function() return 1 end }) end,
  function()
    return setmetatable({}, { __metatable = false, __name = 5, __tostring = 5, __pairs = 5 })
  end,
  function() return nothing end, function() return print and math.floor end,
  function() return function() error "callback" end end,
  function() return function(...) return ... end end,
  function() return coroutine.create(nothing) end, function() return obs.path("a", 1) end,
  function() return obs.array { 1, { a = 1 } } end, function() return obs.set_of { 1, "a" } end,
  function() return obs.dictionary { a = 1 } end,
  function() return obs.observe({ a = 1 }, "a", nothing) end,
  function() return obs.after(1, nothing) end, function() return obs.scope(nothing) end,
  function() return obs.task(nothing) end, function() return obs.model("M", { a = 1 }) end,
  function() return obs.model("M", { a = 1, b = obs.computed({ "a" }, nothing) }) {} end,
  function()
    local t = { a = 1 }
    obs.observe(t, "*", nothing)
    obs.lazy(t, { 1, true, "l" }, nothing)
    return t
  end,
}

-- Functions that would end or stop the script, or write to the outside.
local left_out = {
  break_on_change = true, inspect = true, mirror = true, on_exit = true, none = true,
  start_recording = true,
}

local random = math.random
math.randomseed(42)

local function arguments()
  local list = { n = random(0, 5) }
  for i = 1, list.n do list[i] = makers[random(#makers)]() end
  return list
end

local function put_away(...)
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    -- Timers, watchers, scopes and tasks.
    if type(value) == "userdata" or type(value) == "table" then
      pcall(function() if value.stop then value:stop() end end)
      pcall(function() if value.cancel then value:cancel() end end)
    end
  end
end

local function try(name, callee, list)
  local results = table.pack(pcall(callee, table.unpack(list, 1, list.n)))
  if not results[1] then
    local message = results[2]
    -- Errors raised by callbacks pass through; all others are texts of the module.
    assert(type(message) == "string", name .. ": " .. tostring(message))
    assert(not message:find("bug", 1, true) and not message:find("obs:%d+:"),
      name .. ": " .. message)
  end
  put_away(table.unpack(results, 2, results.n))
  put_away(table.unpack(list, 1, list.n))
  obs.on_error(nothing)
  obs.log(nil)
  obs.record(false)
end

local limits = obs.limits()
local names = {}
for name, value in pairs(obs) do
  if type(value) == "function" and not left_out[name] then names[#names + 1] = name end
end
table.sort(names)

for _, name in ipairs(names) do
  check("obs." .. name, function()
    for _ = 1, 120 do
      local list = arguments()
      try("obs." .. name, obs[name], list)
    end
    obs.limits(limits)
    obs.flush()
    collectgarbage()
  end)
end
for title, make in pairs {
  Watcher = function() return obs.observe({ a = 1 }, "a", nothing) end,
  Timer = function() return obs.after(1, nothing) end,
  Task = function() return obs.task(nothing) end,
  Scope = function() return obs.scope(nothing) end,
  Array = function() return obs.array { 1, 2 } end,
  Set = function() return obs.set_of { 1, 2 } end,
} do
  check("methods of " .. title, function()
    for _, name in ipairs {
      "stop", "pause", "resume", "observe", "run", "schedule", "ref", "unref", "await", "cancel",
      "add", "append", "insert", "remove", "remove_value", "replace", "move", "swap", "sort",
      "reverse", "clear", "set", "index_of", "contains", "union", "intersect", "subtract", "key_of",
      "object_for", "values",
    } do
      for _ = 1, 10 do
        local object = make()
        local method = object[name]
        if type(method) == "function" then
          local list = arguments()
          local first = random(4) > 1 and object or list[1]
          try(title .. ":" .. name, function(...) return method(first, ...) end, list)
        end
        put_away(object)
      end
    end
    obs.flush()
    collectgarbage()
  end)
end

obs.on_error(nil)
finish()
