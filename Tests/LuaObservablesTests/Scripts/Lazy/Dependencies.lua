-- Rules Z2, Z10 and Z12: causes that invalidate a computed property. `Cases` has cases of graphs.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "Support/kinds.lua")

each("Z2: paths that are missing, appear, break and are replaced", "t.city", [[
  local t = object { user = obs.none, city = computed({ "user.address.city" }, function(self)
    local user = self.user
    local address = type(user) == "table" and user.address
    return address and address.city or "nowhere"
  end) }                                          --> nowhere
  t.user = {}                                     --> nowhere
  t.user.address = { city = "Rome" }              --> Rome
  local old = t.user
  t.user = { address = { city = "Rom" } }         --> Rom
  old.address.city = "gone"
  = obs.is_valid(t, "city")                       --> true
  t.user.address.city = "Roma"                    --> Roma
  t.user = nil                                    --> nowhere
  t.user = 5                                      --> nowhere
  t.user = old                                    --> gone
]])
each("Z2: a key that is added, removed, set by rawset, and reported by obs.trigger",
  "t.y, valid()", [[
  local t = object { x = obs.none, y = computed({ "x" }, function(self) return self.x end) }
  local function valid() return obs.is_valid(t, "y") end  --> nil true
  t.x = 1                                         --> 1 true
  rawset(t, "x", 2)                               --> 2 true
  obs.trigger(t, "x", nil)
  = valid()                                       --> false
  t.x = nil                                       --> nil true
]])
example("Z2: a key that hides an inherited value", "a.y, b.y", [[
  local class = { __index = { x = "inherited" } }
  local a, b = setmetatable({}, class), setmetatable({}, class)
  obs.computed(a, "y", { "x" }, function(self) return self.x end)
  obs.computed(b, "y", function(self) return self.x end)  --> inherited inherited
  a.x, b.x = 1, 1                                 --> 1 1
  a.x, b.x = nil, nil                             --> inherited inherited
]])
each("Z12: to many over a list that table functions change", "n(), t.sum", [[
  local t = object { items = { { price = 1 }, { price = 2 } },
    sum = computed({ "items.*.price" }, function(self)
      local sum = 0
      for _, item in ipairs(self.items) do sum = sum + item.price end
      return sum
    end) }
  local n = counter(t, "sum")                     --> 0 3
  table.insert(t.items, { price = 4 })            --> 1 7
  t.items[3].price = 5                            --> 1 8
  local gone = table.remove(t.items, 1)           --> 1 7
  gone.price = 100                                --> 0 7
  table.sort(t.items, function(a, b) return a.price > b.price end)  --> 0 7
  t.items = {}                                    --> 1 0
]])
each("Z12: over an array, a dictionary and a set, and their sizes", "t.sum, t.size, n()", [[
  local t = object {
    list = { 0, 0 }, array = obs.array { 1, 2 }, dictionary = obs.dictionary { a = 1 },
    set = obs.set_of { 1 },
    sum = computed({ "array.*", "dictionary.*", "set.*" }, function(self)
      local sum = 0
      for _, value in ipairs(self.array) do sum = sum + value end
      for _, value in pairs(self.dictionary) do sum = sum + value end
      for value in self.set:values() do sum = sum + value end
      return sum
    end),
    size = computed({ "list.@count", "array.count" }, function(self)
      return #self.list + self.array.count
    end),
  }
  local n = counter(t, "sum")                     --> 5 4 0
  t.array:append(10)                              --> 15 5 1
  t.dictionary.b = 100                            --> 115 5 1
  t.set:add(1000)                                 --> 1115 5 1
  t.set:remove(1)                                 --> 1114 5 1
  t.dictionary.a = nil                            --> 1113 5 1
  t.list[3] = 0                                   --> 1113 6 0
  table.remove(t.list)                            --> 1113 5 0
  t.array:clear()                                 --> 1100 2 1
]])
each("Z2: several paths, with operators and from other objects", "n(), t.due", [[
  local settings = { zoom = 2 }
  obs.observe(settings, "zoom", nothing)
  local t = object {
    items = { { price = 2 }, { price = 5 } }, rate = 2,
    due = computed({ "items.@sum.price", "rate", { settings, "zoom" } }, function(self)
      return obs.get(self, "items.@sum.price") * self.rate * settings.zoom
    end),
  }
  local n = counter(t, "due")                     --> 0 28
  t.items[1].price, t.rate = 3, 1                 --> 1 16
  t.items[1].price, t.items[2].price = 4, 4       --> 0 16
  settings.zoom = 3                               --> 1 24
]])
example("Z3: dependencies of lazy properties, and paths made by obs.path", "t.y, t.z", [[
  local settings, t = { zoom = 2 }, { ["a.b"] = 1, [7] = { x = 2 } }
  obs.computed(t, "y", { obs.path "a.b", obs.path(7, "x") }, function(self)
    return self["a.b"] + self[7].x
  end)
  obs.lazy(t, "z", { get = function() return settings.zoom end, deps = { { settings, "zoom" } } })
  obs.flush()                                     --> 3 2
  t["a.b"] = 10                                   --> 12 2
  t[7].x = 5                                      --> 15 2
  settings.zoom = 7                               --> 15 7
]])

