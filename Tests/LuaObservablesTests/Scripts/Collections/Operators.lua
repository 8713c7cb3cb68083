-- Rule C9: `obs.get` evaluates collection operators.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

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
local function text(value) return type(value) == "table" and list(value) or tostring(value) end

-- An object, then paths with their values; lists as text.
for sentence, case in pairs {
  ["numbers"] = {
    order(), ["items.@sum.price"] = "3", ["items.@avg.price"] = "1.5", ["items.@min.price"] = "1",
    ["items.@max.price"] = "2",
  },
  ["an empty collection"] = {
    {}, ["@sum"] = "0", ["@count"] = "0", ["@avg"] = "nil", ["@min"] = "nil", ["@max"] = "nil",
    ["@first"] = "nil", ["@last"] = "nil", ["@any"] = "false", ["@all"] = "true",
    ["@unionOfObjects"] = "",
  },
  ["integers and floats"] = { { 1, 2.5 }, ["@sum"] = "3.5" },
  ["integers wrap"] = { { math.maxinteger, 1 }, ["@sum"] = tostring(math.mininteger) },
  ["sums of floats are exact"] = { { 1e308, 1e308, -1e308 }, ["@sum"] = "1e+308" },
  ["strings have a minimum and a maximum, too"] = {
    order(), ["items.@min.name"] = "cap", ["items.@max.name"] = "pen",
  },
  ["@first, @last and @count, with a path behind"] = {
    order(), ["items.@first.name"] = "pen", ["items.@last.parts.@first.weight"] = "4",
    ["items.@count"] = "3",
  },
  ["@any uses Lua's truth values"] = { { false, 0 }, ["@any"] = "true" },
  ["@all uses Lua's truth values"] = { { true, false }, ["@all"] = "false" },
  ["@all of properties"] = {
    order(), ["items.@all.price"] = "false", ["items.@all.name"] = "true",
  },
  ["unions are in the order of first appearance"] = {
    order(), ["items.@unionOfObjects.price"] = "1 2", ["items.@unionOfArrays.tags"] = "a b b c",
    ["items.@distinctUnionOfArrays.tags"] = "a b c",
  },
  ["distinct values"] = { { 2, 1, 2.0, "2", 1 }, ["@distinctUnionOfObjects"] = "2 1 2" },
  ["operators nest"] = {
    order(), ["items.@sum.parts.@sum.weight"] = "7", ["items.@max.parts.@count"] = "2",
    ["items.@unionOfArrays.parts.@unionOfObjects.weight"] = "1 2 4",
  },
  ["nothing before the operator gives nil"] = {
    { number = 3 }, ["items.@sum.price"] = "nil", ["number.@sum.price"] = "nil",
    ["items.@first.name"] = "nil",
  },
  ["inherited values count, as elsewhere"] = {
    { setmetatable({}, { __index = { price = 5 } }), { price = 1 } }, ["@sum.price"] = "6",
  },
} do
  check(sentence, function()
    local object = table.remove(case, 1)
    for path, value in pairs(case) do eq(text(obs.get(object, path)), value) end
    -- Observed values are read from the engine, and are the same, also after changes.
    local paths = {}
    for path in pairs(case) do paths[#paths + 1] = path end
    local is_observed, w = pcall(obs.observe, object, paths, nothing)
    for path, value in pairs(case) do eq(text(obs.get(object, path)), value) end
    if not object.items then return end
    object.items[1].price = 40
    table.insert(object.items, { name = "zip", price = 2, tags = { "z" }, parts = {} })
    local after = {}
    for path in pairs(case) do after[path] = text(obs.get(object, path)) end
    if is_observed then w:stop() end
    for path in pairs(case) do eq(text(obs.get(object, path)), after[path]) end
  end)
end
check("values that are no text", function()
  local t = order()
  eq(obs.get(t, "items.@last"), t.items[3])
  local nan = obs.get({ 1, 0 / 0 }, "@sum")
  assert(nan ~= nan)
  eq(#obs.get({ 0 / 0, 0 / 0 }, "@distinctUnionOfObjects"), 1)
  local ends = ("x"):rep(40000)
  local long = { ends .. "b" .. ends, ends .. "a" .. ends, ends .. "b" .. ends }
  eq(#obs.get(long, "@distinctUnionOfObjects"), 2)
  eq(obs.get(long, "@min"), long[2])
  eq(obs.get(long, "@max"), long[1])
  -- A union is a new plain list.
  assert(obs.get(t, "items.@unionOfObjects") ~= t.items)
  eq(getmetatable(obs.get(t, "items.@unionOfObjects")), nil)
end)
check("errors name the element, or the right operator", function()
  local t = order()
  t.items[2].price = "free"
  fails("Operators.lua:%d+: key path 'items.@sum.price': "
      .. "element 2 of 'items': the string 'free' under '@sum'",
    function() return (obs.get(t, "items.@sum.price")) end)
  for _, case in ipairs {
    { "element 1 of 'items': a table under '@avg'", t, "items.@avg" },
    { "element 2: the boolean true under '@sum'", { 1, true }, "@sum" },
    { "element", { 1, "x" }, "@max" }, { "did you mean '@sum'", {}, "@summ.x" },
    { "nothing can follow '@count'", {}, "@count.x" }, { "nest the operators", {}, "@sum.*" },
    { "write '#1'", {}, "@sum.1" }, { "many values.*@unionOfObjects", order(), "items.*.price" },
  } do
    fails(case[1], obs.get, case[2], case[3])
  end
end)
story("an ordered union changes when its parts change places", [[
  local a, b = { tag = 1, tags = { 1, 2 } }, { tag = 2, tags = { 3 } }
  local t = { items = { a, b } }
  for _, path in ipairs { "items.@unionOfObjects.tag", "items.@unionOfArrays.tags" } do
    obs.observe(t, path, function() note(table.unpack(obs.get(t, path))) end)
  end
  a.tag, b.tag = 2, 1              --> 2 1
  a.tags, b.tags = b.tags, a.tags  --> 3 1 2
  b.tags = { 2, 1 }                --> 3 2 1
  b.tags = { 2, 1 }
  a.tag, b.tag = 1, 2
  a.tag, b.tag = 2, 1              --> 0
]])

finish()
