-- Input that collections reject without changing (C1–C10, T12).
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function numbers(list)
  local texts = {}
  for i = 1, #list do texts[i] = tostring(list[i]) end
  return table.concat(texts, " ")
end

-- Rejected calls ---------------------------------------------------------------------------------

-- Returns a function that assigns `value` to the key of a collection.
local function assigning(key, value) return function(c) c[key] = value end end
local NAN = 0 / 0

-- For each kind of collection with 1, 2, 3: patterns of errors with the calls that raise them. A
-- call is a function, or the name of a method with its arguments.
local rejected = {
  array = {
    ["out of range.*3"] = {
      { "insert", 5, 1 }, { "insert", 0, 1 }, { "insert", -1, 1 }, { "remove", 4 }, { "remove", 0 },
      { "replace", 4, 1 }, { "replace", 0, 1 }, { "move", 1, 4 }, { "move", 4, 1 },
      { "swap", 1, 4 }, { "swap", 0, 1 }, assigning(5, 1), assigning(0, 1), assigning(-1, 1),
      assigning(2 ^ 53 + 0.0, 1),
    },
    ["index 4 is out of range"] = { { "remove", 4 } },
    ["integer indices, got string 'x'"] = { assigning("x", 1) },
    ["integer indices"] = {
      assigning(1.5, 1), assigning(true, 1), assigning({}, 1), assigning(math.huge, 1),
      assigning("1", 1), function(a) rawset(a, "x", 1) end,
    },
    ["hole"] = { assigning(1, nil), assigning(2, nil), function(a) rawset(a, 2, nil) end },
    ["no place for nil"] = {
      { "append", nil, n = 1 }, { "append", 4, nil, n = 2 }, { "append", 1, nil, 2, n = 3 },
      { "insert", 1, nil, n = 2 }, { "replace", 1, nil, n = 2 },
    },
    ["number has no integer representation"] = { { "insert", 1.5, 1 } },
    ["number expected"] = { { "insert", "x", 1 }, { "remove", {} } },
    ["function expected"] = { { "sort", 5 } },
    ["list expected"] = {
      { "set", 1 }, { "set", "x" }, { "set", true }, { "set", nothing }, { "set", nil, n = 1 },
      { "set", { a = 1 } }, { "set", obs.dictionary { a = 1 } },
    },
    ["append.*obs%.Array.*:"] = { function(a) a.append(5) end, function(a) a.append() end },
    ["obs%.Array"] = { function(a) a.sort() end, function(a) a.clear {} end },
    ["list has a hole at 2 of 3"] = { function(a) obs.assign(a, { 1, nil, 3 }) end },
    ["an array has integer indices, got string 'x'"] = {
      function(a) obs.assign(a, { x = 1 }) end,
    },
  },
  set_of = {
    ["nil"] = { { "add", nil, n = 1 } }, ["NaN"] = { { "add", NAN }, { "union", { 4, NAN } } },
    ["use add and remove"] = {
      assigning("b", true), assigning(1, 2), function(s) rawset(s, "b", true) end,
    },
    ["list expected, got a table with the key 'a'"] = {
      { "union", { a = 1 } }, { "intersect", { a = 1 } }, { "subtract", { a = 1 } },
      { "union", obs.dictionary { a = 1 } },
    },
    ["list expected"] = {
      { "union", 1 }, { "union", "x" }, { "union", true }, { "union", nothing }, { "intersect", 1 },
      { "intersect", "x" }, { "subtract", true }, { "subtract", nothing },
    },
    ["add.*obs%.Set"] = { function(s) s.add(5) end },
  },
}
for kind, cases in pairs(rejected) do
  for _, is_observed in ipairs { false, true } do
    local collection = obs[kind] { 1, 2, 3 }
    if is_observed then
      local paths = kind == "array" and { "*", "#2", "1", "@sum", "count" } or "*"
      obs.observe(collection, paths, nothing)
      obs.observe_edits(collection, nothing)
    end
    local title = (is_observed and "an observed " or "a new ") .. kind .. " refuses: "
    for pattern, calls in pairs(cases) do
      check(title .. pattern, function()
        for _, call in ipairs(calls) do
          local message = fails(pattern, function()
            if type(call) == "function" then return call(collection) end
            collection[call[1]](collection, table.unpack(call, 2, (call.n or #call - 1) + 1))
          end)
          has(message, "BadInput.lua:")
          local present = {}
          for _, value in pairs(collection) do present[#present + 1] = value end
          table.sort(present)
          eq(numbers(present), "1 2 3")
        end
      end)
    end
  end
end
check("constructors, clear, assign and observe functions expect collections", function()
  for _, value in ipairs { 1, "x", true, nothing } do
    for _, name in ipairs { "array", "set_of", "dictionary", "clear" } do
      fails(name, obs[name], value)
    end
    fails("assign", obs.assign, value, {})
    fails("assign", obs.assign, {}, value)
    fails("observe_edits", obs.observe_edits, value, nothing)
    fails("observe_keys", obs.observe_keys, value, { "x" }, nothing)
  end
  for _, name in ipairs { "array", "set_of" } do
    fails("list expected, got a table with the key 'a'", obs[name], { a = 1 })
    fails("list expected, got a table with the key 'a'", obs[name], obs.dictionary { a = 1 })
  end
  fails("NaN", obs.set_of, { NAN })
  fails("observe_edits", obs.observe_edits, {}, 5)
  fails("observe_edits", obs.observe_edits, {})
  fails("observe_keys", obs.observe_keys, {}, { "x" }, 5)
  eq(obs.array(setmetatable({ a = 1 }, { __len = function() return 0 end })).count, 0)
end)
check("an array takes float indices with integer values, and nil behind its end", function()
  local a = obs.array { 1, 2, 3 }
  a[2.0] = 5
  a[3] = nil
  eq(numbers(a), "1 5")
  a[3] = 4
  a:set(a)
  eq(numbers(a), "1 5 4")
  a:set(obs.array { 1 })
  eq(a:remove(), 1)
  eq(a:remove(), nil)
  a:clear()
  a:reverse()
  a:sort()
  a:set {}
  eq(select("#", a:index_of(1)), 1)
  eq(a:index_of(1), nil)
  eq(a:remove_value(1), false)
  eq(a.count + #a, 0)
end)
check("an array keeps all elements when its comparison raises or is inconsistent", function()
  local a = obs.array { 5, 2, 8, 1, 9, 3, 7 }
  local n = 0
  local message = fails("enough", function()
    a:sort(function(x, y)
      n = n + 1
      if n == 5 then error "enough" end
      return x < y
    end)
  end)
  has(message, "BadInput.lua:")
  eq(numbers(a), "5 2 8 1 9 3 7")
  for _, less in ipairs {
    function() return true end, function() return math.random(2) == 1 end,
    function(x, y) return x <= y end, function() return nil end,
  } do
    pcall(a.sort, a, less)
    local copy = table.move(a, 1, #a, 1, {})
    table.sort(copy)
    eq(table.concat(copy, " "), "1 2 3 5 7 8 9")
  end
  fails("compare", function() obs.array({ 1, "x", {} }):sort() end)
end)
check("an array is not changed inside its own sort, but read and observed", function()
  for _, change in ipairs {
    function(a) a:append(1) end, function(a) a[1] = 5 end, function(a) a:clear() end,
    function(a) a:remove(1) end, function(a) a:sort() end, function(a) a:set {} end,
    function(a) a:reverse() end, function(a) table.insert(a, 1) end,
  } do
    local a = obs.array { 3, 1, 2 }
    fails("sorted", a.sort, a, function(x, y) change(a) return x < y end)
    eq(numbers(a), "3 1 2")
    a:sort(function(x, y)
      assert(a.count == 3 and a[1] == 3)
      obs.observe(a, "*", nothing):stop()
      obs.observe(a, "#1", nothing)
      obs.get(a, "@sum")
      return x < y
    end)
    eq(numbers(a), "1 2 3")
    obs.flush()
  end
end)

-- Changes in the middle of delivery --------------------------------------------------------------

for kind, make in pairs { array = obs.array, plain = function(list) return list end } do
  check(kind .. ": a watcher may change what it watches", function()
    for _, path in ipairs { "*", "#1", "@count", "@sum", "1" } do
      local list, calls = make { 1, 2, 3 }, 0
      obs.observe(list, path, function()
        calls = calls + 1
        if calls < 5 then
          table.insert(list, 1, #list + 1)
          table.remove(list)
          table.sort(list)
          list[1] = 10 * calls
        end
      end)
      list[1] = 7
      table.insert(list, 4)
      for _ = 1, 10 do obs.flush() end
      assert(calls >= 1 and calls <= 5, path .. calls)
      eq(#list, 4)
    end
  end)
  check(kind .. ": an immediate watcher may change the collection", function()
    local list, calls = make { 1, 2, 3 }, 0
    obs.observe(list, "*", function()
      calls = calls + 1
      if calls < 10 then table.insert(list, 1, calls) end
    end, { immediate = true })
    table.insert(list, 4)
    assert(calls >= 10)
    eq(#list, 13)
  end)
  check(kind .. ": what raises in a callback of edits is reported, and it goes on", function()
    local list, calls = make { 1 }, 0
    obs.observe_edits(list, function()
      calls = calls + 1
      if calls == 1 then error "no" end
    end)
    reporting(function()
      table.insert(list, 2)
      obs.flush()
      eq(#reports, 1)
      table.insert(list, 3)
      obs.flush()
      eq(calls, 2)
      eq(#reports, 1)
    end)
  end)
end

-- Sets and dictionaries --------------------------------------------------------------------------

check("a set has neither nil nor NaN as a member, and 1.0 is 1", function()
  local set = obs.set_of { 1 }
  eq(set:contains(NAN) or set:contains(nil), false)
  set:remove(NAN)
  set:remove(nil)
  eq(set:add(1.0), false)
  eq(set.count, 1)
  -- Members are not fields, and fields are not members.
  set:add "add"
  eq(type(set.add), "function")
  set:add "count"
  eq(set.count, 3)
end)
check("a set's member may leave during an iteration over the set", function()
  local set = obs.set_of {}
  for i = 1, 100 do set:add(i) end
  local seen = 0
  for member in set:values() do
    seen = seen + 1
    set:remove(member)
  end
  eq(seen, 100)
  eq(set.count, 0)
end)
check("a dictionary takes any key", function()
  local d = obs.dictionary {}
  local n = 0
  obs.observe(d, "*", function() n = n + 1 end)
  for _, key in ipairs {1, "x", true, 1.5, nothing, {}, "append", "insert"} do d[key] = key end
  obs.flush()
  eq(n, 1)
  eq(d.append, "append")
  fails("", function() d[nil] = 1 end)
  fails("", function() d[0 / 0] = 1 end)
  fails("", function() obs.dictionary(5) end)
end)

-- Paths ------------------------------------------------------------------------------------------

check("an unknown operator: the nearest one is suggested", function()
  for _, list in ipairs {{1}, obs.array {1}} do
    fails("@sum", obs.observe, list, "@sun", nothing)
    fails("@sum", obs.get, list, "@sun")
    fails("@count", obs.observe, {list = list}, "list.@cont", nothing)
    fails("@distinctUnionOfObjects", obs.observe, list, "@distinctUnionOfObject.x", nothing)
  end
end)
check("nothing follows @count; neither digits nor wildcards follow an operator", function()
  for _, list in ipairs {{{x = 1}}, obs.array {{x = 1}}} do
    for _, path in ipairs {"@count.x", "@sum.*", "@sum.1", "@sum.*.x", "@first.1", "@max.1.x"} do
      fails("key path", obs.observe, list, path, nothing)
    end
  end
end)
check("a sum over a value that is not a number names the element", function()
  for _, list in ipairs {{{x = 1}, {x = "a"}}, obs.array {{x = 1}, {x = "a"}}} do
    for _, operator in ipairs {"sum", "avg", "min", "max"} do
      local message = fails("2", obs.get, list, "@" .. operator .. ".x")
      assert(message:find("@" .. operator, 1, true), message)
    end
    reporting(function()
      local calls = 0
      local w = obs.observe(list, "@sum.x", function() calls = calls + 1 end, {name = "the sum"})
      obs.flush()
      local before = #reports
      list[1].x = {}
      obs.flush()
      assert(#reports >= 1 and #reports <= before + 1)
      local report = reports[1]
      assert(tostring(report.error):find("the sum", 1, true) or report.where.name == "the sum")
      list[1].x, list[2].x = 4, 5
      obs.flush()
      eq(calls, 1)
      eq(obs.get(list, "@sum.x"), 9)
      eq(w.active, true)
    end)
  end
end)
finish()
