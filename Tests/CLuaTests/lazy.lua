-- Lazy keys: computed when they are read, kept until they are invalidated, and read-only.
local core = require("obs").core

local function fails(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and tostring(message):find(text, 1, true), tostring(message))
end
local function keys(t)
  local list = {}
  for key in pairs(t) do list[#list + 1] = tostring(key) end
  table.sort(list)
  return table.concat(list, " ")
end

local class = { greet = "hello" }
class.__index = class
local kinds = {
  function(t) return t end,
  function(t) return setmetatable(t, class) end,
  function(t) return setmetatable(t, { __index = function(_, k) return k == "greet" and "hello" or nil end }) end,
  function(t) return setmetatable(t, { __newindex = function(s, k, v) rawset(s, k, v) end }) end,
}
for number, make in ipairs(kinds) do
  local t, calls = make{ plain = 1, area = "gone" }, 0
  local function getter(self, key)
    assert(rawequal(self, t) and key == "area")
    calls = calls + 1
    if self.broken then error("broken", 0) end
    return calls * 10
  end
  core.lazy(t, "area", getter)
  assert(keys(t) == "plain" and calls == 0)
  assert(t.area == 10 and t.area == 10 and calls == 1)
  assert(keys(t) == "area plain" and rawget(t, "area") == 10)
  fails("'area' is read-only", function() t.area = 1 end)
  core.invalidate(t, "area")
  assert(keys(t) == "plain" and rawget(t, "area") == nil)
  fails("'area' is read-only", rawset, t, "area", 1)
  t.broken = true
  fails("broken", function() return t.area end)
  t.broken = nil
  assert(t.area == 30 and t.nothing == nil)
  assert(number == 1 or number == 4 or t.greet == "hello")
  -- Observed as a whole and no longer, it stays what it is.
  core.watch(t, true)
  core.invalidate(t, "area")
  assert(t.area == 40 and t.plain == 1)
  core.unwatch(t, true)
  core.settle(t)
  assert(t.area == 40 and calls == 4)
  core.watch(t, false, "area")
  core.invalidate(t, "area")
  assert(t.area == 50)
  core.unwatch(t, false, "area")
  core.settle(t)
  assert(t.area == 50)
  setmetatable(t, class)
  core.invalidate(t, "area")
  assert(t.area == 60 and t.greet == "hello")
  -- A getter may yield where Lua can.
  core.lazy(t, "area", function() return coroutine.yield() end)
  local thread = coroutine.wrap(function() return t.area end)
  thread()
  assert(thread("late") == "late" and t.area == "late")
  core.lazy(t, "area", nil)
  assert(t.area == nil)
  t.area = 7
  core.settle(t)
  assert(t.area == 7 and keys(t) == "area plain")
end

-- Nothing is kept alive by it.
local weak = setmetatable({}, { __mode = "k" })
for i = 1, 100 do
  local t = {}
  core.lazy(t, "self", function(self) return self end)
  assert(t.self == t)
  weak[t] = true
end
collectgarbage() collectgarbage()
assert(next(weak) == nil)
print "lazy"
