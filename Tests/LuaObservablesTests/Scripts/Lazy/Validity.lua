-- Rules Z1, Z3, Z4 and Z14: when a lazy property computes, which value it keeps, and its state.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "Support/kinds.lua")

-- A getter that returns 1, 2, 3, …, and a function that returns how often it has run.
function numbers()
  local runs = 0
  return function()
    runs = runs + 1
    return runs
  end, function() return runs end
end
-- Lists of names, sorted.
function sorted(names)
  local copy = {table.unpack(names)}
  table.sort(copy)
  return "{" .. table.concat(copy, ",") .. "}"
end
function states(t) return sorted(obs.valid_names(t)), sorted(obs.invalid_names(t)) end

each("Z1: a property is computed at the first read and kept, also for other kinds of values",
  "runs()", [[
  local get, runs = numbers()
  local t = object { x = lazy(get), y = lazy(function() get() end) }
  = runs(), obs.is_valid(t, "x"), obs.peek(t, "x")   --> 0 false nil
  = t.x, t.x, runs()                                 --> 1 1 1
  = obs.is_valid(t, "x"), obs.peek(t, "x")           --> true 1
  = t.y, t.y, runs(), obs.is_valid(t, "y")           --> nil nil 2 true
  obs.invalidate(t, "y")                             --> 2
  = obs.is_valid(t, "y"), t.y, runs()                --> false nil 3
  local list = {}
  for _, value in ipairs { false, 0 / 0, list } do
    local u = object { x = lazy(function() get() return value end) }
    local _ = u.x, u.x
    assert(rawequal(u.x, value) or value ~= value)
  end                                                --> 6
]])
each("Z1: the getter receives the object and the name, and its first result counts", "told()", [[
  local note, told = recorder()
  local t
  local function get(self, name)
    note(self == t, name)
    return name:upper(), 2
  end
  t = object { x = lazy(get), y = computed({}, get) }
  = t.y, t.x                                         --> Y X
  = told()                                           --> true y true x
  = select("#", t.x), select("#", obs.peek(t, "x"))  --> 1 1
  obs.invalidate(t)
  = select("#", obs.peek(t, "x")), obs.peek(t, "x")  --> 1 nil
]])
each("Z1: invalidated by one name, by several, and completely", "all()", [[
  local runs = { x = 0, y = 0, z = 0 }
  local property = lazy(function(_, name)
    runs[name] = runs[name] + 1
    return runs[name]
  end)
  local t = object { x = property, y = property, z = property }
  local function all() return t.x, t.y, t.z end  --> 1 1 1
  obs.invalidate(t, "y")                         --> 1 2 1
  obs.invalidate(t, { "x", "z" })                --> 2 2 2
  obs.invalidate(t)                              --> 3 3 3
  obs.invalidate(t, {})                          --! the list of names is empty
  for _ = 1, 5 do obs.invalidate(t, "x") end     --> 4 3 3
]])
each("Z3: a declaration computes nothing, whatever its dependencies do", "runs()", [[
  local get, runs = numbers()
  local t = object { first = 1, absent = obs.none, x = computed({ "first", "absent.path" }, get) }
  t.first, t.absent = 2, { path = 3 }
  obs.flush()                         --> 0
]])
each("Z3: without a cache it is computed at each read, and announces changes", "calls(), runs()", [[
  local get, runs = numbers()
  local t = object { first = 1, x = lazy { get = get, deps = { "first" }, cached = false } }
  = t.x, t.x, obs.is_valid(t, "x")    --> 1 2 false
  = states(t)                         --> {} {}
  local calls = counter(t, "x")       --> 0 2
  t.first = 2                         --> 1 2
  = calls()                           --> 0
  t.x = 3                             --! 'x' keeps no value
]])
check("Z3: … of computed dependencies only if their value has changed", function()
  local t = {a = 1, items = {1}, x = {a = 1}}
  obs.computed(t, "positive", {"a"}, function(self) return self.a > 0 end)
  obs.computed(t.x, "q", {"a"}, function(self) return self.a > 0 end)
  local deps = {"items.@count", "items.@sum", "positive", "x.q"}
  obs.lazy(t, "u", {cached = false, deps = deps, get = function() return 1 end})
  obs.lazy(t, "v", {cached = false, deps = {"u"}, get = function() return 1 end})
  obs.computed(t, "w", {"v"}, function(self) return {} end)
  local log = {}
  for _, path in ipairs {"u", "v", "w", "*"} do
    obs.observe(t, path, function() log[#log + 1] = path end)
    obs.observe(t, path, function() log[#log + 1] = path .. "!" end, {immediate = true})
  end
  local function told(change)
    for i in ipairs(log) do log[i] = nil end
    change()
    obs.flush()
    -- Immediate watchers are called in the order of their properties, which is not fixed.
    table.sort(log)
    return table.concat(log, " ")
  end
  local kept = t.w
  eq(told(function() t.x.a = 2 end), "")
  eq(t.w, kept)
  eq(told(function() t.items[1], t.items[2] = 0.5, 0.5 end), "* *! *! u u! u! v v! v! w w! w!")
  eq(told(function() t.x.a = -1 end), "* *! u u! v v! w w!")
  eq(told(function() t.x.a = -2 end), "")
  eq(t.w == kept, false)
end)
each("T9, Z3: without a cache immediate watchers are called at each change, also their own",
  "told()", [[
  local t = object { b = 1, u = lazy {
    cached = false, deps = { "b" }, get = function(self) return self.b end,
  } }
  local note, told = recorder()
  obs.observe(t, "u", function()
    note(t.u)
    if t.b < 5 then t.b = 5 end
  end, { immediate = true })
  t.b = 2               --> 2 5
  t.b = 6               --> 6
  t.b = 7               --> 7
]])
each("Z14: names of valid and of invalid properties, and what is known before they are read",
  "states(t)", [[
  local t = object {
    plain = 1, x = lazy(function() return 1 end), y = lazy(function() return 2 end),
    z = computed({ "plain" }, function(self) return self.plain end),
  }                                             --> {} {x,y,z}
  obs.invalidate(t, "x")
  obs.invalidate(t)                             --> {} {x,y,z}
  local _ = t.y, t.z                            --> {y,z} {x}
  t.plain = 2                                   --> {y} {x,z}
  obs.force(t)                                  --> {x,y,z} {}
]])
check("Z14: names, force and invalidate of an object without lazy properties", function()
  for _, object in ipairs {{}, {x = 1}, setmetatable({}, {__index = {y = 1}}), obs.array {1}} do
    eq(shown(states(object)), "{} {}")
    obs.force(object)
    obs.invalidate(object)
  end
end)
each("Z14: a removed declaration leaves a plain key without a value, also before the first read",
  "t.x, runs()", [[
  local get, runs = numbers()
  local function two() return 2 end
  local t = object { first = 1, x = computed({ "first" }, get), y = lazy(two), z = lazy(two) }
  obs.forget(t, { "y", "z" })
  = t.y, t.z, sorted(obs.invalid_names(t))      --> nil nil {x}
  local n, w = counter(t, "x")                  --> 1 1
  obs.forget(t, "x")                            --> nil 1
  = n(), w.active                               --> 1 true
  obs.forget(t, "x")                            --> nil 1
  t.first = 2
  = n(), states(t)                              --> 0 {} {}
  t.x = 5
  = n(), t.x                                    --> 1 5
  t.first = 3                                   --> 5 1
  t.x = nil                                     --> nil 1
  declare(t, "x", { "first" }, function(self) return self.first .. "!" end)  --> 3! 1
]])
example("Z14: obs.lazy without a getter caches the value that the metatable gives", "t.area, runs",
  [[
  local function area(self, key) runs = runs + 1 return key == "area" and self.side ^ 2 or nil end
  runs = 0
  local t = setmetatable({ side = 3 }, { __index = area })
  = t.area, t.area, runs                        --> 9.0 9.0 2
  obs.lazy(t, "area")                           --> 9.0 3
  t.side = 4                                    --> 9.0 3
  obs.invalidate(t, "area")                     --> 16.0 4
  obs.forget(t, "area")
  t.side = 5                                    --> 25.0 5
  obs.lazy(t, "area", { deps = { "side" } })    --> 25.0 6
  t.side = 6                                    --> 36.0 7
  t = setmetatable({}, { __index = { area = 7 } })
  obs.lazy(t, "area")                           --> 7 7
]])
each("Z14: peek neither computes nor tracks", "t.y", [[
  local t = object { first = 1, x = lazy(function() return 7 end) }
  = obs.peek(t, "x")                            --> nil
  = t.x, obs.peek(t, "x")                       --> 7 7
  obs.computed(t, "y", function(self) return obs.peek(self, "first") end)  --> 1
  t.first = 2                                   --> 1
  = obs.peek(t, "first")                        --> 2
]])
each("L7: pairs shows stored keys and valid lazy ones, and computes nothing", "keys(t), runs()", [[
  local get, runs = numbers()
  local t = object { plain = 1, x = lazy(get), y = lazy(get) }  --> plain 0
  obs.observe(t, "plain", nothing)                              --> plain 0
  local _ = t.x                                                 --> plain x 1
  obs.invalidate(t, "x")                                        --> plain 1
  = rawget(t, "y")                                              --> nil
]])
example("L7: the object looks like a plain one", "#t, t(1), t.inherited, t[2], tostring(t)", [[
  local meta = {
    __tostring = function() return "me" end, __len = function() return 9 end,
    __call = function(_, n) return n + 1 end, __index = { inherited = 5 },
  }
  local t = setmetatable({ 1, 2 }, meta)
  obs.lazy(t, "x", function() return 3 end)
  obs.computed(t, "y", { "x" }, function(self) return self.x + 1 end)
  = t.y, getmetatable(t) == meta                                --> 4 true
  = obs.raw(t).y, obs.raw(t, { computed = true }).y             --> nil 4
  obs.flush()                                                   --> 9 2 5 2 me
]])
each("Z1: a declaration takes the place of a former one, and hides a stored value", "n(), t.x", [[
  local t = object { a = 1, b = 2, stored = 3, x = computed({ "a" }, function(s) return s.a end) }
  local n = counter(t, "x")                                     --> 0 1
  declare(t, "x", { "b" }, function(self) return self.b * 10 end)  --> 1 20
  t.a = 5                                                       --> 0 20
  t.b = 3                                                       --> 1 30
  local stored = counter(t, "stored")
  obs.lazy(t, "stored", function() return 2 end)
  = t.stored, stored()                                          --> 2 1
  declare(t, "more", { "x" }, function(self) return self.x .. "+" end)
  = t.more                                                      --> 30+
]])
check("Z1: keys of any type", function()
  for _, name in ipairs {1, 1.5, true, {}, print, "with.dot", "with space"} do
    local t = {}
    obs.lazy(t, {name}, function() return "got" end)
    eq(t[name], "got")
  end
end)

check("Z4: an equal value is no change, whatever its type (T5)", function()
  local table, text, long = {}, "text", ("long "):rep(20)
  local big = 2 ^ 53
  local groups = {
    { nil }, { false }, { true }, { 1, 1.0 }, { 0.0, -0.0, 0 }, { 0 / 0, -(0 / 0) }, { 1.5 },
    { math.maxinteger }, { math.mininteger, -2.0 ^ 63 }, { 2.0 ^ 63 }, { big, big // 1 | 0 },
    { (big // 1 | 0) + 1 }, { 1 / 0 }, { -1 / 0 }, { text }, { long, ("long "):rep(20) },
    { table }, { setmetatable({}, { __eq = function() return true end }) },
    { setmetatable({}, { __eq = function() return true end }) }, { print }, { check },
    { coroutine.create(print) }, { io.stdout }, { "1" },
  }
  groups[1].n = 1
  local value
  local t, seen, calls = { version = 0 }, nil, 0
  obs.computed(t, "value", { "version" }, function() return value end)
  obs.computed(t, "last", { "value" }, function(self) return { self.value } end)
  obs.observe(t, "value", function() calls = calls + 1 end)
  local function give(new)
    value = new
    t.version = t.version + 1
    obs.flush()
    -- The same value, not just an equal one.
    eq(math.type(t.value), math.type(new))
    eq(rawequal(t.value, new) or new ~= new, true)
    seen = t.last
  end
  for i, group in ipairs(groups) do
    for j, other in ipairs(groups) do
      for k = 1, group.n or #group do
        for l = 1, other.n or #other do
          give(group[k])
          local former = seen
          calls = 0
          give(other[l])
          local expected = i == j and 0 or 1
          if calls ~= expected then
            error(("%s, then %s: %d calls"):format(group[k], other[l], calls))
          end
          eq(former == seen, i == j)
        end
      end
    end
  end
end)
check("Z4: a value that returns before the flush is no change, whatever its type", function()
  local values = { 1, 2.5, "text", {}, true, false, print, 0 / 0, n = 9 }
  for i = 1, values.n do
    for j = 1, values.n do
      local t, value = { version = 0 }, values[i]
      obs.computed(t, "value", { "version" }, function() return value end)
      local calls = counter(t, "value")
      value = values[j]
      t.version = 1
      local _ = t.value
      value = values[i]
      t.version = 2
      eq(calls(), 0)
      value = values[j]
      t.version = 3
      eq(calls(), (values[i] == values[j] or i == j) and 0 or 1)
    end
  end
end)
finish()
