-- L7 and L6: finalizers, weak tables, resurrection, collection.
local obs = require "obs"
local function nothing() end
local function collect()
  obs.flush()
  collectgarbage()
  collectgarbage()
end

-- A finalizer runs once, with the written value. A finalizer set too late for Lua does not run.
local log = {}
do
  local t = setmetatable({x = 1}, {__gc = function(t) log[#log + 1] = t.x end})
  obs.observe(t, "x", nothing)
  t.x = 2
  local late = {}
  local u = setmetatable({x = 3}, late)
  late.__gc = function() log[#log + 1] = "never" end
  obs.observe(u, "x", nothing)
  obs.stop(u, "x")
end
collect()
assert(table.concat(log, " ") == "2")

-- A table that its finalizer brings back keeps its watchers.
local back, calls = nil, 0
do
  local t = setmetatable({x = 1}, {__gc = function(t) back = t end})
  obs.observe(t, "x", function() calls = calls + 1 end)
end
collect()
back.x = 5
assert(back.x == 5 and rawget(back, "x") == 5)
obs.flush()
assert(calls == 1)
back = nil
collect()

-- The same for a table that came back after its watchers had ended, and was watched again.
local saved
do
  local of_table = {
    __gc = function(t)
      if back == "late" then
        setmetatable({ t }, { __gc = function(holder) saved = holder[1] end })
      else
        saved = t
      end
    end,
  }
  back, calls = "late", 0
  do
    local t = setmetatable({ x = 1 }, of_table)
    obs.observe(t, "x", function() calls = calls + 1 end)
  end
  collect()
  saved.x = 2
  obs.flush()
  assert(calls == 0 and saved.x == 2)
  back = nil
  obs.observe(saved, "x", function() calls = calls + 1 end)
  setmetatable(saved, of_table)
  saved = nil
  collect()
  saved.x = 3
  obs.flush()
  assert(calls == 1 and saved.x == 3)
  saved = nil
  collect()
end

-- Weak tables stay weak.
local weak = setmetatable({}, {__mode = "v"})
obs.observe(weak, "a", nothing)
weak.a, weak.b, weak.c = {}, {}, 1
collect()
assert(weak.a == nil and weak.b == nil and weak.c == 1)

-- A callback that holds its table is collected, and so are tables that hold each other's callbacks.
local gone = setmetatable({}, {__mode = "v"})
do
  local a, b = {x = 1}, {x = 1}
  gone[1], gone[2] = a, b
  obs.observe(a, "x", function() return a, b end)
  obs.observe(b, "x", function() return a, b end)
end
collect()
collect()
assert(gone[1] == nil and gone[2] == nil)
