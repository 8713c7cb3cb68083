-- Input that collections reject without changing (C1–C10, T12).
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function numbers(list)
  local texts = {}
  for i = 1, #list do texts[i] = tostring(list[i]) end
  return table.concat(texts, " ")
end

-- Arrays -----------------------------------------------------------------------------------------

for _, is_observed in ipairs {false, true} do
  local function array(list)
    local a = obs.array(list)
    if is_observed then
      obs.observe(a, {"*", "#2", "1", "@sum", "count"}, nothing)
      obs.observe_edits(a, nothing)
    end
    return a
  end
  local name = is_observed and "an observed array " or "an array "

  check(name .. "names index and count of what is out of range", function()
    local a = array {1, 2, 3}
    for _, operation in ipairs {
      function() a:insert(5, 1) end, function() a:insert(0, 1) end, function() a:insert(-1, 1) end,
      function() a:remove(4) end, function() a:remove(0) end, function() a:replace(4, 1) end,
      function() a:replace(0, 1) end, function() a:move(1, 4) end, function() a:move(4, 1) end,
      function() a:swap(1, 4) end, function() a:swap(0, 1) end, function() a[5] = 1 end,
      function() a[0] = 1 end, function() a[-1] = 1 end,
    } do
      local message = fails("range", operation)
      assert(message:find "3", message)
      assert(message:find "BadInput.lua:", message)
    end
    eq(numbers(a), "1 2 3")
    eq(a.count, 3)
  end)
  check(name .. "takes no key but an integer", function()
    local a = array {1, 2, 3}
    for _, key in ipairs {"x", 1.5, true, {}, math.huge, "1", 2^53 + 0.0} do
      fails("", function() a[key] = 1 end)
      fails("", rawset, a, key, 1)
    end
    fails("", function() a:insert(1.5, 1) end)
    fails("", function() a:insert("x", 1) end)
    fails("", function() a:remove {} end)
    eq(numbers(a), "1 2 3")
    a[2.0] = 5
    eq(numbers(a), "1 5 3")
  end)
  check(name .. "has no holes", function()
    local a = array {1, 2, 3}
    fails("hole", function() a[2] = nil end)
    fails("", rawset, a, 2, nil)
    fails("", function() a:append(nil) end)
    fails("", function() a:append(4, nil) end)
    fails("", function() a:insert(1, nil) end)
    fails("", function() a:replace(1, nil) end)
    eq(numbers(a), "1 2 3")
    a[3] = nil
    eq(numbers(a), "1 2")
    a[3] = 4
    eq(numbers(a), "1 2 4")
    eq(a.count, 3)
  end)
  check(name .. "gives nothing when it is empty", function()
    local a = array {1}
    eq(a:remove(), 1)
    eq(a:remove(), nil)
    eq(a.count, 0)
    eq(#a, 0)
    a:clear()
    a:reverse()
    a:sort()
    a:set {}
    eq(a:index_of(1), nil)
    eq(select("#", a:index_of(1)), 1)
    eq(a:remove_value(1), false)
  end)
  check(name .. "keeps all elements when its comparison raises or is inconsistent", function()
    local a = array {5, 2, 8, 1, 9, 3, 7}
    local n = 0
    local message = fails("enough", function()
      a:sort(function(x, y)
        n = n + 1
        if n == 5 then error "enough" end
        return x < y
      end)
    end)
    assert(message:find "BadInput.lua:")
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
    fails("", function() a:sort(5) end)
    fails("compare", function() obs.array({1, "x", {}}):sort() end)
  end)
  check(name .. "is not changed inside its own sort", function()
    for _, change in ipairs {
      function(a) a:append(1) end, function(a) a[1] = 5 end, function(a) a:clear() end,
      function(a) a:remove(1) end, function(a) a:sort() end, function(a) a:set {} end,
      function(a) a:reverse() end, function(a) table.insert(a, 1) end,
    } do
      local a = array {3, 1, 2}
      fails("sorted", function()
        a:sort(function(x, y) change(a) return x < y end)
      end)
      eq(numbers(a), "3 1 2")
      a:sort(function(x, y) return x < y end)
      eq(numbers(a), "1 2 3")
    end
  end)
  check(name .. "can be read and observed inside its own sort", function()
    local a = array {3, 1, 2}
    a:sort(function(x, y)
      assert(a.count == 3 and a[1] == 3)
      obs.observe(a, "*", nothing):stop()
      obs.get(a, "@sum")
      return x < y
    end)
    eq(numbers(a), "1 2 3")
    a:sort(function(x, y)
      obs.observe(a, "#1", nothing)
      return x > y
    end)
    eq(numbers(a), "3 2 1")
    obs.flush()
  end)
  check(name .. "takes lists only", function()
    local a = array {1}
    for _, value in ipairs {1, "x", true, nothing} do
      fails("", function() a:set(value) end)
      fails("", function() obs.array(value) end)
    end
    fails("", function() a:set(nil) end)
    eq(numbers(a), "1")
    a:set(a)
    eq(numbers(a), "1")
    a:set(obs.array {2, 3})
    eq(numbers(a), "2 3")
  end)
  check(name .. "says so when a method is called with a dot", function()
    local a = array {1}
    fails("", a.append, 5)
    fails("", a.append)
    fails("", a.sort)
    fails("", a.clear, {})
    eq(numbers(a), "1")
  end)
end

-- Changes in the middle of delivery --------------------------------------------------------------

for _, kind in ipairs {"array", "plain"} do
  local function make(list) return kind == "array" and obs.array(list) or list end

  check(kind .. ": a watcher may change what it watches", function()
    for _, path in ipairs {"*", "#1", "@count", "@sum", "1"} do
      local list, calls = make {1, 2, 3}, 0
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
  check(kind .. ": a callback of edits may change the collection", function()
    local list, mirror, calls = make {1, 2, 3}, {1, 2, 3}, 0
    obs.observe_edits(list, function(_, edits)
      calls = calls + 1
      for _, edit in ipairs(edits) do
        if edit.kind == "insert" then table.insert(mirror, edit.at, edit.new)
        elseif edit.kind == "remove" then table.remove(mirror, edit.at)
        elseif edit.kind == "replace" then mirror[edit.at] = edit.new
        else table.insert(mirror, edit.at, table.remove(mirror, edit.from)) end
      end
      if calls < 4 then
        table.insert(list, 1, 10 * calls)
        list[#list] = nil
      end
    end)
    table.insert(list, 4)
    for _ = 1, 6 do obs.flush() end
    eq(calls, 4)
    eq(table.concat(mirror, " "), numbers(list))
  end)
  check(kind .. ": an immediate watcher may change the collection", function()
    local list, calls = make {1, 2, 3}, 0
    obs.observe(list, "*", function()
      calls = calls + 1
      if calls < 10 then table.insert(list, 1, calls) end
    end, {immediate = true})
    table.insert(list, 4)
    assert(calls >= 10)
    eq(#list, 13)
  end)
  check(kind .. ": what raises in a callback of edits is reported, and it goes on", function()
    local list, calls = make {1}, 0
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

check("a set has neither nil nor NaN as a member", function()
  local set = obs.set_of {1}
  fails("nil", function() set:add(nil) end)
  fails("NaN", function() set:add(0 / 0) end)
  fails("NaN", function() obs.set_of {0 / 0} end)
  eq(set:contains(nil), false)
  eq(set:contains(0 / 0), false)
  set:remove(0 / 0)
  set:remove(nil)
  eq(set.count, 1)
  eq(set:add(1.0), false)
  eq(set.count, 1)
end)
check("a set is not assigned to", function()
  local set = obs.set_of {"a"}
  fails("add", function() set.b = true end)
  fails("", function() set[1] = 2 end)
  fails("", rawset, set, "b", true)
  eq(set.count, 1)
  -- Members are not fields, and fields are not members.
  set:add "add"
  eq(type(set.add), "function")
  set:add "count"
  eq(set.count, 3)
end)
check("a set takes sets and lists only", function()
  local set = obs.set_of {"a"}
  for _, value in ipairs {1, "x", true, nothing} do
    fails("", function() set:union(value) end)
    fails("", function() set:intersect(value) end)
    fails("", function() set:subtract(value) end)
  end
  fails("", set.add, 5)
  set:union(obs.array {"b"})
  set:union {"c"}
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
check("obs.clear, obs.assign and obs.observe_edits expect collections", function()
  for _, value in ipairs {1, "x", true, nothing} do
    fails("", obs.clear, value)
    fails("", obs.assign, value, {})
    fails("", obs.assign, {}, value)
    fails("", obs.observe_edits, value, nothing)
    fails("", obs.observe_keys, value, {"x"}, nothing)
  end
  fails("", obs.observe_edits, {}, 5)
  fails("", obs.observe_edits, {})
  fails("", obs.observe_keys, {}, {"x"}, 5)
end)
finish()
