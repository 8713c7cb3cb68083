-- Rules Z2, Z10 and Z12: causes that invalidate a computed property.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- Tries a rule with declared dependencies, and with tracked ones.
local function both(sentence, body)
  check(sentence .. " (declared)", function() body(obs.computed) end)
  check(sentence .. " (tracked)", function()
    body(function(t, name, _, get) return obs.computed(t, name, get) end)
  end)
end

both("Z2: invalid at once, before any other code runs", function(computed)
  local t = {first = "Ada", last = "King"}
  computed(t, "full", {"first", "last"}, function(self) return self.first .. " " .. self.last end)
  eq(t.full, "Ada King")
  t.last = "Lovelace"
  eq(obs.is_valid(t, "full"), false)
  eq(t.full, "Ada Lovelace")
end)
both("Z2: writing an equal value invalidates nothing", function(computed)
  local t, runs = {first = "Ada"}, 0
  computed(t, "full", {"first"}, function(self)
    runs = runs + 1
    return self.first
  end)
  local _ = t.full
  t.first = "Ada"
  eq(obs.is_valid(t, "full"), true)
  local _ = t.full
  eq(runs, 1)
end)
both("Z2: paths that are missing, appear, break and are replaced", function(computed)
  local t = {}
  computed(t, "city", {"user.address.city"}, function(self)
    local address = self.user and self.user.address
    return address and address.city or "nowhere"
  end)
  eq(t.city, "nowhere")
  t.user = {}
  eq(t.city, "nowhere")
  t.user.address = {city = "Rome"}
  eq(t.city, "Rome")
  local old = t.user
  t.user = {address = {city = "Rom"}}
  eq(t.city, "Rom")
  old.address.city = "gone"
  eq(obs.is_valid(t, "city"), true)
  t.user.address.city = "Roma"
  eq(t.city, "Roma")
  t.user = nil
  eq(t.city, "nowhere")
  t.user = 5
  local ok = pcall(function() return t.city end)
  t.user = old
  eq(t.city, "gone")
end)
both("Z2: a key that is added, removed, set by rawset, and set through the "
  .. "metatable", function(computed)
  local t = setmetatable({}, {__index = {x = "inherited"}})
  computed(t, "y", {"x"}, function(self) return self.x end)
  eq(t.y, "inherited")
  t.x = 1
  eq(t.y, 1)
  rawset(t, "x", 2)
  eq(t.y, 2)
  t.x = nil
  eq(t.y, "inherited")
end)
both("Z2: obs.trigger reports a changed dependency", function(computed)
  local t = {list = {1}}
  computed(t, "size", {"list"}, function(self) return self.list[1] end)
  eq(t.size, 1)
  obs.raw(t)
  obs.trigger(t, "list", nil)
  eq(obs.is_valid(t, "size"), false)
end)
both("Z2: properties of one object that depend on each other", function(computed)
  local t, runs = {a = 1}, 0
  for i = 1, 5 do
    local before = i == 1 and "a" or "c" .. i - 1
    computed(t, "c" .. i, {before}, function(self)
      runs = runs + 1
      return self[before] + 1
    end)
  end
  eq(t.c5, 6)
  eq(runs, 5)
  t.a = 10
  eq(obs.is_valid(t, "c5"), false)
  eq(t.c5, 15)
  eq(runs, 10)
  eq(t.c3, 13)
  eq(runs, 10)
end)
both("Z12: to many over a plain list, with table functions", function(computed)
  local t = {items = {{price = 1}, {price = 2}}}
  computed(t, "sum", {"items.*.price"}, function(self)
    local sum = 0
    for _, item in ipairs(self.items) do sum = sum + item.price end
    return sum
  end)
  local n = counter(t, "sum")
  eq(t.sum, 3)
  table.insert(t.items, {price = 4})
  eq(t.sum, 7)
  eq(n(), 1)
  t.items[3].price = 5
  eq(n(), 1)
  eq(t.sum, 8)
  local gone = table.remove(t.items, 1)
  eq(n(), 1)
  eq(t.sum, 7)
  gone.price = 100
  eq(n(), 0)
  table.sort(t.items, function(a, b) return a.price > b.price end)
  eq(n(), 0)
  eq(t.sum, 7)
  t.items = {}
  eq(n(), 1)
  eq(t.sum, 0)
end)
both("Z12: over an array, a dictionary and a set", function(computed)
  local t = {array = obs.array {1, 2}, dictionary = obs.dictionary {a = 1}, set = obs.set_of {1}}
  computed(t, "all", {"array.*", "dictionary.*", "set.*"}, function(self)
    local sum = 0
    for _, value in ipairs(self.array) do sum = sum + value end
    for _, value in pairs(self.dictionary) do sum = sum + value end
    for value in self.set:values() do sum = sum + value end
    return sum
  end)
  local n = counter(t, "all")
  eq(t.all, 5)
  t.array:append(10)
  eq(t.all, 15)
  t.dictionary.b = 100
  eq(t.all, 115)
  t.set:add(1000)
  eq(t.all, 1115)
  eq(n(), 1)
  t.set:remove(1)
  eq(n(), 1)
  eq(t.all, 1114)
  t.dictionary.a = nil
  eq(n(), 1)
  eq(t.all, 1113)
  t.array:clear()
  eq(n(), 1)
  eq(t.all, 1100)
end)
both("Z12: the size of a list, an array and a dictionary", function(computed)
  local t = {list = {1, 2}, array = obs.array {1}}
  computed(t, "size", {"list.@count", "array.count"}, function(self)
    return #self.list + self.array.count
  end)
  eq(t.size, 3)
  t.list[3] = 0
  eq(t.size, 4)
  t.array:append(5)
  eq(t.size, 5)
  table.remove(t.list)
  table.remove(t.list)
  eq(t.size, 3)
end)
check("Z2: several paths, also with operators and wildcards", function()
  local t = {items = {{price = 2}, {price = 5}}, rate = 2}
  obs.computed(t, "due", {"items.@sum.price", "rate"}, function(self)
    return obs.get(self, "items.@sum.price") * self.rate
  end)
  local n = counter(t, "due")
  eq(t.due, 14)
  t.items[1].price = 3
  t.rate = 1
  eq(n(), 1)
  eq(t.due, 8)
  t.items[1].price = 4
  t.items[2].price = 4
  eq(n(), 0)
end)
check("Z3: a dependency that is rooted elsewhere", function()
  local settings, t = {zoom = 2}, {size = 3}
  obs.computed(t, "shown", {{settings, "zoom"}, "size"}, function(self)
    return self.size * settings.zoom
  end)
  eq(t.shown, 6)
  settings.zoom = 3
  eq(obs.is_valid(t, "shown"), false)
  eq(t.shown, 9)
  local n = counter(t, "shown")
  settings.zoom = 4
  t.size = 1
  eq(n(), 1)
  obs.lazy(t, "other", {get = function() return settings.zoom end, deps = {{settings, "zoom"}}})
  eq(t.other, 4)
  settings.zoom = 7
  eq(t.other, 7)
end)
check("Z3: paths made by obs.path are dependencies", function()
  local t = {["a.b"] = 1, [7] = {x = 2}}
  obs.computed(t, "y", {obs.path "a.b", obs.path(7, "x")}, function(self)
    return self["a.b"] + self[7].x
  end)
  eq(t.y, 3)
  t["a.b"] = 10
  eq(t.y, 12)
  t[7].x = 5
  eq(t.y, 15)
end)
check("Z10: conditional dependencies are dropped when they were not read", function()
  local t, runs = {short = false, first = "Ada", last = "King"}, 0
  obs.computed(t, "name", function(self)
    runs = runs + 1
    return self.short and self.first or self.first .. " " .. self.last
  end)
  eq(t.name, "Ada King")
  t.last = "Byron"
  eq(t.name, "Ada Byron")
  t.short = true
  eq(t.name, "Ada")
  eq(runs, 3)
  t.last = "nobody"
  eq(obs.is_valid(t, "name"), true)
  eq(t.name, "Ada")
  eq(runs, 3)
  t.short = false
  eq(t.name, "Ada nobody")
end)
check("Z10: reads through methods, the metatable, pairs, ipairs, #, next, "
  .. "unpack, concat", function()
  local class = {}
  class.__index = class
  function class:double() return self.value * 2 end
  local t = setmetatable({value = 1, list = {"a", "b"}, map = {x = 1}}, class)
  obs.computed(t, "by_method", function(self) return self:double() end)
  obs.computed(t, "by_pairs", function(self)
    local sum = 0
    for _, v in pairs(self.map) do sum = sum + v end
    return sum
  end)
  obs.computed(t, "by_next", function(self) return next(self.map) end)
  obs.computed(t, "by_length", function(self) return #self.list end)
  obs.computed(t, "by_concat", function(self) return table.concat(self.list, ",") end)
  obs.computed(t, "by_unpack", function(self) return select("#", table.unpack(self.list)) end)
  obs.computed(t, "by_rawget", function(self) return rawget(self, "value") end)
  obs.computed(t, "by_get", function(self) return obs.get(self, "map.x") end)
  obs.force(t)
  eq(#obs.invalid_names(t), 0)
  t.value = 5
  eq(t.by_method, 10)
  eq(t.by_rawget, 5)
  t.map.y = 10
  eq(t.by_pairs, 11)
  t.map.x = 2
  eq(t.by_pairs, 12)
  eq(t.by_get, 2)
  t.list[3] = "c"
  eq(t.by_length, 3)
  eq(t.by_concat, "a,b,c")
  eq(t.by_unpack, 3)
  t.list[1] = "z"
  eq(t.by_concat, "z,b,c")
  t.map = {}
  eq(t.by_next, nil)
  eq(t.by_pairs, 0)
  t.map.k = 3
  eq(t.by_next, "k")
  eq(t.by_pairs, 3)
end)
check("Z10: `count` and `#` depend only on the number of elements", function()
  local getters = {
    function(self) return self.items.count end, function(self) return #self.items end,
    function(self) return obs.get(self, "items.@count") end,
  }
  for _, get in ipairs(getters) do
    local runs, t = 0, { items = obs.array { 1, 2 } }
    obs.computed(t, "n", function(self)
      runs = runs + 1
      return get(self)
    end)
    eq(t.n, 2)
    t.items[1] = 5
    eq(t.n, 2)
    eq(runs, 1)
    t.items:append(6)
    eq(t.n, 3)
    eq(runs, 2)
  end
end)
check("Z10: an absent key that appears", function()
  local t = {}
  obs.computed(t, "x", function(self) return self.maybe or "no" end)
  eq(t.x, "no")
  t.maybe = "yes"
  eq(t.x, "yes")
  t.maybe = nil
  eq(t.x, "no")
end)
check("Z10: objects have the same identity inside the getter and outside", function()
  local item, seen = {}, {}
  local t = {items = {item}, item = item}
  obs.computed(t, "same", function(self)
    seen[self.items[1]] = true
    return self == t and self.items[1] == item and rawequal(self.item, item)
      and type(self.items) == "table" and getmetatable(self.items) == nil
  end)
  eq(t.same, true)
  eq(seen[item], true)
  eq(getmetatable(t.items), nil)
end)
check("Z10: a table reached only through an upvalue is not tracked", function()
  local other = {x = 1}
  local t = {}
  obs.computed(t, "x", function() return other.x end)
  eq(t.x, 1)
  other.x = 2
  eq(t.x, 1)
  obs.invalidate(t, "x")
  eq(t.x, 2)
end)
check("Z10: … unless it is already observed", function()
  local other, t = {x = 1, y = 1}, {}
  obs.observe(other, "x", function() end)
  obs.computed(t, "x", function() return other.x end)
  eq(t.x, 1)
  other.x = 2
  eq(t.x, 2)
end)
check("Z10: a write in a getter is not a dependency", function()
  local t, runs = {a = 1, b = 0}, 0
  obs.computed(t, "x", function(self)
    runs = runs + 1
    self.b = self.a
    return self.a
  end)
  eq(t.x, 1)
  t.b = 9
  eq(t.x, 1)
  eq(runs, 1)
end)
check("Z10: an object that a computed property no longer reads becomes unobserved", function()
  local t = {on = true}
  obs.computed(t, "a", {}, function() return 1 end)
  obs.computed(t, "b", function(self) return self.on and self.a end)
  eq(t.b, 1)
  t.on = false
  eq(t.b, false)
  obs.invalidate(t, "a")
  eq(obs.is_valid(t, "b"), true)
end)
check("Z10: track = true in the options", function()
  local t = {a = 1}
  obs.lazy(t, "x", {get = function(self) return self.a end, track = true})
  eq(t.x, 1)
  t.a = 2
  eq(t.x, 2)
  obs.lazy(t, "y", {get = function(self) return self.a end})
  eq(t.y, 2)
  t.a = 3
  eq(t.y, 2)
end)
check("Z10: declared and tracked together", function()
  local other, t = {x = 1}, {a = 1}
  local ok, message = pcall(obs.lazy, t, "x", {
    get = function(self) return self.a + other.x end, track = true, deps = {{other, "x"}}})
  if not ok then
    assert(message:find "track", message)
    return
  end
  eq(t.x, 2)
  t.a = 2
  eq(t.x, 3)
  other.x = 5
  eq(t.x, 7)
end)
check("Z2: deep objects shared by many, each reported once", function()
  local shared, runs = {v = 1}, 0
  local all = {}
  for i = 1, 50 do
    all[i] = {shared = shared}
    obs.computed(all[i], "x", function(self)
      runs = runs + 1
      return self.shared.v
    end)
    eq(all[i].x, 1)
  end
  shared.v = 2
  eq(runs, 50)
  for i = 1, 50 do eq(all[i].x, 2) end
  eq(runs, 100)
end)
finish()
