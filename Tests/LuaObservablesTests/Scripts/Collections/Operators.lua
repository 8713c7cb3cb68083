-- Rule C9: `obs.get` evaluates collection operators.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function order()
  return {
    items = {
      { name = "pen", price = 1, tags = { "a", "b" }, parts = { { weight = 1 }, { weight = 2 } } },
      { name = "ink", price = 2, tags = { "b", "c" }, parts = {} },
      { name = "cap", tags = {}, parts = { { weight = 4 } } },
    },
  }
end
local function list(values) return table.concat(values, " ") end

check("numbers", function()
  local t = order()
  eq(obs.get(t, "items.@sum.price"), 3)
  eq(math.type(obs.get(t, "items.@sum.price")), "integer")
  eq(obs.get(t, "items.@avg.price"), 1.5)
  eq(obs.get(t, "items.@min.price"), 1)
  eq(obs.get(t, "items.@max.price"), 2)
  eq(obs.get({ 1, 2.5 }, "@sum"), 3.5)
  eq(obs.get({ math.maxinteger, 1 }, "@sum"), math.mininteger)
  eq(obs.get({ 1e308, 1e308, -1e308 }, "@sum"), 1e308)
  local nan = obs.get({ 1, 0 / 0 }, "@sum")
  assert(nan ~= nan)
end)
check("empty collections", function()
  eq(obs.get({}, "@sum"), 0)
  eq(obs.get({}, "@count"), 0)
  for _, operator in ipairs { "@avg", "@min", "@max", "@first", "@last" } do
    eq(obs.get({}, operator), nil)
  end
  eq(obs.get({}, "@any"), false)
  eq(obs.get({}, "@all"), true)
  eq(#obs.get({}, "@unionOfObjects"), 0)
end)
check("strings have a minimum and a maximum, too", function()
  eq(obs.get(order(), "items.@min.name"), "cap")
  eq(obs.get(order(), "items.@max.name"), "pen")
end)
check("@first, @last and @count, with a path behind", function()
  local t = order()
  eq(obs.get(t, "items.@first.name"), "pen")
  eq(obs.get(t, "items.@last"), t.items[3])
  eq(obs.get(t, "items.@last.parts.@first.weight"), 4)
  eq(obs.get(t, "items.@count"), 3)
end)
check("@any and @all use Lua's truth values", function()
  eq(obs.get({ false, 0 }, "@any"), true)
  eq(obs.get({ true, false }, "@all"), false)
  eq(obs.get(order(), "items.@all.price"), false)
  eq(obs.get(order(), "items.@all.name"), true)
end)
check("unions are new plain lists in the order of first appearance", function()
  local t = order()
  eq(list(obs.get(t, "items.@unionOfObjects.price")), "1 2")
  eq(list(obs.get(t, "items.@unionOfArrays.tags")), "a b b c")
  eq(list(obs.get(t, "items.@distinctUnionOfArrays.tags")), "a b c")
  eq(list(obs.get({ 2, 1, 2.0, "2", 1 }, "@distinctUnionOfObjects")), "2 1 2")
  eq(#obs.get({ 0 / 0, 0 / 0 }, "@distinctUnionOfObjects"), 1)
  local ends = ("x"):rep(40000)
  local long = { ends .. "b" .. ends, ends .. "a" .. ends, ends .. "b" .. ends }
  eq(#obs.get(long, "@distinctUnionOfObjects"), 2)
  eq(obs.get(long, "@min"), long[2])
  eq(obs.get(long, "@max"), long[1])
  assert(obs.get(t, "items.@unionOfObjects") ~= t.items)
  eq(getmetatable(obs.get(t, "items.@unionOfObjects")), nil)
end)
check("operators nest", function()
  local t = order()
  eq(obs.get(t, "items.@sum.parts.@sum.weight"), 7)
  eq(obs.get(t, "items.@max.parts.@count"), 2)
  eq(list(obs.get(t, "items.@unionOfArrays.parts.@unionOfObjects.weight")), "1 2 4")
end)
check("nothing before the operator gives nil", function()
  eq(obs.get({}, "items.@sum.price"), nil)
  eq(obs.get({ items = 3 }, "items.@sum.price"), nil)
  eq(obs.get({}, "items.@first.name"), nil)
end)
check("an error names the element", function()
  local t = order()
  t.items[2].price = "free"
  fails("Operators.lua:%d+: key path 'items.@sum.price': "
      .. "element 2 of 'items': the string 'free' under '@sum'",
    function() return (obs.get(t, "items.@sum.price")) end)
  fails("element 1 of 'items': a table under '@avg'", function()
    return (obs.get(t, "items.@avg"))
  end)
  fails("element 2: the boolean true under '@sum'", obs.get, { 1, true }, "@sum")
  fails("element", obs.get, { 1, "x" }, "@max")
end)
check("unknown operators and meaningless paths", function()
  fails("did you mean '@sum'", obs.get, {}, "@summ.x")
  fails("nothing can follow '@count'", obs.get, {}, "@count.x")
  fails("nest the operators", obs.get, {}, "@sum.*")
  fails("write '#1'", obs.get, {}, "@sum.1")
  fails("many values.*@unionOfObjects", obs.get, order(), "items.*.price")
end)
check("observed values are read from the engine, and are the same", function()
  local t = order()
  local paths = {
    "items.@sum.price", "items.@avg.price", "items.@max.name", "items.@sum.parts.@count",
    "items.@distinctUnionOfArrays.tags",
  }
  local function read()
    local values = {}
    for i, path in ipairs(paths) do
      local value = obs.get(t, path)
      values[i] = type(value) == "table" and list(value) or tostring(value)
    end
    return list(values)
  end
  local before = read()
  local observed = pcall(obs.observe, t, paths, function() end)
  eq(read(), before)
  t.items[1].price = 40
  table.insert(t.items, { name = "zip", price = 2, tags = { "z" }, parts = {} })
  local after = read()
  if observed then obs.stop(t) end
  eq(read(), after)
end)
check("an ordered union changes when its parts change places", function()
  local a, b = { tag = 1, tags = { 1, 2 } }, { tag = 2, tags = { 3 } }
  local t = { items = { a, b } }
  local calls = {}
  for _, path in ipairs { "items.@unionOfObjects.tag", "items.@unionOfArrays.tags" } do
    obs.observe(t, path, function() calls[#calls + 1] = table.concat(obs.get(t, path), " ") end)
  end
  local function told(change)
    for i in ipairs(calls) do calls[i] = nil end
    change()
    obs.flush()
    return table.concat(calls, ", ")
  end
  eq(told(function() a.tag, b.tag = 2, 1 end), "2 1")
  eq(told(function() a.tags, b.tags = b.tags, a.tags end), "3 1 2")
  eq(told(function() b.tags = { 2, 1 } end), "3 2 1")
  eq(told(function() b.tags = { 2, 1 } end), "")
  eq(told(function()
    a.tag, b.tag = 1, 2
    a.tag, b.tag = 2, 1
  end), "")
end)

check("inherited values count, as elsewhere", function()
  local base = { __index = { price = 5 } }
  eq(obs.get({ setmetatable({}, base), { price = 1 } }, "@sum.price"), 6)
end)

finish()
