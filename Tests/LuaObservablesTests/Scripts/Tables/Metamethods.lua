-- L7: operators and methods of a table's metatable keep working, also those added later.
local obs = require "obs"
local function nothing() end

-- Added after the observation.
local Vector = {}
Vector.__index = Vector
local a, b = setmetatable({x = 1}, Vector), setmetatable({x = 2}, Vector)
obs.observe(a, "x", nothing)
obs.observe(b, "*", nothing)
Vector.__add = function(u, v) return setmetatable({x = u.x + v.x}, Vector) end
Vector.__eq = function(u, v) return u.x == v.x end
Vector.__lt = function(u, v) return u.x < v.x end
rawset(Vector, "__le", function(u, v) return u.x <= v.x end)
Vector.__len = function(u) return u.x end
Vector.__concat = function(u, v) return "concat" end
Vector.__call = function(self, ...) return self.x, select("#", ...) end
Vector.__tostring = function(u) return "(" .. u.x .. ")" end
Vector.__unm = function(u) return -u.x end
Vector.__name = "Vector"
function Vector:double() return self.x * 2 end
assert((a + b).x == 3 and a < b and a <= b and not (a == b) and #a == 1 and #b == 2)
assert(a .. "s" == "concat" and "s" .. a == "concat" and -b == -2)
assert(tostring(a) == "(1)" and string.format("%s", b) == "(2)" and a:double() == 2)
assert(select(2, a(nil, nil)) == 2)
b.x = 1
assert(a == b)

-- The operand order decides.
local L = setmetatable({}, {__sub = function() return "left" end})
local R = setmetatable({}, {__sub = function() return "right" end})
obs.observe(L, "*", nothing)
obs.observe(R, "k", nothing)
assert(L - R == "left" and R - L == "right" and 1 - R == "right" and "s" - R == "right")

-- `__index` and `__newindex` functions: positions of errors, yields, tail calls.
local log = {}
local strict = setmetatable({known = 1}, {
  __index = function(_, k) error("no field " .. k, 2) end,
  __newindex = function(t, k, v)
    if k == "bad" then error("no new field " .. k, 2) end
    log[#log + 1] = k
    rawset(t, k, v)
  end,
})
obs.observe(strict, "known", nothing)
obs.observe(strict, "later", nothing)
local line = debug.getinfo(1, "l").currentline
local ok, message = pcall(function() return strict.unknown end)
assert(message:find("Metamethods.lua:" .. line + 1 .. ": no field unknown", 1, true), message)
ok, message = pcall(function() strict.bad = 1 end)
assert(message:find("Metamethods.lua:" .. line + 3 .. ": no new field bad", 1, true), message)
strict.later = 2
strict.later = 3
strict.known = 4
assert(table.concat(log, " ") == "later" and strict.later == 3 and strict.known == 4)

local slow = setmetatable({}, {
  __index = function(_, k) return coroutine.yield(k) end,
  __add = function() return coroutine.yield("add") end,
})
obs.observe(slow, "*", nothing)
local co = coroutine.wrap(function() return slow.x + (slow + 1) end)
assert(co() == "x" and co(5) == "add" and co(6) == 11)
co = coroutine.wrap(function() return obs.get({ at = slow, items = { slow } }, "items.@sum.x") end)
assert(co() == "x" and co(7) == 7)

-- `__newindex` and `__index` tables are followed.
local backing = {}
local front = setmetatable({}, {__newindex = backing, __index = backing})
obs.observe(front, "k", nothing)
obs.observe(backing, "k", nothing)
front.k = 1
assert(rawget(front, "k") == nil and rawget(backing, "k") == 1 and front.k == 1)

-- An inherited value counts as the value (T5); so does going back to it.
local calls = 0
local child = setmetatable({}, {__index = {color = "red"}})
obs.observe(child, "color", function() calls = calls + 1 end)
child.color = "red"
obs.flush()
child.color = nil
obs.flush()
assert(calls == 0)
child.color = "blue"
obs.flush()
assert(calls == 1)

-- Another metatable, then none.
setmetatable(child, {__index = function(_, k) return k .. "!" end, __len = function() return 7 end})
assert(child.absent == "absent!" and child.color == "blue" and #child == 7)
setmetatable(child, nil)
assert(child.absent == nil and child.color == "blue" and #child == 0)

-- An observed class.
local Base = {greet = function() return "base" end}
Base.__index = Base
local thing = setmetatable({}, Base)
obs.observe(Base, "greet", nothing)
obs.observe(thing, "greet", nothing)
assert(thing.greet() == "base")
Base.greet = function() return "new" end
assert(thing.greet() == "new")

-- `__close`.
local closed
do
  local guard <close> = setmetatable({x = 1}, {__close = function(g) closed = g.x end})
  obs.observe(guard, "x", nothing)
  guard.x = 2
end
assert(closed == 2)

-- Values that are not functions, until they are removed or replaced.
for _, value in ipairs { true, 5, "text", {} } do
  local meta = { __eq = value, __add = value, __len = value, __call = value, __tostring = value }
  local x, y = setmetatable({ n = 1 }, meta), setmetatable({ n = 1 }, meta)
  obs.observe(x, "n", nothing)
  obs.observe(y, "n", nothing)
  local uses = {
    __eq = function() return x == y end, __add = function() return x + 1 end,
    __len = function() return #x end, __call = function() return (x(1)) end,
    __tostring = function() return tostring(x) end,
  }
  local message = "attempt to call a " .. type(value) .. " value"
  for name, use in pairs(uses) do
    local ok, found = pcall(use)
    assert(not ok and found:find(message, 1, true), found)
    meta[name] = function() return "replaced" end
    assert(use() == (name == "__eq" or "replaced"), name)
  end
  for name in pairs(uses) do meta[name] = value end
  for name in pairs(uses) do meta[name] = nil end
  assert(x ~= y and #x == 0 and tostring(x):find("^table: "))
  local ok, found = pcall(uses.__add)
  assert(not ok and found:find "attempt to perform arithmetic on a table value", found)
  ok, found = pcall(uses.__call)
  assert(not ok and found:find "attempt to call a table value %(upvalue 'x'%)", found)
end
