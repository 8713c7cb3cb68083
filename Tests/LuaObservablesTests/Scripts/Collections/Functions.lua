-- Rule C1: arguments and results of obs.array, obs.set_of, obs.dictionary, obs.clear and
-- obs.assign.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

local function list(values) return table.concat(values, " ") end
local function sorted(set)
  local values = {}
  for value in pairs(set) do values[#values + 1] = value end
  table.sort(values)
  return list(values)
end

check("they begin with the given elements, or empty", function()
  eq(list(obs.array { 1, 2 }), "1 2")
  eq(obs.array().count, 0)
  eq(sorted(obs.set_of { 2, 1, 2 }), "1 2")
  eq(obs.set_of().count, 0)
  local d = obs.dictionary { a = 1, count = 2 }
  eq(d.a, 1)
  eq(d.count, 2)
  eq(next(obs.dictionary()), nil)
end)
check("an array, a set or a plain list is accepted, and stays unchanged", function()
  eq(list(obs.array(obs.array { 1, 2 })), "1 2")
  eq(sorted(obs.set_of(obs.array { 1, 2, 2 })), "1 2")
  eq(sorted(obs.set_of(obs.set_of { 1, 2 })), "1 2")
  eq(obs.dictionary(obs.dictionary { a = 1 }).a, 1)
  local plain = { 1, 2 }
  local a = obs.array(plain)
  a:append(3)
  plain[1] = 9
  eq(list(plain) .. " " .. list(a), "9 2 1 2 3")
end)
check("tostring names them", function()
  assert(tostring(obs.array {}):find "^obs%.Array: 0x")
  assert(tostring(obs.set_of {}):find "^obs%.Set: 0x")
end)
check("union, intersect and subtract take a set, an array or a list", function()
  for _, make in ipairs { obs.set_of, obs.array, function(t) return t end } do
    local s = obs.set_of { 1, 2, 3 }
    s:union(make { 3, 4 })
    eq(sorted(s), "1 2 3 4")
    s:intersect(make { 2, 3, 9 })
    eq(sorted(s), "2 3")
    s:subtract(make { 3, 4 })
    eq(sorted(s), "2")
  end
end)
check("obs.clear empties any collection", function()
  for _, c in ipairs {
    obs.array { 1, 2 }, obs.set_of { 1 }, obs.dictionary { a = 1 },
    { 1, 2, x = 3, [true] = 4 },
  } do
    obs.clear(c)
    eq(next(c), nil)
    eq(obs.get(c, "@count"), 0)
  end
end)
story("obs.assign makes a list equal, writing only differences", [[
  local kept = {}
  for _, make in ipairs { obs.array, function(t) return t end } do
    local a = make { kept, 1, 2 }
    for _, path in ipairs { "#1", "#2", "*" } do watch(a, path) end
    obs.assign(a, { kept, 3 })  --> #2, *
    eq(#a, 2)
    eq(a[2], 3)
    obs.assign(a, make { kept, 3 })
    obs.assign(a, a)            --> 0
  end
  local s = obs.set_of { 1, 2 }
  obs.assign(s, s)
  eq(s.count, 2)
]])
check("observed keys are listed by name", function()
  local a = obs.array { { price = 1 } }
  obs.observe(a, { "count", "@sum.price", "#3", "1", "price" }, function() end)
  eq(list(obs.observed_keys(a)), "#3 * 1 @sum.price count")
  eq(obs.observer_count(a, "count"), 1)
  eq(obs.observer_count(a, "@sum.price"), 1)
  assert(obs.describe(a):find "@sum.price")
  eq(obs.stop(a), 5)
  eq(#obs.observed_keys(a), 0)
end)
check("obs.get reads through them", function()
  local a = obs.array {
    { price = 1, tags = obs.set_of { "x", "y" } }, { price = 2, tags = obs.set_of {} },
  }
  local t = { items = a, stock = obs.dictionary { pen = 3, count = 7 } }
  for path, value in pairs {
    ["items.count"] = 2, ["items.#2.price"] = 2, ["stock.pen"] = 3, ["stock.count"] = 2,
    ["stock.@sum"] = 10, ["items.@sum.tags.count"] = 2,
  } do
    eq(obs.get(t, path), value)
  end
  eq(#obs.get(t, "items.@unionOfSets.tags"), 2)
  fails("many values", obs.get, t, "items.price")
end)


check("an error of a write inside obs.set and obs.assign has the caller's place", function()
  local t = { items = obs.array { 1 } }
  fails("^[^\n]*Functions.lua:%d+: index 9 is out of range", function()
    obs.set(t, "items.#9", 1)
  end)
  fails("^[^\n]*Functions.lua:%d+: .*NaN", function() obs.assign(obs.set_of {}, { 0 / 0 }) end)
  local locked = setmetatable({}, { __newindex = function(_, key) error("no " .. key) end })
  fails("Functions.lua:%d+: no x", function() obs.assign(locked, { x = 1 }) end)
end)
check("C13: assign and clear leave lazy keys alone, read or not", function()
  for _, is_read in ipairs { true, false } do
    local t = { a = 0 }
    obs.computed(t, "double", { "a" }, function(self) return self.a * 2 end)
    if is_read then eq(t.double, 0) end
    obs.assign(t, { a = 1 })
    eq(t.double, 2)
    obs.assign(t, { a = 2, double = 7 })
    eq(t.double, 4)
    local plain = {}
    obs.assign(plain, t)
    eq(plain.a, 2)
    eq(plain.double, nil)
    obs.clear(t)
    eq(t.a, nil)
    t.a = 4
    eq(t.double, 8)
  end
end)
check("C13: union, intersect and subtract are one operation to immediate watchers", function()
  for name, members in next, { union = { 3, 4 }, intersect = {}, subtract = { 1, 2 } } do
    local set, sizes = obs.set_of { 1, 2 }, {}
    obs.observe(set, "@count", function()
      sizes[#sizes + 1] = #set
      if #sizes == 1 then set:add(0) end
    end, { immediate = true })
    set[name](set, members)
    eq(sizes[1], name == "union" and 4 or 0)
    eq(sizes[2], sizes[1] + 1)
    eq(#sizes, 2)
  end
end)
check("C13: a failed operation on a set is over", function()
  local set, calls = obs.set_of { 1 }, 0
  obs.observe(set, "@count", function() calls = calls + 1 end, { immediate = true })
  fails("a set has no place for NaN", function() set:union { 2, 0 / 0 } end)
  eq(calls, 0)
  set:add(2)
  eq(calls, 1)
end)
story("C13: clear and assign are one operation to immediate watchers, of any collection", [[
  for _, make in ipairs {
    function() return { 1, 2 } end, function() return obs.array { 1, 2 } end,
    function() return obs.set_of { 1, 2 } end,
    function() return obs.dictionary { a = 1, b = 2 } end,
  } do
    local one, other = make(), make()
    watch(one, "*", { immediate = true })
    watch(other, "*", { immediate = true })
    obs.clear(one)                  --= 1
    obs.assign(other, { 3, 4, 5 })  --= 1
  end
]])
check("assign makes a set equal to any collection's values", function()
  local set = obs.set_of { 7 }
  for _, other in ipairs {
    { 3 }, { x = 3 }, obs.dictionary { a = 3 }, obs.array { 3 }, obs.set_of { 3 },
  } do
    obs.assign(set, other)
    eq(set.count, 1)
    eq(set:contains(3), true)
    obs.assign(set, {})
    obs.assign(set, other)
    eq(set:contains(3), true)
  end
end)
check("options that are true or false take nothing else", function()
  local t, list, nothing = { n = 1 }, obs.array { 1 }, function() end
  for _, name in ipairs { "once", "initial", "immediate" } do
    fails("option '" .. name .. "' takes a boolean, not a string",
      obs.observe, t, "n", nothing, { [name] = "no" })
  end
  fails("option 'initial' takes a boolean", obs.observe_edits, list, nothing, { initial = 1 })
  fails("option 'initial' takes a boolean", obs.observe_keys, t, "n", nothing, { initial = 1 })
  fails("option 'once' takes a boolean", obs.changes, t, nothing, { once = "no" })
  fails("option 'add_only' takes a boolean", obs.merge, t, { n = 1 }, { add_only = "no" })
  fails("option 'force' takes a boolean", obs.apply, t, {}, { force = "no" })
  fails("boolean expected, got string", obs.record, "off")
end)
check("a limit that cannot be set leaves the others", function()
  local timers = obs.limits().timers
  fails("limit 'watchers' takes an integer from 1 to 1000000000, not 2147483647",
    obs.limits, { watchers = 2147483647 })
  fails("limit 'watchers' takes .* not a string", obs.limits, { watchers = "many" })
  fails("limits have names, not a number as key", obs.limits, { 5 })
  for _ = 1, 20 do
    fails("unknown limit 'typo'", obs.limits, { timers = 5, typo = 1 })
    eq(obs.limits().timers, timers)
  end
end)
check("a name that can only be a path is refused with what the function takes", function()
  local t = { a = { b = 1 } }
  fails("use obs.observe for the path%)$", obs.lazy, t, "a.b", function() return 1 end)
  fails("use obs.observe for the path, or obs.path%('a.b'%) for the key",
    obs.observe_keys, t, "a.b", print)
end)
check("an error in the body of a scope keeps the place where it was raised", function()
  local t = { a = 1 }
  local function work() error "deep" end
  local _, text = xpcall(function()
    obs.scope(function() obs.observe(t, "a", print) work() end)
  end, debug.traceback)
  assert(text:find("in upvalue 'work'", 1, true), text)
  eq(obs.observer_count(t, "a"), 0)
end)
check("C13: raw has the stored properties, whatever was read", function()
  local Model = obs.model("Model", {
    a = 1, double = obs.computed({ "a" }, function(self) return self.a * 2 end),
  })
  for _, is_read in ipairs { true, false } do
    local t = { child = Model {}, b = 3 }
    obs.lazy(t, "list", function(self) return { self.b } end)
    if is_read then eq(t.child.double + #t.list, 3) end
    local raw = obs.raw(t)
    eq(raw.child.a, 1)
    eq(raw.child.double, nil)
    eq(raw.list, nil)
    raw = obs.raw(t, { computed = true })
    eq(raw.child.double, 2)
    eq(raw.list[1], 3)
    assert(raw.list ~= t.list)
  end
  fails("unknown option 'computd' %(there is 'computed'%)", obs.raw, {}, { computd = true })
  fails("option 'computed' takes a boolean, not a number", obs.raw, {}, { computed = 1 })
  fails("bad argument #2 to 'raw' %(table of options expected, got boolean%)", obs.raw, {}, true)
end)
check("errors of constructors and in tail calls have names and places", function()
  local place = "^" .. debug.getinfo(1, "S").short_src:gsub("%p", "%%%0")
    .. ":%d+: bad argument #%d to "
  fails(place .. "'set_of' %(a set has no place for NaN%)", function()
    return { obs.set_of { 0 / 0 } }
  end)
  fails(place .. "'set_of' %(a set has no place for NaN%)", function()
    return obs.set_of { 0 / 0 }
  end)
  fails(place .. "'array' %(list expected", function() return obs.array(5) end)
  fails(place .. "'lazy' %(the list of names is empty", function()
    return { obs.lazy({}, {}, print) }
  end)
  fails(place .. "'computed' %(", function() return obs.computed({}, "x", 5) end)
  fails(place .. "'get' %(", function() return obs.get({}, 5) end)
  fails(place .. "'assign' %(", function() return obs.assign(5) end)
end)

finish()
