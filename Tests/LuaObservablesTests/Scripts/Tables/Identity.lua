-- L7: a script sees no difference between an observed table and a plain one.
local obs = require "obs"
local function nothing() end

-- All properties of a plain table.
local t = {1, 2, 3, name = "Ada"}
local address, plain = tostring(t), string.format("%p", t)
obs.observe(t, "*", nothing)
assert(tostring(t) == address and string.format("%p", t) == plain)
assert(type(t) == "table" and getmetatable(t) == nil and debug.getmetatable(t) == nil)
assert(#t == 3 and rawlen(t) == 3 and t == t and rawequal(t, t))
assert(rawget(t, 1) == 1 and rawget(t, "name") == "Ada" and rawget(t, "absent") == nil)
assert(t.__index == nil and t.__newindex == nil)
assert(select("#", table.unpack(t)) == 3 and table.concat(t, ",") == "1,2,3")
assert(pairs(t) == next and select(2, pairs(t)) == t)
for i, v in ipairs(t) do assert(i == v) end

-- The list part comes first, in order.
local order = {}
for k in pairs(t) do order[#order + 1] = tostring(k) end
assert(table.concat(order, " ") == "1 2 3 name")

-- Scripts still see its original metatable.
local Class = {}
Class.__index = Class
function Class:hello() return "hello " .. self.name end
local object = setmetatable({name = "Ada"}, Class)
obs.observe(object, "name", nothing)
assert(getmetatable(object) == Class and object:hello() == "hello Ada")
object.name = "Bea"
assert(object:hello() == "hello Bea" and rawget(object, "name") == "Bea")
Class.__metatable = "locked"
assert(getmetatable(object) == "locked" and debug.getmetatable(object) == Class)
local ok, message = pcall(setmetatable, object, {})
assert(not ok and message:find("cannot change a protected metatable", 1, true))

-- Names of functions and texts of errors.
for _, case in ipairs {
  {"bad argument #1 to 'insert' (table expected, got nil)", function() table.insert(nil, 1) end},
  {"wrong number of arguments to 'insert'", function() table.insert(t, 1, 2, 3) end},
  {"bad argument #2 to 'insert' (position out of bounds)", function() table.insert(t, 9, 1) end},
  {"bad argument #2 to 'sort' (function expected, got number)", function() table.sort(t, 1) end},
  {"Identity.lua:%d+: table index is nil", function() t[nil] = 1 end},
  {"Identity.lua:%d+: table index is NaN", function() t[0 / 0] = 1 end},
  {"bad argument #1 to 'rawget' (table expected, got no value)", function() rawget() end},
  {"bad argument #2 to 'setmetatable' (nil or table expected", function() setmetatable(t, 1) end},
} do
  local ok, message = pcall(case[2])
  assert(not ok and message:find(case[1], 1, not case[1]:find("%%d")), message)
end