-- Tracking ----------------------------------------------------------------------------------------

example("Z10: reads through methods, the metatable, pairs, ipairs, #, next, unpack, concat",
  "t.method, t.raw, t.pairs, t.next, t.path, t.length, t.concat, t.unpack", [[
  local class = {}
  class.__index = class
  function class:double() return self.value * 2 end
  local t = setmetatable({ value = 1, list = { "a", "b" }, map = { x = 1 } }, class)
  obs.computed(t, "method", function(self) return self:double() end)
  obs.computed(t, "raw", function(self) return rawget(self, "value") end)
  obs.computed(t, "pairs", function(self)
    local sum = 0
    for _, v in pairs(self.map) do sum = sum + v end
    return sum
  end)
  obs.computed(t, "next", function(self) return next(self.map, self.map.x and "x") end)
  obs.computed(t, "path", function(self) return obs.get(self, "map.x") end)
  obs.computed(t, "length", function(self) return #self.list end)
  obs.computed(t, "concat", function(self) return table.concat(self.list, ",") end)
  obs.computed(t, "unpack", function(self) return select("#", table.unpack(self.list)) end)
  obs.flush()                                     --> 2 1 1 nil 1 2 a,b 2
  t.value = 5                                     --> 10 5 1 nil 1 2 a,b 2
  t.map.x = 2                                     --> 10 5 2 nil 2 2 a,b 2
  t.list[3] = "c"                                 --> 10 5 2 nil 2 3 a,b,c 3
  t.list[1] = "z"                                 --> 10 5 2 nil 2 3 z,b,c 3
  t.map = {}                                      --> 10 5 0 nil nil 3 z,b,c 3
  t.map.k = 3                                     --> 10 5 3 k nil 3 z,b,c 3
  t.map.k = nil                                   --> 10 5 0 nil nil 3 z,b,c 3
]])
example("Z10: `count` and `#` depend only on the number of elements", "t.n, runs", [[
  for _, get in ipairs {
    function(self) return self.items.count end, function(self) return #self.items end,
    function(self) return obs.get(self, "items.@count") end,
  } do
    local t = { items = obs.array { 1, 2 } }
    runs = 0
    obs.computed(t, "n", function(self)
      runs = runs + 1
      return get(self)
    end)                                          --> 2 1
    t.items[1] = 5                                --> 2 1
    t.items:append(6)                             --> 3 2
  end
]])
check("Z10: a tracked getter depends on the elements that obs.get combines", function()
  local lists = {
    plain = function(...) return { ... } end, array = function(...) return obs.array { ... } end,
    set = function(...) return obs.set_of { ... } end,
  }
  for name, list in next, lists do
    local t, e = { items = list({ a = 1 }) }, { a = 2 }
    for _, operator in ipairs { "sum.a", "max.a", "count", "avg.a", "any.a" } do
      obs.computed(t, operator, function(self) return obs.get(self, "items.@" .. operator) end)
    end
    obs.computed(t, "all", function(self) return #obs.get(self, "items.@unionOfObjects.a") end)
    local function is(expected)
      eq(shown(t["sum.a"], t["max.a"], t.count, t["avg.a"], t["any.a"], t.all), expected)
    end
    is "1 1 1 1.0 true 1"
    if name == "set" then t.items:add(e) else table.insert(t.items, e) end
    is "3 2 2 1.5 true 2"
    e.a = 4
    is "5 4 2 2.5 true 2"
    if name == "set" then t.items:remove(e) else table.remove(t.items) end
    is "1 1 1 1.0 true 1"
    e.a = 5
    eq(obs.is_valid(t, "sum.a"), true)
    -- Also while the operator is observed, whose value is then kept.
    obs.observe(t, "items", nothing)
    obs.observe(t, "items.@sum.a", nothing)
    t.items = list({ a = 7 }, { a = 8 })
    is "15 8 2 7.5 true 2"
    obs.stop(t)
    t.items = list()
    eq(t["sum.a"], 0)
  end
end)
example("Z10: … and on the last one only for the properties it reads", "t.last, runs", [[
  runs = 0
  local t = { items = { { a = 1, b = 1 }, { a = 2 } } }
  obs.computed(t, "last", function(self)
    runs = runs + 1
    return obs.get(self, "items.@last.a")
  end)                                            --> 2 1
  t.items[1].a, t.items[2].b = 3, 4               --> 2 1
  t.items[3] = { a = 9 }                          --> 9 2
  t.items[3] = nil                                --> 2 3
]])
example("Z10: objects have the same identity inside the getter and outside", "t.same", [[
  local item, seen = {}, {}
  local t = { items = { item }, item = item }
  obs.computed(t, "same", function(self)
    local first = self.items[1]
    seen[first] = true
    return self == t and first == item and rawequal(self.item, item)
      and type(self.items) == "table" and getmetatable(self.items) == nil
  end)                                            --> true
  = seen[item], getmetatable(t.items)             --> true nil
]])
example("Z10: a table reached only through an upvalue is tracked if it is observed", "t.x, t.y", [[
  local other, observed, t = { x = 1 }, { x = 1 }, {}
  obs.observe(observed, "x", nothing)
  obs.computed(t, "x", function() return other.x end)
  obs.computed(t, "y", function() return observed.x end)  --> 1 1
  other.x, observed.x = 2, 2                      --> 1 2
  obs.invalidate(t, "x")                          --> 2 2
]])
example("Z10: a write in a getter is not a dependency, and neither is what it reads no more",
  "t.x, runs", [[
  runs = 0
  local t = { a = 1, b = 0, on = true }
  obs.computed(t, "x", function(self)
    runs = runs + 1
    self.b = self.a
    return self.a
  end)                                            --> 1 1
  t.b = 9                                         --> 1 1
  obs.computed(t, "c", {}, function() return 1 end)
  obs.computed(t, "d", function(self) return self.on and self.c end)
  = t.d                                           --> 1
  t.on = false
  = t.d                                           --> false
  obs.invalidate(t, "c")
  = obs.is_valid(t, "d")                          --> true
]])
example("Z10: obs.diff and obs.merge read all contents", "t.changes, t.copy, t.members", [[
  local t = { a = { 1, { n = 2 } }, b = { 1, { n = 2 } }, set = obs.set_of { 1 } }
  obs.computed(t, "changes", function(self) return #obs.diff(self.a, self.b) end)
  obs.computed(t, "members", function(self) return #obs.diff(self.set, obs.set_of {}) end)
  obs.computed(t, "copy", function(self)
    local copy = {}
    obs.merge(copy, self.a)
    return copy[2].n
  end)                                            --> 0 2 1
  t.a[2].n = 3                                    --> 1 3 1
  t.b[1] = 0                                      --> 2 3 1
  t.set:add(2)                                    --> 2 3 2
]])
example("Z10: obs.lazy tracks if it is told so", "t.x, t.y", [[
  local t = { a = 1 }
  obs.lazy(t, "x", { get = function(self) return self.a end, track = true })
  obs.lazy(t, "y", { get = function(self) return self.a end })  --> 1 1
  t.a = 3                                         --> 3 1
]])
example("Z2: an object shared by many reports to each of them once", "runs", [[
  local shared, all = { v = 1 }, {}
  runs = 0
  for i = 1, 50 do
    all[i] = { shared = shared }
    obs.computed(all[i], "x", function(self)
      runs = runs + 1
      return self.shared.v
    end)
    = all[i].x                                    --> 1
  end
  shared.v = 2                                    --> 50
  for i = 1, 50 do agrees("2", "all[i].x", all[i].x) end  --> 100
]])
finish()
