-- Rules Z1, Z3 and Z14: when a lazy property computes, which value it keeps, and how to query it.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- A getter that returns 1, 2, 3, …, and the number of its runs.
local function numbers()
  local runs = 0
  return function()
    runs = runs + 1
    return runs
  end, function() return runs end
end
local function sorted(names)
  table.sort(names)
  return table.concat(names, " ")
end

check("Z1: computed at the first read, and kept", function()
  local t, get, runs = {}, nil, nil
  get, runs = numbers()
  obs.lazy(t, "x", get)
  eq(runs(), 0)
  eq(obs.is_valid(t, "x"), false)
  eq(t.x, 1)
  eq(t.x, 1)
  eq(obs.is_valid(t, "x"), true)
  eq(runs(), 1)
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
  groups[1][1], groups[1].n = nil, 1
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
      local t, calls, value = { version = 0 }, 0, values[i]
      obs.computed(t, "value", { "version" }, function() return value end)
      obs.observe(t, "value", function() calls = calls + 1 end)
      value = values[j]
      t.version = 1
      local _ = t.value
      value = values[i]
      t.version = 2
      obs.flush()
      eq(calls, 0)
      value = values[j]
      t.version = 3
      obs.flush()
      local same = values[i] == values[j] or i == j
      eq(calls, same and 0 or 1)
    end
  end
end)
check("Z1: the getter receives the object and the name", function()
  local t, log = {}, {}
  obs.lazy(t, {"x", "y"}, function(self, name)
    eq(self, t)
    log[#log + 1] = name
    return name:upper()
  end)
  eq(t.y, "Y")
  eq(t.x, "X")
  eq(table.concat(log, " "), "y x")
  local u = {}
  obs.computed(u, "z", {}, function(self, name)
    eq(self, u)
    return name
  end)
  eq(u.z, "z")
end)
check("Z1: nil is a value", function()
  local t, runs = {}, 0
  obs.lazy(t, "x", function() runs = runs + 1 end)
  eq(t.x, nil)
  eq(t.x, nil)
  eq(runs, 1)
  eq(obs.is_valid(t, "x"), true)
  obs.invalidate(t, "x")
  eq(obs.is_valid(t, "x"), false)
  eq(t.x, nil)
  eq(runs, 2)
end)
check("Z1: false, NaN and tables are values", function()
  local runs, list = 0, {}
  for _, value in ipairs {false, 0 / 0, list} do
    local t = {}
    obs.lazy(t, "x", function()
      runs = runs + 1
      return value
    end)
    local _ = t.x, t.x
    assert(rawequal(t.x, value) or value ~= value)
  end
  eq(runs, 3)
end)
check("Z1: only the first result counts", function()
  local t = {}
  obs.lazy(t, "x", function() return 1, 2 end)
  eq(select("#", t.x), 1)
  eq(t.x, 1)
end)
check("Z1: invalidated by one name, by several, and completely", function()
  local t, runs = {}, {}
  obs.lazy(t, {"x", "y", "z"}, function(_, name)
    runs[name] = (runs[name] or 0) + 1
    return runs[name]
  end)
  local function all() return ("%d%d%d"):format(t.x, t.y, t.z) end
  eq(all(), "111")
  obs.invalidate(t, "y")
  eq(all(), "121")
  obs.invalidate(t, {"x", "z"})
  eq(all(), "222")
  obs.invalidate(t)
  eq(all(), "333")
  fails("the list of names is empty", obs.invalidate, t, {})
  eq(all(), "333")
end)
check("Z3: invalidating an invalid property costs nothing", function()
  local t, get, runs = {}, nil, nil
  get, runs = numbers()
  obs.lazy(t, "x", get)
  for _ = 1, 5 do obs.invalidate(t, "x") end
  eq(runs(), 0)
  eq(t.x, 1)
end)
check("Z3: a declaration computes nothing, whatever its dependencies do", function()
  local t, get, runs = {first = 1}, nil, nil
  get, runs = numbers()
  obs.computed(t, "x", {"first", "absent.path"}, get)
  t.first = 2
  t.absent = {path = 3}
  obs.flush()
  eq(runs(), 0)
end)
check("Z3: cached = false computes at each read and announces changes", function()
  local t, get, runs = {first = 1}, nil, nil
  get, runs = numbers()
  obs.lazy(t, "x", {get = get, deps = {"first"}, cached = false})
  eq(t.x, 1)
  eq(t.x, 2)
  local calls = 0
  obs.observe(t, "x", function() calls = calls + 1 end)
  local before = runs()
  obs.flush()
  eq(calls, 0)
  t.first = 2
  obs.flush()
  eq(calls, 1)
  obs.flush()
  eq(calls, 1)
  assert(runs() <= before + 1)
end)
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
check("Z14: names of valid and of invalid properties", function()
  local t = {plain = 1}
  obs.lazy(t, {"x", "y"}, function(_, name) return name end)
  obs.computed(t, "z", {"plain"}, function(self) return self.plain end)
  eq(sorted(obs.valid_names(t)), "")
  eq(sorted(obs.invalid_names(t)), "x y z")
  local _ = t.y, t.z
  eq(sorted(obs.valid_names(t)), "y z")
  eq(sorted(obs.invalid_names(t)), "x")
  t.plain = 2
  eq(sorted(obs.valid_names(t)), "y")
  eq(sorted(obs.invalid_names(t)), "x z")
end)
check("T9, Z3: cached = false calls immediate watchers at each change, also their own", function()
  local t, log = {b = 1}, {}
  obs.lazy(t, "u", {cached = false, deps = {"b"}, get = function(self) return self.b end})
  obs.observe(t, "u", function()
    log[#log + 1] = t.u
    if t.b < 5 then t.b = 5 end
  end, {immediate = true})
  t.b = 2
  t.b = 6
  t.b = 7
  eq(table.concat(log, " "), "2 5 6 7")
  obs.flush()
  t.b = 8
  eq(log[5], 8)
end)
check("Z14: names, force and invalidate of an object without lazy properties", function()
  for _, object in ipairs {{}, {x = 1}, setmetatable({}, {__index = {y = 1}}), obs.array {1}} do
    eq(#obs.valid_names(object), 0)
    eq(#obs.invalid_names(object), 0)
    obs.force(object)
    obs.invalidate(object)
  end
end)
check("Z14: force computes all invalid properties, and only them", function()
  local t, runs = {first = 1}, {}
  obs.lazy(t, {"x", "y"}, function(_, name)
    runs[name] = (runs[name] or 0) + 1
    return name
  end)
  obs.computed(t, "z", {"x"}, function(self)
    runs.z = (runs.z or 0) + 1
    return self.x
  end)
  local _ = t.x
  obs.force(t)
  eq(runs.x, 1)
  eq(runs.y, 1)
  eq(runs.z, 1)
  eq(#obs.invalid_names(t), 0)
  obs.force(t)
  eq(runs.z, 1)
end)
check("Z14: a removed declaration leaves a plain key without a value", function()
  local t, get, runs = {first = 1}, nil, nil
  get, runs = numbers()
  obs.computed(t, "x", {"first"}, get)
  obs.lazy(t, {"y", "z"}, function() return 2 end)
  eq(t.x, 1)
  obs.forget(t, "x")
  eq(t.x, nil)
  eq(runs(), 1)
  t.x = 5
  eq(t.x, 5)
  t.first = 2
  eq(t.x, 5)
  obs.forget(t, {"y", "z"})
  eq(t.y, nil)
  eq(#obs.valid_names(t) + #obs.invalid_names(t), 0)
  t.first = 3
  obs.flush()
  eq(runs(), 1)
end)
check("Z14: watchers of a removed property stay", function()
  local t = {first = 1}
  obs.computed(t, "x", {"first"}, function(self) return self.first end)
  local n, w = counter(t, "x")
  obs.forget(t, "x")
  eq(n(), 1)
  eq(w.active, true)
  t.first = 2
  eq(n(), 0)
  t.x = 3
  eq(n(), 1)
end)
check("Z14: forgetting twice is harmless, or an error that names the property", function()
  local t = {}
  obs.lazy(t, "x", function() end)
  obs.forget(t, "x")
  local ok, message = pcall(obs.forget, t, "x")
  assert(ok or tostring(message):find "'x'", message)
end)
check("Z14: obs.lazy without a getter caches the metatable's value", function()
  local runs = 0
  local class = {}
  function class.area(self)
    runs = runs + 1
    return self.side * self.side
  end
  local meta = {__index = function(self, key) return class[key] and class[key](self) end}
  local t = setmetatable({side = 3}, meta)
  eq(t.area + t.area, 18)
  eq(runs, 2)
  obs.lazy(t, "area")
  eq(t.area + t.area, 18)
  eq(runs, 3)
  t.side = 4
  eq(t.area, 9)
  obs.invalidate(t, "area")
  eq(t.area, 16)
  obs.forget(t, "area")
  t.side = 5
  eq(t.area, 25)
end)
check("Z14: the same with __index tables, and with dependencies", function()
  local t = setmetatable({}, {__index = {area = 7}})
  obs.lazy(t, "area")
  eq(t.area, 7)
  local runs = 0
  local u = setmetatable({side = 2}, {__index = function(self, key)
    runs = runs + 1
    return key == "area" and self.side ^ 2 or nil
  end})
  obs.lazy(u, "area", {deps = {"side"}})
  eq(u.area + u.area, 8.0)
  eq(runs, 1)
  u.side = 3
  eq(u.area, 9.0)
end)
check("Z14: peek neither computes nor tracks", function()
  local t, get, runs = {first = 1}, nil, nil
  get, runs = numbers()
  obs.lazy(t, "x", get)
  eq(obs.peek(t, "x"), nil)
  eq(runs(), 0)
  eq(t.x, 1)
  eq(obs.peek(t, "x"), 1)
  obs.computed(t, "y", function(self) return obs.peek(self, "first") end)
  eq(t.y, 1)
  t.first = 2
  eq(t.y, 1)
  eq(obs.peek(t, "first"), 2)
end)
check("L7: pairs shows stored keys and valid lazy ones, and computes nothing", function()
  local t, get, runs = {plain = 1}, nil, nil
  get, runs = numbers()
  obs.lazy(t, {"x", "y"}, get)
  local function keys()
    local list = {}
    for key in pairs(t) do list[#list + 1] = key end
    return sorted(list)
  end
  eq(keys(), "plain")
  local _ = t.x
  eq(keys(), "plain x")
  obs.invalidate(t, "x")
  eq(keys(), "plain")
  eq(runs(), 1)
  eq(rawget(t, "y"), nil)
end)
check("L7: the object looks like a plain one", function()
  local meta = {__tostring = function() return "me" end, __len = function() return 9 end,
    __call = function(_, n) return n + 1 end, __index = {inherited = 5}}
  local t = setmetatable({1, 2}, meta)
  obs.lazy(t, "x", function() return 3 end)
  obs.computed(t, "y", {"x"}, function(self) return self.x + 1 end)
  eq(t.y, 4)
  eq(getmetatable(t), meta)
  eq(tostring(t), "me")
  eq(#t, 9)
  eq(t(1), 2)
  eq(t.inherited, 5)
  eq(t[2], 2)
  eq(obs.raw(t).y, nil)
  eq(obs.raw(t, { computed = true }).y, 4)
end)
check("Z1: a property declared again takes the new getter", function()
  local t = {a = 1, b = 2}
  obs.computed(t, "x", {"a"}, function(self) return self.a end)
  local n = counter(t, "x")
  eq(t.x, 1)
  obs.computed(t, "x", {"b"}, function(self) return self.b * 10 end)
  eq(t.x, 20)
  eq(n(), 1)
  t.a = 5
  eq(n(), 0)
  t.b = 3
  eq(n(), 1)
  eq(t.x, 30)
end)
check("Z1: a declaration over a stored value hides it", function()
  local t = {x = 1}
  local n = counter(t, "x")
  obs.lazy(t, "x", function() return 2 end)
  eq(t.x, 2)
  eq(n(), 1)
end)
check("Z1: keys of any type", function()
  local t, key = {}, {}
  for _, name in ipairs {1, 1.5, true, "with.dot", "with space", key} do
    local ok, message = pcall(obs.lazy, t, name, function() return "got" end)
    if ok then
      eq(t[name], "got")
    else
      assert(message:find "bad argument #2", message)
    end
  end
  obs.lazy(t, "dotted.name", function() return 1 end)
  eq(t["dotted.name"], 1)
end)
finish()
