-- M1: a computed value never contradicts the raw writes of C modules, whoever reads it and when.
local obs, raw, check = require "obs", require "rawaccess", require "check"

-- Declared, tracked, chained, uncached, and through objects.
local t = { size = 1, part = { size = 1 }, items = { { price = 1 }, { price = 2 } } }
obs.computed(t, "double", { "size" }, function(self) return self.size * 2 end)
obs.computed(t, "tracked", function(self) return self.size * 3 end)
obs.computed(t, "chain", { "double" }, function(self) return self.double + 1 end)
obs.lazy(t, "fresh", {
  deps = { "size" }, cached = false, get = function(self) return self.size * 4 end,
})
obs.computed(t, "behind", { "fresh" }, function(self) return self.fresh + 1 end)
obs.computed(t, "deep", { "part.size" }, function(self) return self.part.size * 5 end)
obs.computed(t, "total", { "items.@sum.price" }, function(self)
  return obs.get(self, "items.@sum.price")
end)
obs.computed(t, "first", { "items.#1" }, function(self) return self.items[1].price end)
obs.computed(t, "number", { "items.@count" }, function(self) return #self.items end)
obs.computed(t, "any", { "part.*" }, function(self)
  return self.part.size .. "/" .. (self.part.x or "")
end)
local lazy = {
  "double", "tracked", "chain", "fresh", "behind", "deep", "total", "first", "number", "any",
}
local function values(from)
  local list = {}
  for i, name in ipairs(lazy) do list[i] = (from or t)[name] end
  return list
end
check.equal(values(), { 2, 3, 3, 4, 5, 5, 3, 1, 2, "1/" })
raw.set(t, "size", 17)
check.equal(t.double, 34, "declared")
check.equal(values(), { 34, 51, 35, 68, 69, 5, 3, 1, 2, "1/" }, "of one key")
for _, name in ipairs { "tracked", "chain", "fresh", "behind" } do
  raw.set(t, "size", t.size + 1)
  local size = t.size
  local expected = {
    tracked = size * 3, chain = size * 2 + 1, fresh = size * 4, behind = size * 4 + 1,
  }
  check.equal(t[name], expected[name], name .. " is read first")
end
raw.set(t.part, "size", 2)
check.equal(t.deep, 10, "of an object")
raw.set(t.part, "x", "new")
check.equal(t.any, "2/new", "of each key of an object")
raw.set(t, "part", { size = 3 })
check.equal({ t.deep, t.any }, { 15, "3/" }, "of a replaced object")
raw.set(t.part, "size", 4)
check.equal({ t.any, t.deep }, { "4/", 20 }, "of what the new one holds")
raw.set(t.items[2], "price", 5)
check.equal(t.total, 6, "an operator")
raw.seti(t.items, 3, { price = 10 })
check.equal({ t.total, t.number }, { 16, 3 }, "a longer list")
raw.seti(t.items, 1, { price = 100 })
check.equal({ t.first, t.total }, { 100, 115 }, "an element")

-- Reads by obs.get, by next, by C code, and by the functions of lazy properties.
t.size = 1
check.equal(values()[1], 2)
raw.set(t, "size", 2)
check.equal(raw.get(t, "double"), nil, "an invalid key is not there for C")
check.equal(rawget(t, "double"), nil, "nor for a script")
check.equal(obs.is_valid(t, "double"), false)
check.equal({ obs.get(t, "double"), obs.get(t, "chain") }, { 4, 5 }, "obs.get")
raw.set(t, "size", 3)
for key in pairs(t) do
  check.equal(key ~= "double" and key ~= "chain", true, "pairs has valid ones")
end
obs.force(t)
check.equal(raw.get(t, "double"), 6, "obs.force")

-- An unchanged value is not computed again.
local calls = 0
local quiet = { a = 1 }
obs.computed(quiet, "b", { "a" }, function(self)
  calls = calls + 1
  return self.a
end)
check.equal({ quiet.b, calls }, { 1, 1 })
raw.set(quiet, "a", 1)
check.equal({ obs.is_valid(quiet, "b"), quiet.b, calls }, { true, 1, 1 }, "the same value")

-- Inherited from a model, and by `__index`.
local Model = obs.model("Model", {
  size = 1,
  double = obs.computed({ "size" }, function(self) return self.size * 2 end),
})
local instance = Model {}
check.equal(instance.double, 2)
raw.set(instance, "size", 4)
check.equal(instance.double, 8, "of a model")
local child = setmetatable({}, { __index = t })
check.equal(child.double, 6)
raw.set(t, "size", 5)
check.equal(child.double, 10, "through __index")
raw.set(t, "size", 6)
local forwarding = setmetatable({}, { __index = function(_, key) return t[key] end })
check.equal(forwarding.double, 12, "through a function")

-- Other properties are computed from a lazy key that C assigned, until that key becomes invalid.
raw.set(t, "double", 99)
check.equal({ t.chain, t.double }, { 100, 99 }, "of an assigned key")
raw.set(t, "size", 7)
check.equal({ t.chain, t.double }, { 15, 14 }, "which becomes invalid")
raw.set(t, "double", 99)
raw.set(t, "size", 8)
check.equal(t.chain, 17, "assigned, and invalid before it was heard")

-- A copy.
local source = { items = obs.array { 1, 2 } }
obs.copy_of(source, "copy", "items")
check.equal(#source.copy, 2)
raw.seti(source.items, 3, 3)
check.equal(#source.copy, 3, "a copy")

-- A getter that reads another property sees all earlier raw writes.
obs.computed(t, "outer", { "part.size" }, function(self)
  return self.part.size + self.tracked
end)
local outer = t.outer
raw.set(t, "size", 20)
raw.set(t.part, "size", t.part.size + 1)
check.equal(t.outer, outer + 1 + (20 - 8) * 3, "in a getter")
local writer = { n = 1, m = 1 }
obs.computed(writer, "m2", { "m" }, function(self) return self.m * 2 end)
check.equal(writer.m2, 2)
obs.computed(writer, "sum", { "n" }, function(self)
  raw.set(self, "m", self.n)
  return self.m2 + self.n
end)
check.equal(writer.sum, 3)
writer.n = 5
check.equal(writer.sum, 15, "C writes in a getter, which reads what depends on that")

-- Watchers are called as usual: once, in order, with the old values.
local log = {}
local heard = { a = 1, b = 1 }
obs.computed(heard, "sum", { "a", "b" }, function(self) return self.a + self.b end)
obs.observe(heard, "sum", function(_, _, change)
  log[#log + 1] = "sum:" .. change.old .. ">" .. change.new
end, { immediate = true })
obs.observe(heard, "a", function(_, _, change)
  log[#log + 1] = "a:" .. change.old .. ">" .. change.new
end, { immediate = true })
obs.observe(heard, "sum", function() log[#log + 1] = "later" end)
raw.set(heard, "a", 2)
raw.set(heard, "b", 5)
check.equal(log, {}, "nothing is called in the write")
check.equal(heard.sum, 7)
check.equal(log[1] == "sum:2>7" and log[2] == "a:1>2" and #log == 2, true, table.concat(log, " "))
obs.flush()
check.equal(log[3], "later")
check.equal(obs.flush(), 0)
raw.set(heard, "a", 3)
raw.set(heard, "a", 2)
check.equal({ heard.sum, #log }, { 7, 3 }, "there and back")
obs.flush()
check.equal({ heard.sum, #log }, { 7, 3 })
raw.set(heard, "a", 3)
obs.flush()
check.equal(table.concat(log, " ", 4), "sum:7>8 a:2>3 later", "unread")

-- Raw writes that obs functions discover inside a getter do not count as writes of the getter.
local asking, told = { a = 1, b = 1 }, {}
obs.computed(asking, "sum", { "a", "b" }, function(self)
  return obs.get(self, "a") + obs.get(self, "b")
end)
obs.observe(asking, "sum", function(_, _, change)
  told[#told + 1] = change.old .. ">" .. change.new
end, { immediate = true })
raw.set(asking, "a", 2)
raw.set(asking, "b", 3)
obs.flush()
raw.set(asking, "a", 5)
raw.set(asking, "b", 6)
check.equal(asking.sum, 11)
raw.set(asking, "a", 7)
raw.set(asking, "b", 8)
heard.b = 0
check.equal(table.concat(told, " "), "2>5 5>11 11>15", "a getter that asks obs")

-- Random: each value follows from its dependencies at any time.
local names = { "a", "b", "c" }
for seed = 1, tonumber(os.getenv("OBS_COUNT")) or 150 do
  math.randomseed(seed)
  local roots, properties, told = {}, {}, {}
  local function declare(root, name, deps, expected, cached)
    local function get(self) return expected(self) end
    obs.lazy(root, name, { get = get, deps = deps, track = deps == nil, cached = cached })
    properties[#properties + 1] = { root, name, expected }
  end
  for number = 1, 2 do
    local root = { a = 1, b = 2, c = 3, list = { 1, 2, 3 }, inner = { a = 1, b = 1, c = 1 } }
    roots[number] = root
    declare(root, "sum", { "a", "b" }, function(self) return self.a + self.b end)
    declare(root, "seen", nil, function(self) return self.a > 2 and self.b or self.inner.c end)
    declare(root, "next", { "sum", "c" }, function(self) return self.sum .. ":" .. self.c end)
    declare(root, "bare", { "inner.a" }, function(self) return self.inner.a + 1 end, false)
    declare(root, "over", { "bare", "next" }, function(self) return self.bare .. self.next end)
    declare(root, "total", { "list.@sum" }, function(self)
      local total = 0
      for _, value in ipairs(self.list) do total = total + value end
      return total
    end)
    declare(root, "all", { "inner.*" }, function(self)
      return self.inner.a .. self.inner.b .. self.inner.c
    end)
    if number == 2 then
      declare(root, "far", { { roots[1], "over" } }, function() return roots[1].over end)
    end
    for _, name in ipairs { "a", "inner.b", "inner" } do
      if math.random(4) == 1 then
        obs.observe(root, name, function() return root[names[math.random(3)]] end,
          { immediate = math.random(2) == 1 })
      end
    end
    -- The changes that watchers of computed values receive are consecutive.
    for _, name in ipairs { "sum", "over", "total", "all" } do
      local kind = math.random(6)
      local known = { root, name, root[name] }
      if kind == 1 then
        obs.observe(root, name, function(_, _, change)
          if change.old ~= known[3] then
            error(string.format(
              "seed %d, %s: it was %s, told %s", seed, name, known[3], change.old))
          end
          known[3] = change.new
        end, { immediate = true })
      elseif kind == 2 then
        obs.observe(root, name, function()
          if known[3] == root[name] then
            error(string.format("seed %d, %s is %s as before", seed, name, known[3]))
          end
          known[3] = root[name]
        end)
      end
      if kind <= 2 then told[#told + 1] = known end
    end
  end
  local function property(root, name)
    for _, each in ipairs(properties) do
      if each[1] == root and each[2] == name then return each end
    end
  end
  -- Computed without cached values, in a copy of the stored properties.
  local function expected(of)
    local root, plain = of[1], setmetatable({}, {})
    getmetatable(plain).__index = function(self, key)
      local other = property(root, key)
      if other then return other[3](self) end
      return raw.get(root, key)
    end
    return of[2] == "far" and expected(property(roots[1], "over")) or of[3](plain)
  end
  for step = 1, 60 do
    local root = roots[math.random(2)]
    local target = math.random(3) == 1 and root.inner or root
    local write = math.random(2) == 1 and raw.set or function(t, key, value) t[key] = value end
    local kind = math.random(9)
    if kind <= 4 then
      write(target, names[math.random(3)], math.random(4))
    elseif kind == 5 then
      write(root, "inner", { a = math.random(3), b = math.random(3), c = math.random(3) })
    elseif kind == 6 then
      write(root.list, math.random(#root.list + 1), math.random(9))
    elseif kind == 7 then
      obs.flush()
      for _, known in ipairs(told) do
        check.equal(known[3], expected(property(known[1], known[2])),
          string.format("seed %d, step %d, %s was delivered", seed, step, known[2]))
      end
    else
      local any = properties[math.random(#properties)]
      check.equal(any[1][any[2]], expected(any),
        string.format("seed %d, step %d, %s", seed, step, any[2]))
    end
  end
end

check.done()
